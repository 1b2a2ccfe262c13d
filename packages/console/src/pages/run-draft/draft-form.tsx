// How a drafted run goes, and its start: with a reason and a number where these are wanted.

import { type UseQueryResult, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Form } from 'react-aria-components'
import { Button } from '../../components/controls/button.tsx'
import { TextField } from '../../components/controls/text-field.tsx'
import { useKeys } from '../../components/keys.ts'
import { FaultText } from '../../components/show/fault.tsx'
import { Section } from '../../components/show/page.tsx'
import { dropChosen } from '../../data/drafts/chosen-messages.ts'
import { type DraftHash, keepReason, lastReasons, printDraftHash } from '../../data/drafts/run-drafts.ts'
import { faultOf, isAnswerLost, type PageFault } from '../../data/faults.ts'
import { type ExactSurvey, idempotencyKey, newKey, startRun } from '../../data/queries/runs.ts'
import { configQuery, useMissingRole } from '../../data/session.ts'
import {
  type Draft,
  isNumberTyped,
  mustType,
  requestText,
  roleOfKind,
  runRequest,
  startWords,
  verbOf,
} from '../../domain/run-draft.ts'
import { numberText } from '../../domain/words.ts'
import styles from './draft.module.css'
import { How } from './how.tsx'

type Props = {
  draft: Draft
  hash: DraftHash
  /** Somebody has agreed to all messages of all topics. */
  all: boolean
  survey: UseQueryResult<ExactSurvey>
  onChange: (change: Readonly<Record<string, string | undefined>>) => void
}

export function DraftForm({ draft, hash, all, survey, onChange }: Props) {
  const navigate = useNavigate({ from: '/runs/new' })
  const client = useQueryClient()
  const [key] = useState(newKey)
  const [reason, setReason] = useState(hash.reason)
  const [typed, setTyped] = useState('')
  const [asked, setAsked] = useState(false)
  const needed = roleOfKind(draft.kind)
  const refusal = useMissingRole(needed.role, needed)
  const config = useQuery(configQuery)
  // An installation that does not say which it is may be that of production.
  const production = config.data === undefined ? config.isError : /^prod/i.test(config.data.environment ?? '')

  const eligible = survey.data?.eligible ?? 0
  const matched = survey.data?.matched ?? { value: 0, relation: 'eq' }
  const count = matched.value
  const topics = Object.keys(survey.data?.topics ?? {})
  const words = startWords(
    draft.kind,
    matched,
    draft.targetTopic === null ? topics : [draft.targetTopic],
    hash.patch !== null || draft.adopt,
  )
  const needsReason = draft.force || draft.kind === 'delete' || draft.kind === 'purge' || production
  const needsTyping = survey.data !== undefined && mustType(draft.kind, count, production)
  const lacksReason = needsReason && reason.trim() === ''
  const lacksNumber = needsTyping && !isNumberTyped(typed, count)
  const start = useMutation({
    mutationKey: ['start'],
    mutationFn: () =>
      startRun(requestText(runRequest(draft, { reason: reason.trim(), all, eligible, matched }), hash.patch), key),
    retry: (failures, error) => failures < 2 && isAnswerLost(faultOf(error)),
    retryDelay: 1000,
    onSuccess: () => {
      keepReason(reason.trim())
      dropChosen()
      void client.invalidateQueries({ queryKey: ['runs'] })
    },
    onError: (error) => {
      // The count has changed: both numbers are shown, and the new one has to be agreed to.
      if (faultOf(error).status === 409) void survey.refetch()
      // Where no answer came it may have started all the same; then it is in the bar below.
      else void client.invalidateQueries({ queryKey: ['runs'] })
    },
  })
  // Until its page is there.
  const isStarting = start.isPending || start.isSuccess
  const go = () => {
    // Of two presses in one go, the page has not drawn the first yet.
    if (start.isSuccess || client.isMutating({ mutationKey: ['start'] }) > 0) return
    if (survey.data === undefined || refusal !== null || count === 0) return
    if (lacksReason || lacksNumber) setAsked(true)
    // Who has left meanwhile stays where they are: the run is in the bar below.
    else
      start.mutate(undefined, { onSuccess: ({ id }) => void navigate({ to: '/runs/$id', params: { id }, search: {} }) })
  }
  useKeys({ 'Mod+Enter': go })
  // The address keeps what is typed: a reload loses nothing, and the link that is copied has it.
  const typeReason = (text: string) => {
    setReason(text)
    const kept = printDraftHash({ ...hash, reason: text })
    void navigate({ search: (old) => old, hash: kept, replace: true, resetScroll: false })
  }

  return (
    <Form
      className={styles.form!}
      onSubmit={(event) => {
        event.preventDefault()
        go()
      }}
    >
      <Section title="How">
        <How draft={draft} eligible={eligible} onChange={onChange} />
      </Section>
      <Section title="Start">
        <TextField
          label={needsReason ? 'Reason' : 'Reason (not needed)'}
          value={reason}
          onChange={typeReason}
          list={lastReasons()}
          autoFocus
          fault={asked && lacksReason ? 'Say why: the audit keeps it.' : null}
        />
        {needsTyping ? (
          <TextField
            label={`Type ${numberText(count)} to confirm`}
            value={typed}
            onChange={setTyped}
            fault={asked && lacksNumber ? `Type the number ${numberText(count)}.` : null}
          />
        ) : null}
        {start.error === null ? null : (
          <FaultText fault={faultOf(start.error)} what={notStarted(faultOf(start.error))} />
        )}
        <Button
          type="submit"
          look={draft.kind === 'delete' || draft.kind === 'purge' ? 'danger' : 'primary'}
          refusal={refusal}
          isDisabled={survey.data === undefined || count === 0}
          isPending={isStarting || survey.isFetching}
          hint="Mod+Enter"
        >
          {isStarting ? 'Starting …' : survey.data === undefined ? verbOf(draft.kind) : words}
        </Button>
        <p className={styles.quiet}>
          The selection is frozen at the start: what comes in later is not part of it.{' '}
          {matched.relation === 'gte'
            ? 'They are too many to count at once, so the server does not compare their number.'
            : 'If the count has changed by more than 10 %, the server refuses.'}
        </p>
      </Section>
    </Form>
  )
}

/** What is known after a start without a run: an answer may be lost where the run is not. */
function notStarted(fault: PageFault): string {
  if (fault.details.some(({ field }) => field === idempotencyKey)) return 'An earlier attempt has started one'
  return isAnswerLost(fault)
    ? 'It may have started all the same: look at the runs before you start it again'
    : 'Not started'
}
