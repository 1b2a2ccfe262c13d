// The waits that follow from a policy: attempt by attempt, from the shortest to the longest, by the code of the services.

import { nextRetryAt, type RetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { spanText } from '../time.ts'
import { counted } from '../words.ts'

export type Wait = { readonly attempt: number; readonly fromMs: number; readonly toMs: number }

/** More are not drawn. */
const maxDrawn = 12

/** Windows are left out: they put an attempt off to their next beginning. */
export function waitsOf(policy: RetryPolicy): Wait[] {
  const free = { ...policy, runEveryMs: null, autoRetry: true }
  const at = (retryCount: number, random: number) => nextRetryAt(free, retryCount, new Date(0), random)!.getTime()
  return Array.from({ length: policy.maxRetries }, (_, count) => ({
    attempt: count + 1,
    fromMs: at(count, 1),
    toMs: at(count, 0),
  }))
}

export function drawnWaits(waits: readonly Wait[]): readonly Wait[] {
  return waits.slice(0, maxDrawn)
}

/** "3 attempts; it gives up after 10 m to 1 h 45 m." */
export function waitWords(policy: RetryPolicy, waits: readonly Wait[]): string {
  if (policy.paused) return 'Nothing is sent, even if somebody asks.'
  if (!policy.autoRetry) return 'Nothing is tried by itself.'
  const least = sum(waits.map(({ fromMs }) => fromMs))
  const most = sum(waits.map(({ toMs }) => toMs))
  const after = spanText(least) === spanText(most) ? spanText(most) : `${spanText(least)} to ${spanText(most)}`
  const windows =
    policy.runEveryMs === null ? '' : ` Each waits on for the next window, every ${spanText(policy.runEveryMs)}.`
  return `${counted(waits.length, 'attempt')}; it gives up after ${after}.${windows}`
}

/** Where a wait stands on the scale of all of them, from 0 to 1; the scale is logarithmic. */
export function waitShare(ms: number, waits: readonly Wait[]): number {
  const least = Math.max(1000, Math.min(...waits.map(({ fromMs }) => fromMs)))
  const most = Math.max(least * 2, ...waits.map(({ toMs }) => toMs))
  const bounded = Math.min(Math.max(ms, least), most)
  return Math.log(bounded / least) / Math.log(most / least)
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
