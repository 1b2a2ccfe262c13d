// Changes a policy. Each setting is said here or not; beside it stand the waits that follow, and every topic that changes.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useBlocker, useNavigate } from '@tanstack/react-router'
import type { SettingName } from 'dlq-core/domain/retry/policy-settings.ts'
import { useMemo, useRef, useState } from 'react'
import { Form } from 'react-aria-components'
import { Button } from '../../components/controls/button.tsx'
import { DialogActions } from '../../components/controls/dialog.tsx'
import { TextField } from '../../components/controls/text-field.tsx'
import { useKeys } from '../../components/keys.ts'
import { ChangeFault } from '../../components/show/fault.tsx'
import { Missing } from '../../components/show/missing.tsx'
import { Notice, PageHead, Skeleton, Verdict } from '../../components/show/page.tsx'
import { say } from '../../components/toasts.tsx'
import { keepReason, lastReasons } from '../../data/drafts/run-drafts.ts'
import { faultOf } from '../../data/faults.ts'
import { useSettled, useSlow } from '../../data/live.ts'
import {
  type Policies,
  type PolicyWithTag,
  policiesQuery,
  policyQuery,
  savePolicy,
} from '../../data/queries/policies.ts'
import { knownTopicsQuery } from '../../data/queries/topics.ts'
import { configQuery, meQuery, useMissingRole } from '../../data/session.ts'
import { consequences, type PolicyTexts, readForm, rebased, textsOf } from '../../domain/policies/policy-form.ts'
import styles from './policies.module.css'
import { Beside } from './policy-preview.tsx'
import { SettingFields } from './setting-fields.tsx'

const route = getRouteApi('/policies/$pattern/edit')

export function PolicyEditPage() {
  const { pattern } = route.useParams()
  const policy = useQuery({
    ...policyQuery(pattern),
    refetchOnWindowFocus: false,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  const policies = useQuery(policiesQuery)
  // The preview is asked for at once, and only of who may change policies.
  const me = useQuery(meQuery)
  const slow = useSlow(policy.isPending || policies.isPending || me.isPending)
  const error = policy.error ?? policies.error ?? me.error
  if (policy.data !== undefined && policies.data !== undefined && me.data !== undefined)
    return <Editor pattern={pattern} stored={policy.data} policies={policies.data} onReload={() => policy.refetch()} />
  if (error === null) return slow ? <Skeleton rows={10} tall /> : null
  return (
    <Missing
      kind="policy"
      name={pattern}
      fault={faultOf(error)}
      list={<Link to="/policies">Policies</Link>}
      onRetry={() => Promise.all([policy, policies, me].map((query) => query.refetch()))}
    />
  )
}

type EditorProps = {
  pattern: string
  stored: PolicyWithTag | null
  policies: Policies
  onReload: () => Promise<unknown>
}

function Editor({ pattern, stored, policies, onReload }: EditorProps) {
  const { setting } = route.useSearch()
  const navigate = useNavigate()
  const client = useQueryClient()
  const refusal = useMissingRole('sys_admin', { ofAll: true })
  const production = /^prod/i.test(useQuery(configQuery).data?.environment ?? '')
  const known = useQuery(knownTopicsQuery).data
  const before = useMemo(() => textsOf(stored?.policy ?? {}), [stored])
  const [texts, setTexts] = useState<PolicyTexts>(before)
  const [begun, setBegun] = useState(before)
  if (begun !== before) {
    setBegun(before)
    setTexts(rebased(texts, begun, before))
  }
  const [reason, setReason] = useState('')
  const [typed, setTyped] = useState('')
  const [tried, setTried] = useState(false)
  const leaving = useRef(false)
  const { said, faults } = readForm(texts)
  const settled = useSettled(said, 400)
  const follows = consequences(pattern, stored?.policy ?? {}, said)
  const mustType = production && follows.length > 0
  const faulty = Object.keys(faults).length > 0
  const changed = JSON.stringify(readForm(before).said) !== JSON.stringify(said)
  const save = useMutation({
    mutationFn: () => savePolicy(pattern, { said, reason: reason.trim(), etag: stored?.etag ?? null }),
    onSuccess: async () => {
      keepReason(reason.trim())
      leaving.current = true
      say(`The policy ${pattern} is saved`)
      await Promise.all(
        ['policy', 'policies', 'topic', 'topics', 'audit'].map((name) =>
          client.invalidateQueries({ queryKey: [name] }),
        ),
      )
      await navigate({ to: '/policies/$pattern', params: { pattern } })
    },
  })
  const go = () => {
    setTried(true)
    if (refusal !== null || faulty || !changed || save.isPending || (mustType && typed.trim() !== pattern)) return
    save.mutate()
  }
  useKeys({ 'Mod+Enter': go })
  useBlocker({
    shouldBlockFn: () => changed && !leaving.current && !window.confirm('Leave without saving what you have changed?'),
    enableBeforeUnload: () => changed && !leaving.current,
  })
  const fault = save.error === null ? null : faultOf(save.error)
  const apiFaults = Object.fromEntries(
    (fault?.details ?? []).map(({ field, message }) => [field.replace(/^body\./, ''), message]),
  )
  return (
    <>
      <PageHead
        title={stored === null ? `New policy for ${pattern}` : `Change the policy ${pattern}`}
        back={
          <Link to="/policies/$pattern" params={{ pattern }}>
            {stored === null ? 'Policies' : pattern}
          </Link>
        }
      >
        <Verdict>What is left empty is not said here: a weaker layer decides, as the grey text shows.</Verdict>
      </PageHead>
      {refusal === null ? null : <Notice look="plain">You can look at it; changing it {refusal}.</Notice>}
      <Form
        className={styles.editor!}
        onSubmit={(event) => {
          event.preventDefault()
          go()
        }}
      >
        <div className={styles.settings}>
          <SettingFields
            pattern={pattern}
            policies={policies}
            topics={known ?? []}
            texts={texts}
            faults={{ ...apiFaults, ...faults }}
            focused={setting as SettingName | undefined}
            onChange={(name, text) => setTexts({ ...texts, [name]: text })}
          />
        </div>
        <div className={styles.beside}>
          <Beside
            pattern={pattern}
            policies={policies}
            topics={known ?? []}
            said={settled}
            faulty={faulty}
            refusal={refusal}
            changed={changed}
          />
          {follows.length === 0 ? null : (
            <div className={styles.consequences}>
              {follows.map((text) => (
                <p key={text}>{text}</p>
              ))}
              {mustType ? (
                <TextField
                  label={`Type ${pattern} to confirm`}
                  value={typed}
                  onChange={setTyped}
                  mono
                  fault={tried && typed.trim() !== pattern ? `This is not ${pattern}.` : null}
                />
              ) : null}
            </div>
          )}
          <TextField
            label="Reason"
            value={reason}
            onChange={setReason}
            list={lastReasons()}
            note="The audit keeps it."
          />
          <ChangeFault
            error={save.error}
            what={fault?.status === 412 ? 'It has been changed meanwhile' : 'Not saved'}
          />
          {fault?.status === 412 ? (
            <Notice>
              <span>Nothing was saved. What you typed is kept, and stands above what the others have saved.</span>
              <Button onPress={() => void onReload().then(() => save.reset())}>Read what it is now</Button>
            </Notice>
          ) : null}
          <DialogActions>
            <Button
              type="submit"
              look="primary"
              refusal={refusal}
              isDisabled={!changed || faulty}
              isPending={save.isPending}
              hint="Mod+Enter"
            >
              {save.isPending ? 'Saving …' : 'Save'}
            </Button>
          </DialogActions>
        </div>
      </Form>
    </>
  )
}
