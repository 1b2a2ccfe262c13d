// The draft of a run: what it touches, what would happen, how, and one button that says it all. It has an address, so one
// person can prepare it, and another look at it and start it.

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useLocation, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Form } from 'react-aria-components'
import { Button } from '../../components/controls/button.tsx'
import { Checkbox } from '../../components/controls/checkbox.tsx'
import { TextField } from '../../components/controls/text-field.tsx'
import { useKeys } from '../../components/keys.ts'
import { FaultText, QueryFault } from '../../components/show/fault.tsx'
import { Notice, PageHead, Section, Skeleton, Verdict } from '../../components/show/page.tsx'
import { copyText } from '../../components/toasts.tsx'
import { dropChosen } from '../../data/drafts/chosen-messages.ts'
import { keepReason, lastReasons, printDraftHash, readDraftHash } from '../../data/drafts/run-drafts.ts'
import { faultOf, isAnswerLost, type PageFault } from '../../data/faults.ts'
import { useSettled, useSlow } from '../../data/live.ts'
import { groupQuery, useGroupTitle } from '../../data/queries/groups.ts'
import { startRun, surveyRun } from '../../data/queries/runs.ts'
import { serverNow } from '../../data/server-clock.ts'
import { configQuery, meQuery, useMissingRole } from '../../data/session.ts'
import {
  eligibleWords,
  groupOfSelection,
  mustType,
  readDraft,
  requestText,
  runRequest,
  selectionWords,
  startWords,
  verbOf,
} from '../../domain/run-draft.ts'
import { sends } from '../../domain/runs.ts'
import { numberText } from '../../domain/words.ts'
import styles from './draft.module.css'
import { How } from './how.tsx'
import { Survey } from './survey.tsx'

const route = getRouteApi('/runs/new')

