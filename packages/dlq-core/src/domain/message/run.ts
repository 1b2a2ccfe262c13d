// A run: one operation on many messages. Which messages it may change, how it proceeds, and what its counts
// mean; decisions only.

import { matchesTopicGlobs } from '../failure/topic-globs.ts'
import { originStateOf } from '../origin/origin-state.ts'
import { isTemplate } from '../retry/fill-target.ts'
import { type Status, statuses } from '../retry/message-state.ts'
import type { MessageFilter } from './message-filter.ts'
import { type RunKind, unlimitedKinds } from './run-kinds.ts'

/** Why a run has ended before all of its messages. */
export const forgottenSelection = 'an erasure took what it was asked for; it left alone what it had not taken by then'

/** `cancelling`: nothing more is claimed, and the run gives back the messages that it did not send. */
export const runStatuses = ['queued', 'running', 'paused', 'cancelling', 'completed', 'cancelled', 'failed'] as const
export type RunStatus = (typeof runStatuses)[number]

/** What decides which messages a run may change. `is_forced`: DEAD ones and spent budgets do not matter. */
export type RunMeans = { readonly kind: RunKind; readonly is_forced: boolean }

/** The messages of a filter, these ids, those that failed again in another run, or those whose state it changed. */
export type RunSelection =
  | { readonly filter: MessageFilter }
  | { readonly ids: readonly string[] }
  | { readonly failed_again_in: string }
  | { readonly changed_in: string }
  /** Record keys in base64, of these original topics, live and archived. Only for runs that erase. */
  | { readonly keys: readonly string[]; readonly topics?: readonly string[] }

export type Canary = {
  /** This many messages first … */
  readonly first: number
  /** … and then this share of all, from 0 to 1. */
  readonly share: number
  /** How long to wait for re-failures before more messages are sent. */
  readonly waitMs: number
  /** If more than this share failed again, the run pauses. */
  readonly maxRefailure: number
}

/** The canary of a row; null where it has none. */
export function canaryOf({ canary }: { canary: string | null }): Canary | null {
  return canary === null ? null : (JSON.parse(canary) as Canary)
}

/** The names of the workflows that carry out runs in the retriers. */
export const runWorkflows = {
  sent: 'run.send',
  touched: 'run.touch',
  erasing: 'run.erase',
  comparing: 'run.compare',
} as const

/** The workflow that carries out runs of the kind. */
export function workflowOf(kind: RunKind): (typeof runWorkflows)[keyof typeof runWorkflows] {
  if (kind === 'erase') return runWorkflows.erasing
  if (kind === 'origin') return runWorkflows.comparing
  return isSent(kind) ? runWorkflows.sent : runWorkflows.touched
}

/** Jobs of runs come after other jobs, as their messages come after single retries. */
export const runPriority = 10

/** Whether retriers send the run's messages. Other runs are done with a message once they have changed it. */
export function isSent(kind: RunKind): boolean {
  return kind === 'retry' || kind === 'redirect'
}

const touchable: Readonly<Record<RunKind, readonly Status[]>> = {
  retry: ['PENDING'],
  redirect: ['PENDING'],
  dead: ['PENDING'],
  revive: ['DEAD'],
  edit: ['PENDING', 'DEAD'],
  origin: ['PENDING', 'DEAD'],
  delete: ['PENDING', 'RESOLVED', 'DEAD'],
  archive: ['RESOLVED', 'DEAD'],
  restore: ['RESOLVED', 'DEAD'],
  purge: ['RESOLVED', 'DEAD'],
  // One that is being sent is waited for.
  erase: statuses,
}

function touchableBy({ kind, is_forced: isForced }: RunMeans): readonly Status[] {
  return isForced ? ['PENDING', 'DEAD'] : touchable[kind]
}

/** Whether such a run can be forced. */
export function canBeForced(kind: RunKind): boolean {
  return isSent(kind)
}

/** Whether such a run can change values as it goes: one that edits, or one that edits each message as it takes it. */
export function canPatch(kind: RunKind): boolean {
  return kind === 'edit' || isSent(kind)
}

