// A run: one operation over many messages. What it may touch, how it goes on, and what its counts mean;
// decisions only.

import type { Status } from './message.ts'
import type { MessageFilter } from './message-filter.ts'

export const runKinds = ['retry', 'redirect', 'dead', 'delete', 'archive', 'purge', 'edit'] as const
export type RunKind = (typeof runKinds)[number]

/** `cancelling`: nothing is sent any more; what was not sent is being given back. */
export const runStatuses = ['queued', 'running', 'paused', 'cancelling', 'completed', 'cancelled', 'failed'] as const
export type RunStatus = (typeof runStatuses)[number]

/** Which messages: those of a filter, those with these ids, or those that failed again in another run. */
export type RunSelection =
  | { readonly filter: MessageFilter }
  | { readonly ids: readonly string[] }
  | { readonly failed_again_in: string }

export type Canary = {
  /** So many go first … */
  readonly first: number
  /** … and then this share of all, from 0 to 1. */
  readonly share: number
  /** So long nothing may have come back before more go. */
  readonly waitMs: number
  /** More than this share came back: the run pauses. */
  readonly maxRefailure: number
}

/** The workflows that runs are, in the retriers. */
export const runWorkflows = { sent: 'run.send', touched: 'run.touch' } as const

/** Retries of single messages come first among the jobs too. */
export const runPriority = 10

/** A run whose messages are sent by the retriers. All others are done with a message when they have touched it. */
export function isSent(kind: RunKind): boolean {
  return kind === 'retry' || kind === 'redirect'
}

const touchable: Readonly<Record<RunKind, readonly Status[]>> = {
  retry: ['PENDING'],
  redirect: ['PENDING'],
  dead: ['PENDING'],
  edit: ['PENDING', 'DEAD'],
  delete: ['PENDING', 'RESOLVED', 'DEAD'],
  archive: ['RESOLVED', 'DEAD'],
  purge: ['RESOLVED', 'DEAD'],
}

/** Kinds that may be about archived messages. What is sent is restored first. */
export const archiveKinds: readonly RunKind[] = ['retry', 'redirect', 'purge']

/** The statuses that a run of this kind touches, of those that the filter names. */
export function eligibleStatuses(kind: RunKind, { status: named, archived = false }: MessageFilter): Status[] {
  const statuses: readonly Status[] = archived ? touchable.purge : touchable[kind]
  return statuses.filter((status) => named === undefined || named.includes(status))
}

export type Candidate = {
  readonly status: Status
  readonly retryCount: number
  readonly maxRetries: number
  readonly runId: string | null
}

/** Why a run of this kind leaves the message alone; null where it does not. */
export function ineligibility(kind: RunKind, { status, retryCount, maxRetries, runId }: Candidate): string | null {
  if (!touchable[kind].includes(status)) return status.toLowerCase()
  if (runId !== null) return 'in_another_run'
  if (isSent(kind) && retryCount >= maxRetries) return 'budget_spent'
  return null
}

/** Whether so many matched as the asker believes; a tolerance of 0.1 allows a tenth more or less. */
export function isAsExpected(
  matched: { value: number; relation: 'eq' | 'gte' },
  { expected, tolerance }: { expected: number; tolerance: number },
): boolean {
  const most = expected * (1 + tolerance)
  // Where counting ended early, there may be any number more.
  return matched.relation === 'eq' && matched.value <= most && matched.value >= expected * (1 - tolerance)
}

/** Chunks should take about so long: short enough for those who wait for the rows, long enough to be worth a transaction. */
const aimMs = 300
const leastChunk = 50
const mostChunk = 10_000

/** How many messages the next chunk takes, when one of `size` took `tookMs`. */
export function nextChunkSize(size: number, tookMs: number): number {
  const wanted = Math.round((size * aimMs) / Math.max(1, tookMs))
  // At most doubled, because the first chunk after a pause of the machine says little; at once where it was too long.
  return Math.max(leastChunk, Math.min(mostChunk, wanted, size * 2))
}

export type RunCounts = {
  /** Sent, or to be sent; what it holds now is the rest of it. */
  readonly taken: number
  /** Touched, where nothing is sent; or handed over to the program that claims it by SQL. */
  readonly done: number
  readonly resolved: number
  /** Kafka refused it, or its budget is spent. */
  readonly failed: number
  /** It was sent, and came back. */
  readonly failedAgain: number
  /** Deleted, or changed by somebody else, before it was sent. */
  readonly withdrawn: number
  /** Not sent, because the run was cancelled. */
  readonly givenBack: number
}

/** What is still to be sent, of what was taken. */
export function waitingOf(counts: RunCounts): number {
  const { taken, resolved, failed, failedAgain, withdrawn, givenBack } = counts
  return taken - resolved - failed - failedAgain - withdrawn - givenBack
}

/** How many messages have come to an end in the run. */
export function settledOf({ done, resolved, failed, failedAgain }: RunCounts): number {
  return done + resolved + failed + failedAgain
}

/** Fewer settled messages than this say nothing about a share. */
const leastSample = 20

/** Whether too many came back. `sample`: so many have to be settled before it is judged. */
export function refailsTooMuch(
  counts: Pick<RunCounts, 'resolved' | 'failedAgain'>,
  { maxRefailure, sample = leastSample }: { maxRefailure: number; sample?: number },
): boolean {
  const sent = counts.resolved + counts.failedAgain
  return counts.failedAgain > 0 && sent >= sample && counts.failedAgain / sent > maxRefailure
}

export type Progress = {
  /** Messages per second since the run began; null before anything is settled. */
  readonly rate: number | null
  /** Seconds to go at that rate; null where nobody can say. */
  readonly etaSeconds: number | null
}

export function progressOf(
  counts: RunCounts,
  { matched, startedAt, endedAt, now }: { matched: number; startedAt: Date | null; endedAt: Date | null; now: Date },
): Progress {
  const settled = settledOf(counts)
  const seconds = startedAt === null ? 0 : ((endedAt ?? now).getTime() - startedAt.getTime()) / 1000
  if (settled === 0 || seconds <= 0) return { rate: null, etaSeconds: null }
  const rate = settled / seconds
  return { rate, etaSeconds: endedAt === null ? Math.max(0, Math.max(matched, counts.taken) - settled) / rate : null }
}