export function DraftPage() {
  const search = route.useSearch()
  const navigate = useNavigate({ from: '/runs/new' })
  const client = useQueryClient()
  const hash = readDraftHash(useLocation().hash)
  // One moment for the whole draft: what is started is what was looked at.
  const [openedAt] = useState(() => new Date(serverNow()))
  const draft = readDraft(search, openedAt, hash.ids)
  const [reason, setReason] = useState(hash.reason)
  const [typed, setTyped] = useState('')
  const [all, setAll] = useState(false)
  const [asked, setAsked] = useState(false)
  const refusal = useMissingRole('sys_operator')
  const who = useQuery(meQuery)
  const config = useQuery(configQuery)
  const group = useQuery({ ...groupQuery(search.group ?? ''), enabled: search.group !== undefined })
  // A draft from the list of a group's messages.
  const listed = useGroupTitle(groupOfSelection(draft.selection))
  // An installation that does not say which it is may be that of production.
  const production = config.data === undefined ? config.isError : /^prod/i.test(config.data.environment ?? '')

  const given = { reason: '', all, eligible: 0, matched: null }
  // A forced run wants a reason, also for its dry run.
  const dryRun = runRequest(draft, { ...given, reason: draft.force ? reason || 'a look at what would happen' : '' })
  // Half a name would be refused, or be that of another topic.
  const isTyped = useSettled(draft.targetTopic, 400) === draft.targetTopic
  const hasTarget = draft.kind !== 'redirect' || (draft.targetTopic !== null && isTyped)
  const ready = !draft.isCut && (!draft.everything || all) && hasTarget
  const survey = useQuery({
    queryKey: ['survey', { ...dryRun, reason: undefined }, hash.patch],
    queryFn: ({ signal }) => surveyRun(requestText(dryRun, hash.patch), signal),
    // Only of who may start runs: before it is known who looks, nobody is asked for.
    enabled: !who.isPending && refusal === null && ready,
    staleTime: 10_000,
  })
  const slow = useSlow(survey.isPending && survey.fetchStatus === 'fetching')

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
  const needsTyping = mustType(draft.kind, count, production)
  const missing = [
    ...(needsReason && reason.trim() === '' ? ['a reason'] : []),
    ...(needsTyping && typed.replace(/\D/g, '') !== String(count) ? [`the number ${numberText(count)}`] : []),
  ]
  const start = useMutation({
    mutationKey: ['start'],
    mutationFn: () =>
      startRun(requestText(runRequest(draft, { reason: reason.trim(), all, eligible, matched }), hash.patch)),
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
    if (missing.length > 0) setAsked(true)
    // Who has left meanwhile stays where they are: the run is in the bar below.
    else
      start.mutate(undefined, { onSuccess: ({ id }) => void navigate({ to: '/runs/$id', params: { id }, search: {} }) })
  }
  useKeys({ 'Mod+Enter': go })
  const setSearch = (change: Readonly<Record<string, string | undefined>>) =>
    void navigate({ search: (old) => ({ ...old, ...change }), hash: true, replace: true })
  // The address keeps what is typed: a reload loses nothing, and the link that is copied has it.
  const typeReason = (text: string) => {
    setReason(text)
    const kept = printDraftHash({ ...hash, reason: text })
    void navigate({ search: (old) => old, hash: kept, replace: true, resetScroll: false })
  }
  const name = group.data?.title ?? null

  return (
    <>
      <PageHead
        title={`${verbOf(draft.kind)}: ${name ?? selectionWords(draft.selection, listed)}`}
        documentTitle={`Draft: ${verbOf(draft.kind)}`}
        back={
          search.group === undefined ? (
            <Link to="/runs">Runs</Link>
          ) : (
            <Link to="/groups/$id" params={{ id: search.group }}>
              The error group
            </Link>
          )
        }
        aside={
          <Button look="quiet" onPress={() => void copyText(window.location.href, 'the link to this draft')}>
            Copy link
          </Button>
        }
      >
        <Verdict>
          {survey.data === undefined
            ? 'A draft: nothing has started.'
            : `A draft: nothing has started. ${eligibleWords(survey.data)} would be ${draft.kind === 'origin' ? 'compared' : `taken${sends(draft.kind) ? ' and sent' : ''}`}.`}
        </Verdict>
      </PageHead>
      {draft.isCut ? (
        <Notice look="alarm">The link was cut: which messages were chosen cannot be read from it.</Notice>
      ) : null}
      {draft.everything ? (
        <Notice look="alarm">
          <Checkbox checked={all} onChange={setAll}>
            This draft has no filter. Yes, all messages of all topics.
          </Checkbox>
        </Notice>
      ) : null}
      {refusal === null ? null : (
        <Notice look="plain">
          The dry run and the start need the role sys_operator. The link can be sent to somebody who has it.
        </Notice>
      )}
      <div className={styles.blocks}>
        <Section title="What would happen">
          {slow ? <Skeleton rows={4} /> : null}
          <QueryFault query={survey} what="The dry run was refused" />
          {survey.data === undefined ? null : (
            <Survey
              survey={survey.data}
              draft={draft}
              patch={hash.patch}
              selection={search}
              onForce={() => setSearch({ force: 'true' })}
              onSendStale={() => setSearch({ staleness: 'send' })}
            />
          )}
        </Section>
        <Form
          className={styles.form!}
          onSubmit={(event) => {
            event.preventDefault()
            go()
          }}
        >
          <Section title="How">
            <How draft={draft} eligible={eligible} onChange={setSearch} />
          </Section>
          <Section title="Start">
            <TextField
              label={needsReason ? 'Reason' : 'Reason (not needed)'}
              value={reason}
              onChange={typeReason}
              list={lastReasons()}
              autoFocus
              fault={asked && needsReason && reason.trim() === '' ? 'Say why: the audit keeps it.' : null}
            />
            {needsTyping ? (
              <TextField
                label={`Type ${numberText(count)} to confirm`}
                value={typed}
                onChange={setTyped}
                fault={
                  asked && typed.replace(/\D/g, '') !== String(count) ? `Type the number ${numberText(count)}.` : null
                }
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
      </div>
    </>
  )
}

/** What is known after a start without a run: an answer may be lost where the run is not. */
function notStarted(fault: PageFault): string {
  return isAnswerLost(fault)
    ? 'It may have started all the same: look at the runs before you start it again'
    : 'Not started'
}
