// When the automatic retries of an error group are paused, how the group is probed, and when it goes on. Decisions
// only; group-pauses.ts reads the figures and acts.

import type { RetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import type { ProbeState } from 'dlq-core/queries/groups/group-pauses.ts'

type Rules = Pick<RetryPolicy, 'refailureThreshold' | 'refailureShare' | 'refailureWindowMs'>

/** Of one error group, within the re-failure window. */
export type GroupFigures = {
  refailures: number
  /** Published retries. They may be counted a moment later than their re-failures. */
  retries: number
}

/** Why the group is to be paused; null where it is not. Few re-failures, or a small share of all retries, pause nothing. */
export function whyPause({ refailures, retries }: GroupFigures, rules: Rules): string | null {
  const { refailureThreshold, refailureShare, refailureWindowMs } = rules
  if (refailureThreshold === null || refailures < refailureThreshold) return null
  const of = Math.max(retries, refailures)
  if (refailures < refailureShare * of) return null
  const within = `failed again within ${Math.round(refailureWindowMs / 1000)} s`
  return of > refailures ? `${refailures} of ${of} retries ${within}` : `${refailures} retries ${within}`
}

/** One probe alone may fail, or succeed, by chance. */
export const probesAtOnce = 5

/**
 * What the probes say. `again`: nothing, because none of them was sent. The answer does not wait for probes that can
 * no longer change it.
 */
export function judgeProbes(
  states: readonly ProbeState[],
  { refailureShare }: Pick<Rules, 'refailureShare'>,
): 'wait' | 'resume' | 'failed' | 'again' {
  const count = (wanted: ProbeState) => states.filter((state) => state === wanted).length
  const [failed, waiting] = [count('failed_again'), count('waiting')]
  const all = failed + waiting + count('published')
  if (all === 0) return 'again'
  const areTooMany = (failures: number) => failures > 0 && failures >= refailureShare * all
  if (areTooMany(failed)) return 'failed'
  return areTooMany(failed + waiting) ? 'wait' : 'resume'
}

const longestProbeWaitMs = 3_600_000
const leastQuietMs = 2000

/** How long after a pause, or after `failedProbes` failed ones, the group is probed. */
export function probeAfterMs({ refailureWindowMs }: Pick<Rules, 'refailureWindowMs'>, failedProbes: number): number {
  if (failedProbes === 0) return refailureWindowMs / 10
  return Math.min(refailureWindowMs * 2 ** failedProbes, longestProbeWaitMs)
}

/**
 * A published probe that has not failed again after this time has succeeded: three times as long as nine of ten of the
 * group's re-failures took, or the window where that is not known.
 */
export function quietMs(
  { refailureWindowMs }: Pick<Rules, 'refailureWindowMs'>,
  refailsAfterMs: number | null,
): number {
  if (refailsAfterMs === null) return refailureWindowMs
  return Math.min(Math.max(3 * refailsAfterMs, leastQuietMs), refailureWindowMs)
}

const leastPostponedMs = 10_000

/**
 * How long due messages of a paused group are put off: until the probes may have an answer, so that they go soon after.
 * `puttingOffMs`: how long it has taken so far to put off all that is due. Of a large backlog, the first ones would
 * otherwise be due again before the last ones are put off, and that would go on for as long as the pause.
 */
export function postponeMs(
  { refailureWindowMs }: Pick<Rules, 'refailureWindowMs'>,
  { untilAnswerMs, puttingOffMs }: { untilAnswerMs: number; puttingOffMs: number },
): number {
  return Math.max(Math.min(Math.max(untilAnswerMs, leastPostponedMs), refailureWindowMs), 4 * puttingOffMs)
}
