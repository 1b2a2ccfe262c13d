// The draft of a run: what it touches, what would happen, how, and one button that says it all. It has an address, so one
// person can prepare it, and another look at it and start it.

import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useLocation, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../../components/controls/button.tsx'
import { Checkbox } from '../../components/controls/checkbox.tsx'
import { QueryFault } from '../../components/show/fault.tsx'
import { Empty, Notice, PageHead, Section, Skeleton, Verdict } from '../../components/show/page.tsx'
import { copyText } from '../../components/toasts.tsx'
import { readDraftHash } from '../../data/drafts/run-drafts.ts'
import { useSettled, useSlow } from '../../data/live.ts'
import { groupQuery, useGroupTitle } from '../../data/queries/groups.ts'
import { surveyRun } from '../../data/queries/runs.ts'
import { serverNow } from '../../data/server-clock.ts'
import { meQuery, useMissingRole } from '../../data/session.ts'
import {
  eligibleWords,
  groupOfSelection,
  readDraft,
  requestText,
  roleOfKind,
  runRequest,
  selectionWords,
  verbOf,
} from '../../domain/run-draft.ts'
import { sends } from '../../domain/runs.ts'
import styles from './draft.module.css'
import { DraftForm } from './draft-form.tsx'
import { Survey } from './survey.tsx'

const route = getRouteApi('/runs/new')

export function DraftPage() {
  const search = route.useSearch()
  const navigate = useNavigate({ from: '/runs/new' })
  const hash = readDraftHash(useLocation().hash)
  // One moment for the whole draft: what is started is what was looked at.
  const [openedAt] = useState(() => new Date(serverNow()))
  const draft = readDraft(search, openedAt, hash.ids)
  const [all, setAll] = useState(false)
  const needed = roleOfKind(draft.kind)
  const refusal = useMissingRole(needed.role, needed)
  const who = useQuery(meQuery)
  const group = useQuery({ ...groupQuery(search.group ?? ''), enabled: search.group !== undefined })
  // A draft from the list of a group's messages.
  const listed = useGroupTitle(groupOfSelection(draft.selection))

  // A forced run wants a reason, also for its dry run.
  const reason = draft.force ? hash.reason || 'a look at what would happen' : ''
  const dryRun = runRequest(draft, { reason, all, eligible: 0, matched: null })
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
  const setSearch = (change: Readonly<Record<string, string | undefined>>) =>
    void navigate({ search: (old) => ({ ...old, ...change }), hash: true, replace: true })
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
            This is about messages of all topics. Yes, all of them.
          </Checkbox>
        </Notice>
      ) : null}
      {refusal === null ? null : (
        <Notice look="plain">
          The dry run and the start need the role {needed.role}
          {needed.ofAll ? ' for all topics' : ''}. The link can be sent to somebody who has it.
        </Notice>
      )}
      <div className={styles.blocks}>
        <Section title="What would happen">
          {slow ? <Skeleton rows={4} /> : null}
          {draft.everything && !all ? <Empty>It is counted once somebody agrees to all topics, above.</Empty> : null}
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
        <DraftForm draft={draft} hash={hash} all={all} survey={survey} onChange={setSearch} />
      </div>
    </>
  )
}
