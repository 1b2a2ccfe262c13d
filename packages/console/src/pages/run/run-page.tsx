// One run as it goes: what it does, why it stands still, how to stop it; and afterwards whether what it sent stayed away.

import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Button, buttonClass } from '../../components/controls/button.tsx'
import { Select } from '../../components/controls/select.tsx'
import { useKeys } from '../../components/keys.ts'
import { CancelDialog, RateMenu } from '../../components/runs/run-controls.tsx'
import { DirectedText } from '../../components/show/directed-text.tsx'
import { ChangeFault, LastKnown, QueryFault } from '../../components/show/fault.tsx'
import { HiddenNote } from '../../components/show/hidden-note.tsx'
import { Missing } from '../../components/show/missing.tsx'
import { ActionBar, Notice, PageHead, Section, Skeleton, Verdict } from '../../components/show/page.tsx'
import { ProgressBar, ProgressLegend } from '../../components/show/progress.tsx'
import { Time } from '../../components/show/time.tsx'
import { say } from '../../components/toasts.tsx'
import { TicketText } from '../../components/tool-links.tsx'
import { faultOf } from '../../data/faults.ts'
import { useLive, useNow, useSlow } from '../../data/live.ts'
import { changeGroup } from '../../data/queries/groups.ts'
import { useRunControls } from '../../data/queries/run-controls.ts'
import { type Run, type RunItem, runItemsQuery, runQuery } from '../../data/queries/runs.ts'
import { useRunEvents } from '../../data/run-events.ts'
import { serverNow } from '../../data/server-clock.ts'
import { useMissingRole } from '../../data/session.ts'
import { ineligibleWords, leftAloneWords, searchOfSelection } from '../../domain/run-draft.ts'
import { runStages, runVerdict } from '../../domain/run-verdict.ts'
import {
  activeStatuses,
  leftWords,
  partsOf,
  progressWords,
  runTitle,
  totalText,
  undoOf,
  whyNotToggled,
} from '../../domain/runs.ts'
import { RateChart } from './rate-chart.tsx'
import styles from './run.module.css'
import { SelectionText } from './selection-text.tsx'

const route = getRouteApi('/runs/$id')
const watchedMs = 10 * 60_000

/** After its end, what it sent may still come back. */
function isWatched({ ended_at: at }: Run): boolean {
  return at === null || serverNow() - Date.parse(at) <= watchedMs
}

export function RunPage() {
  const { id } = route.useParams()
  const { outcome = 'failed_again' } = route.useSearch()
  const live = useLive(5000)
  const now = useNow()
  const query = useQuery({
    ...runQuery(id),
    refetchInterval: (query) => (query.state.data === undefined || isWatched(query.state.data) ? live(query) : false),
  })
  const run = query.data
  useRunEvents(id, run !== undefined && activeStatuses.has(run.status))
  const slow = useSlow(query.isPending)
  if (run === undefined) {
    if (query.error === null) return slow ? <Skeleton rows={6} /> : null
    return (
      <Missing
        kind="run"
        name={id}
        fault={faultOf(query.error)}
        list={<Link to="/runs">All runs</Link>}
        onRetry={query.refetch}
      />
    )
  }
  const active = activeStatuses.has(run.status)
  const parts = partsOf(run)
  const left = leftWords(run)
  return (
    <>
      <PageHead
        title={runTitle(run)}
        documentTitle={`${progressWords(run)} · ${run.kind}`}
        back={<Link to="/runs">Runs</Link>}
      >
        <p className={styles.quiet}>
          <SelectionText selection={run.selection} /> · by {run.actor}, <Time at={run.created_at} />
          {run.reason === null ? null : (
            <>
              : “<TicketText text={run.reason} />”
            </>
          )}
          {run.force ? ' · forced' : ''}
        </p>
        <Verdict dim={query.isError}>{runVerdict(run, now)}</Verdict>
        <LastKnown query={query} />
        <HiddenNote of={[run]} />
      </PageHead>
      <WhyStopped run={run} />
      <div className={styles.progress}>
        {active ? <Stages run={run} /> : null}
        <ProgressBar parts={parts} label={progressWords(run)} />
        <ProgressLegend parts={parts} />
        <LiveSentence text={progressWords(run)} />
        <RateChart key={id} run={run} />
      </div>
      <RunActions run={run} active={active} />
      {active && run.status !== 'paused' && run.held_up_by !== null && run.held_up_by.length > 0 ? (
        <Section title="Why it does not go faster">
          <ul className={styles.reasons}>
            {run.held_up_by.map((reason) => (
              <li key={reason}>
                <DirectedText text={reason} />
              </li>
            ))}
          </ul>
        </Section>
      ) : null}
      <Skipped run={run} />
      {left === null ? null : <p className={styles.quiet}>{left}</p>}
      {run.arrived_since !== null && run.arrived_since.value > 0 ? (
        <p className={styles.quiet}>
          {totalText(run.arrived_since)} more came in since it began; they are not part of it.
        </p>
      ) : null}
      <Items run={run} outcome={outcome} />
    </>
  )
}