/** Why somebody who is limited to the topics may not have such a run; null where they may. `scope` null: all topics. */
export function beyondScope(
  { kind, target_topic: target }: { readonly kind: RunKind; readonly target_topic: string | null },
  scope: readonly string[] | null,
): string | null {
  if (scope === null) return null
  if (unlimitedKinds.includes(kind)) return `a run of kind ${kind} needs a token for all topics`
  // What a template names is only known of each message; the retriers hold it against the scope there.
  if (target !== null && !isTemplate(target) && !matchesTopicGlobs(scope, target))
    return `this token may not write to ${target}`
  return null
}

/** The statuses that a run of this kind changes, of those that the filter names. */
export function eligibleStatuses(run: RunMeans, { status: named, archived = false }: MessageFilter): Status[] {
  const statuses: readonly Status[] = archived ? touchable.purge : touchableBy(run)
  return statuses.filter((status) => named === undefined || named.includes(status))
}

/** Kinds that move or delete messages as they are, and so erased ones, too. */
const keepingKinds: readonly RunKind[] = ['delete', 'archive', 'restore', 'purge', 'erase']

export type Candidate = {
  readonly status: Status
  readonly retry_count: number
  readonly max_retries: number
  readonly run_id: string | null
  /** Its DLQ topic has not been allowed to send to its original topic. */
  readonly held_by_route: boolean
  /** See origin-state.ts. */
  readonly origin_state: number | null
  readonly is_erased: boolean
}

/** Why such a run leaves the message alone; null where it does not. */
export function ineligibility(
  run: RunMeans,
  { status, retry_count: retryCount, max_retries: maxRetries, run_id: runId, ...row }: Candidate,
): string | null {
  if (row.is_erased && !keepingKinds.includes(run.kind)) return 'erased'
  if (!touchableBy(run).includes(status)) return status.toLowerCase()
  if (runId !== null) return 'in_another_run'
  if (isSent(run.kind)) {
    const held = heldReason(row)
    if (held !== null) return held
  }
  if (isSent(run.kind) && !run.is_forced && retryCount >= maxRetries) return 'budget_spent'
  return null
}

/** Why a message is not sent by a run, nor by itself. */
export function heldReason(row: Pick<Candidate, 'held_by_route' | 'origin_state' | 'is_erased'>): string | null {
  if (row.is_erased) return 'erased'
  if (row.held_by_route) return 'held_by_route'
  return originStateOf(row.origin_state)?.isHeld ? 'held_for_origin' : null
}

/** What to do about messages that such a run leaves alone for this reason, as a sentence with their number. */
export function remedyOf({ kind }: Pick<RunMeans, 'kind'>, reason: string, count: number): string {
  const are = count === 1 ? '1 is' : `${count} are`
  const have = count === 1 ? '1 has' : `${count} have`
  switch (reason) {
    case 'dead':
      return isSent(kind) ? `${are} DEAD: send with force, or revive first` : `${are} DEAD: nothing is left to do`
    case 'budget_spent':
      return `${have} no attempts left: send with force`
    case 'held_by_route':
      return `${are} held by a route: approve it, or retry singly by force`
    case 'held_for_origin':
      return `${are} held because the original is missing or has another value: adopt it, edit the value, or retry singly by force`
    case 'erased':
      return `${count} ${count === 1 ? 'was' : 'were'} erased: nothing of ${count === 1 ? 'it' : 'them'} is left to change or send`
    case 'superseded':
      return `${are} older than a record of the same key: send with "staleness": "send", or retry singly by force`
    case 'staleness_unknown':
      return `${are} not known to be the newest of the key: send with "staleness": "send", or retry singly by force`
    case 'in_another_run':
      return `${are} held by another run: wait for it, or cancel it`
    case 'retrying':
      return `${are} being sent: wait for the outcome`
    case 'pending':
      return `${are} PENDING: the policy retries, or a run of kind retry`
    case 'resolved':
      return isSent(kind) ? `${are} RESOLVED: retry singly by force` : `${are} RESOLVED: nothing is left to do`
    default:
      return `${are} left alone: ${reason}`
  }
}

