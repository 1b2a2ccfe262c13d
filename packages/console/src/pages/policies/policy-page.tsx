// One policy: what it says, and the topics for which that decides.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { AskDialog } from '../../components/controls/ask-dialog.tsx'
import { Button, buttonClass } from '../../components/controls/button.tsx'
import { useKeys } from '../../components/keys.ts'
import { Cell, Table } from '../../components/lists/table.tsx'
import { LastKnown } from '../../components/show/fault.tsx'
import { Missing } from '../../components/show/missing.tsx'
import { ActionBar, Empty, PageHead, Section, Skeleton, Verdict } from '../../components/show/page.tsx'
import { Time } from '../../components/show/time.tsx'
import { say } from '../../components/toasts.tsx'
import { faultOf } from '../../data/faults.ts'
import { useLive, useSlow } from '../../data/live.ts'
import { deletePolicy, type PolicyMatch, type PolicyWithTag, policyQuery } from '../../data/queries/policies.ts'
import { useMissingRole } from '../../data/session.ts'
import { matchWords } from '../../domain/policies/policy-words.ts'
import { settingGroups, settingWords, valueWords } from '../../domain/policies/setting-words.ts'
import { numberText } from '../../domain/words.ts'
import styles from './policies.module.css'

const route = getRouteApi('/policies/$pattern')

export function PolicyPage() {
  const { pattern } = route.useParams()
  const found = useQuery({ ...policyQuery(pattern), refetchInterval: useLive(15_000) })
  const slow = useSlow(found.isPending)
  const back = <Link to="/policies">Policies</Link>
  if (found.data) return <Whole found={found.data} lastKnown={<LastKnown query={found} />} />
  if (found.data === null) return <NoPolicy pattern={pattern} />
  if (found.error === null) return slow ? <Skeleton rows={6} /> : null
  return <Missing kind="policy" name={pattern} fault={faultOf(found.error)} list={back} onRetry={found.refetch} />
}

function NoPolicy({ pattern }: { pattern: string }) {
  const refusal = useMissingRole('sys_admin', { ofAll: true })
  return (
    <PageHead title={pattern} back={<Link to="/policies">Policies</Link>}>
      <Verdict>Nobody has set a policy for this pattern, or your token may not see it.</Verdict>
      {refusal === null ? (
        <p>
          <Link to="/policies/$pattern/edit" params={{ pattern }} search={{}} className={buttonClass()}>
            Say what applies
          </Link>
        </p>
      ) : null}
    </PageHead>
  )
}

function Whole({ found, lastKnown }: { found: PolicyWithTag; lastKnown: ReactNode }) {
  const { policy, matches, etag } = found
  const { pattern } = policy
  const navigate = useNavigate()
  const refusal = useMissingRole('sys_admin', { ofAll: true })
  const [deleting, setDeleting] = useState(false)
  const edit = () => void navigate({ to: '/policies/$pattern/edit', params: { pattern }, search: {} })
  useKeys({ e: edit })
  return (
    <>
      <PageHead
        title={pattern}
        documentTitle={`Policy ${pattern}`}
        back={<Link to="/policies">Policies</Link>}
        aside={
          <>
            changed <Time at={policy.updated_at} />
          </>
        }
      >
        <Verdict>{matchWords(matches)}</Verdict>
        {lastKnown}
      </PageHead>
      <ActionBar label="What can be done with this policy">
        <Button look="primary" refusal={refusal} onPress={edit} hint="e">
          Change…
        </Button>
        <Button look="danger" refusal={refusal} onPress={() => setDeleting(true)}>
          Delete…
        </Button>
        <Link to="/audit" search={{ target_type: 'policy', target_id: pattern }} className={buttonClass('quiet')}>
          Who changed what
        </Link>
      </ActionBar>
      <Section title="What it says">
        <Said policy={policy} />
      </Section>
      <Section title="Topics that it matches">
        <Matches matches={matches} />
      </Section>
      {deleting ? (
        <DeleteDialog pattern={pattern} etag={etag} matches={matches} onClose={() => setDeleting(false)} />
      ) : null}
    </>
  )
}

function Said({ policy }: { policy: PolicyWithTag['policy'] }) {
  const groups = settingGroups
    .map(({ title, settings }) => ({ title, said: settings.filter((name) => policy[name] !== undefined) }))
    .filter(({ said }) => said.length > 0)
  if (groups.length === 0) return <p className={styles.quiet}>It says nothing: weaker layers decide everything.</p>
  return (
    <dl className={styles.said}>
      {groups.flatMap(({ title, said }) =>
        said.map((name) => (
          <div key={name}>
            <dt>
              {title} · {settingWords[name].label}
            </dt>
            <dd>{valueWords(name, policy[name])}</dd>
          </div>
        )),
      )}
    </dl>
  )
}

function Matches({ matches }: { matches: readonly PolicyMatch[] }) {
  if (matches.length === 0) return <Empty>No topic that is known matches it.</Empty>
  return (
    <Table
      label="Topics that it matches"
      columns={[{ text: 'Topic' }, { text: 'DLQ topic' }, { text: 'Waiting', number: true }, { text: 'It decides' }]}
    >
      {matches.map(({ original_topic, dlq_topic, pending, decides }) => (
        <tr key={`${original_topic} ${dlq_topic}`}>
          <Cell>
            <Link to="/topics/$topic" params={{ topic: original_topic }} search={{ kind: 'original' }}>
              {original_topic}
            </Link>
          </Cell>
          <Cell>{dlq_topic ?? '–'}</Cell>
          <Cell number label="Waiting">
            {numberText(pending)}
          </Cell>
          <Cell>
            {decides.length === 0 ? (
              <span className={styles.quiet}>nothing: more exact patterns say the same</span>
            ) : (
              decides.map((name) => settingWords[name].label).join(', ')
            )}
          </Cell>
        </tr>
      ))}
    </Table>
  )
}

type DeleteProps = { pattern: string; etag: string | null; matches: readonly PolicyMatch[]; onClose: () => void }

function DeleteDialog({ pattern, etag, matches, onClose }: DeleteProps) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const remove = useMutation({
    mutationFn: (reason: string) => deletePolicy(pattern, { reason, etag }),
    onSuccess: async () => {
      say(`The policy ${pattern} is deleted`)
      await client.invalidateQueries({ queryKey: ['policies'] })
      client.removeQueries({ queryKey: ['policy', pattern] })
      await navigate({ to: '/policies' })
    },
  })
  return (
    <AskDialog
      title={`Delete the policy ${pattern}?`}
      verb="Delete the policy"
      danger
      reason="offered"
      typed={pattern}
      isPending={remove.isPending}
      error={remove.error}
      onClose={onClose}
      onGo={(reason) => remove.mutate(reason)}
    >
      <p>{matchWords(matches)} From then on weaker layers decide.</p>
    </AskDialog>
  )
}