const stopWords: Readonly<Partial<Record<Run['status'], string>>> = {
  paused: 'Paused: ',
  failed: 'Failed: ',
  completed: 'Not all of it: ',
}

function WhyStopped({ run }: { run: Run }) {
  const words = stopWords[run.status]
  if (words === undefined || run.status_reason === null) return null
  return (
    <Notice look={run.status === 'failed' ? 'alarm' : 'warning'}>
      <span>
        {words}
        <DirectedText text={run.status_reason} />
      </span>
      {run.progress.failed_again === 0 ? null : (
        <Link to="/runs/$id" params={{ id: run.id }} search={{ outcome: 'failed_again' }} hash="items">
          Look at what came back
        </Link>
      )}
    </Notice>
  )
}

function Stages({ run }: { run: Run }) {
  const stages = runStages(run.canary, run.step?.name ?? run.progress.step)
  if (stages.length < 2) return null
  return (
    <ol className={styles.stages} aria-label="Stages">
      {stages.map(({ name, state }) => (
        <li key={name} data-state={state} aria-current={state === 'now' ? 'step' : undefined}>
          {state === 'done' ? '✓ ' : ''}
          {name}
        </li>
      ))}
    </ol>
  )
}

/** For those who hear the page: one sentence, at most every ten seconds. */
function LiveSentence({ text }: { text: string }) {
  const now = useNow()
  const [said, setSaid] = useState({ text: '', at: 0 })
  if (text !== said.text && now - said.at > 10_000) setSaid({ text, at: now })
  return (
    <p className="visually-hidden" aria-live="polite">
      {said.text}
    </p>
  )
}

function RunActions({ run, active }: { run: Run; active: boolean }) {
  const navigate = useNavigate()
  const refusal = useMissingRole('sys_operator')
  const [confirming, setConfirming] = useState(false)
  const { paused, isPending, error: failed, settled, toggle, cancel, changeRate } = useRunControls(run)
  const resolve = useMutation({
    mutationFn: (group: string) => changeGroup(group, { state: 'resolved' }),
    onSuccess: () => say('Resolved; it comes back by itself if it fails again'),
    onSettled: settled,
  })
  const group = run.selection.filter?.group_id
  const { different = 0, value_lost: lost = 0 } = run.progress.origins ?? {}
  const differing = different + lost
  const again = searchOfSelection(run.selection)
  const undo = undoOf(run)
  const mayResolve = !active && group !== undefined && run.status === 'completed'
  // While the run is active its keys are those of the bar at the bottom.
  useKeys({
    d: () => {
      if (mayResolve && refusal === null && !resolve.isPending) resolve.mutate(group)
    },
  })
  return (
    <>
      <ActionBar label="What can be done with this run">
        {active ? (
          <>
            <Button
              look="primary"
              refusal={refusal ?? whyNotToggled(run.status)}
              isPending={isPending}
              onPress={toggle}
            >
              {paused ? 'Resume all the same' : 'Pause'}
            </Button>
            <RateMenu run={run} refusal={refusal} onChange={changeRate} />
            <Button
              look="danger"
              refusal={refusal}
              isDisabled={run.status === 'cancelling'}
              onPress={() => setConfirming(true)}
            >
              Cancel…
            </Button>
          </>
        ) : null}
        {!active && run.progress.failed_again > 0 ? (
          <Link
            to="/runs/new"
            search={{
              ...(run.target_topic === null ? { kind: 'retry' } : { kind: 'redirect', target_topic: run.target_topic }),
              failed_again_in: run.id,
            }}
            className={buttonClass()}
          >
            Retry those that came back
          </Link>
        ) : null}
        {!active && run.kind === 'origin' && !run.adopt && differing > 0 && again !== null ? (
          <Link to="/runs/new" search={{ ...again, kind: 'origin', adopt: 'true' }} className={buttonClass('primary')}>
            Adopt what differs…
          </Link>
        ) : null}
        {undo === null ? null : (
          <Link to="/runs/new" search={{ kind: undo, changed_in: run.id }} className={buttonClass()}>
            Take it back…
          </Link>
        )}
        {mayResolve ? (
          <Button
            look="primary"
            refusal={refusal}
            isPending={resolve.isPending}
            isDisabled={resolve.isSuccess}
            onPress={() => resolve.mutate(group)}
            hint="d"
          >
            {resolve.isSuccess ? 'Resolved' : 'Resolve group'}
          </Button>
        ) : null}
        {group === undefined ? null : (
          <Button look="quiet" onPress={() => void navigate({ to: '/groups/$id', params: { id: group } })}>
            The error group
          </Button>
        )}
      </ActionBar>
      <ChangeFault error={failed ?? resolve.error} />
      {confirming ? (
        <CancelDialog onCancel={cancel} onClose={() => setConfirming(false)}>
          {progressWords(run)}. What it has not taken yet stays as it is. What is sent, is sent.
        </CancelDialog>
      ) : null}
    </>
  )
}