/** The steps in which a run that sends takes its messages. */
export type TakeStep = 'first' | 'share' | 'all'

/** How many messages the step takes at most; null: all that are left. */
export function stepSize(
  step: TakeStep,
  { matched, canary }: { matched: number; canary: Pick<Canary, 'first' | 'share'> | null },
): number | null {
  if (step === 'all') return null
  if (canary === null) return 0
  return step === 'first' ? canary.first : Math.ceil(matched * canary.share)
}

/** Whether the number of matches is the expected one; a tolerance of 0.1 allows a tenth more or less. */
export function isAsExpected(
  matched: { value: number; relation: 'eq' | 'gte' },
  { expected, tolerance }: { expected: number; tolerance: number },
): boolean {
  const most = expected * (1 + tolerance)
  // If counting ended early, there may be any number of further matches.
  return matched.relation === 'eq' && matched.value <= most && matched.value >= expected * (1 - tolerance)
}

export type RunCounts = {
  /** Messages that were sent or will be sent. The run holds those that are not settled yet. */
  readonly taken: number
  /** Changed, in a run that sends nothing; or handed over to the program that claims it by SQL. */
  readonly done: number
  readonly resolved: number
  /** Kafka refused it, or its budget is spent. */
  readonly failed: number
  /** It was sent, and failed again. */
  readonly failed_again: number
  /** Deleted, or changed by somebody else, before it was sent. */
  readonly withdrawn: number
  /** Not sent, because the run was cancelled. */
  readonly given_back: number
}

/** The taken messages that are not settled yet. */
export function waitingOf(counts: RunCounts): number {
  const { taken, resolved, failed, failed_again: failedAgain, withdrawn, given_back: givenBack } = counts
  return taken - resolved - failed - failedAgain - withdrawn - givenBack
}

/** How many messages the run has finished. */
function settledOf({ done, resolved, failed, failed_again: failedAgain }: RunCounts): number {
  return done + resolved + failed + failedAgain
}

/** With fewer settled messages than this, a share means nothing. */
const leastSample = 20

/** Whether too many failed again. `sample`: this many must be settled before the share counts. */
export function refailsTooMuch(
  counts: Pick<RunCounts, 'resolved' | 'failed_again'>,
  { maxRefailure, sample = leastSample }: { maxRefailure: number; sample?: number },
): boolean {
  const sent = counts.resolved + counts.failed_again
  return counts.failed_again > 0 && sent >= sample && counts.failed_again / sent > maxRefailure
}

export type Progress = {
  /** Messages per second since the run began; null before anything is settled. */
  readonly rate: number | null
  /**
   * Remaining seconds at that rate; null if the rate is unknown, or that of a canary: what follows is faster. Null also
   * where counting the matching ended early, until the run has come by all of them.
   */
  readonly etaSeconds: number | null
}

type ProgressOf = {
  matched: { value: number; relation: 'eq' | 'gte' }
  /** How many messages the run has left alone. */
  skipped: number
  step: string | null
  startedAt: Date | null
  endedAt: Date | null
  now: Date
}

export function progressOf(
  counts: RunCounts,
  { matched, skipped, step, startedAt, endedAt, now }: ProgressOf,
): Progress {
  const settled = settledOf(counts)
  const seconds = startedAt === null ? 0 : ((endedAt ?? now).getTime() - startedAt.getTime()) / 1000
  if (settled === 0 || seconds <= 0) return { rate: null, etaSeconds: null }
  const rate = settled / seconds
  const isTaken = step === 'settle'
  const isKnown = endedAt === null && step !== 'first' && step !== 'share' && (isTaken || matched.relation === 'eq')
  if (!isKnown) return { rate, etaSeconds: null }
  const gone = settled + skipped + counts.withdrawn + counts.given_back
  return { rate, etaSeconds: Math.max(waitingOf(counts), isTaken ? 0 : matched.value - gone) / rate }
}