function Skipped({ run }: { run: Run }) {
  const skipped = Object.entries(run.progress.skipped)
  if (skipped.length === 0) return null
  return (
    <Section title="Skipped">
      <ul className={styles.reasons}>
        {skipped.map(([reason, count]) => (
          <li key={reason}>{ineligibleWords(reason, count)}</li>
        ))}
      </ul>
    </Section>
  )
}

const outcomes = [
  { id: 'failed_again', text: 'came back' },
  { id: 'resolved', text: 'sent' },
  { id: 'failed', text: 'refused' },
  { id: 'waiting', text: 'waiting' },
  { id: 'skipped', text: 'skipped' },
]

function outcomeWords(outcome: string): string {
  return outcomes.find(({ id }) => id === outcome)?.text ?? outcome
}

/** Of one that was skipped, the API gives the reason's name. */
function detailWords({ outcome, detail }: RunItem): string | null {
  return outcome === 'skipped' && detail !== null ? leftAloneWords(detail) : detail
}

function Items({ run, outcome }: { run: Run; outcome: string }) {
  const { id } = run
  const navigate = useNavigate({ from: '/runs/$id' })
  const live = useLive(5000)
  const list = useInfiniteQuery({
    ...runItemsQuery(id, outcome),
    refetchInterval: (query) => isWatched(run) && live(query),
  })
  const items = list.data?.pages.flatMap((page) => page.items) ?? []
  return (
    <Section
      title="Its messages"
      id="items"
      aside={
        <Select
          label="Outcome"
          hiddenLabel
          value={outcome}
          choices={outcomes}
          onChange={(to) => void navigate({ params: { id }, search: { outcome: to }, replace: true })}
        />
      }
    >
      <QueryFault query={list} what="They cannot be read" />
      {list.data !== undefined && items.length === 0 && !list.isPlaceholderData ? (
        <p className={styles.quiet}>None {outcomeWords(outcome)}.</p>
      ) : null}
      <HiddenNote of={items.flatMap((item) => [item, item.message])} />
      <ul className={styles.items} data-dim={list.isPlaceholderData}>
        {items.map((item) => (
          <li key={item.id}>
            <Link to="/messages/$id" params={{ id: item.id }} search={{}}>
              <code>{item.message?.key?.value ?? item.id.slice(-12)}</code>
            </Link>
            <span className={styles.quiet}>
              {item.message == null ? 'archived or deleted' : `${item.message.status} · ${item.message.original_topic}`}{' '}
              · {detailWords(item) ?? item.message?.error_message ?? outcomeWords(item.outcome)}
            </span>
          </li>
        ))}
      </ul>
      {list.hasNextPage ? (
        <Button onPress={() => void list.fetchNextPage()} isPending={list.isFetchingNextPage}>
          {list.isFetchingNextPage ? 'Loading …' : 'More of them'}
        </Button>
      ) : null}
    </Section>
  )
}
