// A message in words: what it is in, what happens next, and what became of its attempts.

import type { Status } from './states.ts'
import { relativeTime, spanText } from './time.ts'
import { numberText } from './words.ts'

export type MessageFacts = {
  readonly status: Status
  readonly retryable: boolean
  readonly not_retryable_because: string | null
  readonly held_up_by: readonly string[]
  readonly origin_state: string | null
  readonly next_retry_at: string | null
  readonly retry_count: number
  readonly max_retries: number
  readonly archived_at: string | null
  readonly attempts: readonly AttemptFacts[]
}

export type AttemptFacts = {
  readonly number: number
  readonly actor: string
  readonly run_id: string | null
  readonly outcome: 'requested' | 'published' | 'resolved' | 'failed' | 'unknown'
  readonly error: string | null
  readonly started_at: string
  readonly settled_at: string | null
  readonly target: { readonly topic: string; readonly partition: number | null; readonly offset: string | null } | null
  readonly failed_again: { readonly at: string; readonly error_changed: boolean | null } | null
  readonly verdict: string | null
  readonly judged_by: string | null
}

/** What is known of a published record. Never "succeeded": a commit says that it was read. */
export function verdictWords({ verdict, judged_by }: Pick<AttemptFacts, 'verdict' | 'judged_by'>): string {
  const who = judged_by ?? 'its consumer'
  switch (verdict) {
    case 'sent':
      return `not read by ${who} yet`
    case 'passed':
      return `read by ${who}, not back so far`
    case 'consumed':
      return `read by ${who}, nothing came back`
    case 'confirmed':
      return 'done, says its application'
    case 'skipped':
      return `not read: ${who} has jumped over it`
    case 'expired':
      return 'deleted by Kafka before it was read'
    default:
      return 'has not come back; whether it was read cannot be told'
  }
}

/** Why its content cannot be changed; null where it can. */
export function whyNotChanged({ status, erased_at }: { status: Status; erased_at: string | null }): string | null {
  if (erased_at !== null) return 'It was erased: nothing of it is left to change.'
  if (status === 'RESOLVED') return 'It was sent: what was sent cannot be changed any more.'
  return status === 'RETRYING' ? 'It is being sent: it can be changed once that is settled.' : null
}

/** One or two sentences: what happens next by itself, or why nothing does. */
export function whatNext(message: MessageFacts, now: number): string {
  const { status, retry_count, max_retries } = message
  if (message.archived_at !== null) return 'Archived: it stays as it is until somebody restores it.'
  if (status === 'RETRYING') return 'Is being sent now.'
  if (status === 'RESOLVED') return sentWords(message, now)
  if (status === 'DEAD')
    return retry_count >= max_retries && max_retries > 0
      ? `Given up after ${retry_count} of ${max_retries} attempts: it is not tried again by itself.`
      : 'Given up: it is not tried again by itself.'
  const reason = (text: string) => withoutState(text, message.origin_state)
  const waits = message.held_up_by.length === 0 ? '' : `Waits: ${message.held_up_by.map(reason).join('; ')}.`
  if (!message.retryable && message.not_retryable_because !== null)
    return `It cannot be sent: ${reason(message.not_retryable_because)}.`
  if (message.next_retry_at === null) return waits || 'Waits for somebody to send it.'
  const at = Date.parse(message.next_retry_at)
  const tried = `attempt ${numberText(retry_count + 1)} of ${numberText(max_retries)}`
  if (waits !== '')
    return `${waits} ${at > now ? `Its turn is ${relativeTime(at, now, spanText)}` : 'It is due'}, ${tried}.`
  return at > now
    ? `Tried by itself ${relativeTime(at, now, spanText)}, ${tried}.`
    : `Due: it is sent within seconds, ${tried}.`
}

/** For programs, the API begins a reason with the state of the original: "gone: the record that failed is gone". */
export function withoutState(reason: string, originState: string | null): string {
  return originState !== null && reason.startsWith(`${originState}: `) ? reason.slice(originState.length + 2) : reason
}

/** "Sent 80 s ago, has not come back." Never "succeeded". */
function sentWords({ attempts }: MessageFacts, now: number): string {
  const last = attempts.reduce<AttemptFacts | null>(
    (newest, one) => (newest === null || one.number > newest.number ? one : newest),
    null,
  )
  if (last === null || last.settled_at === null) return 'Sent, or settled by hand; no attempt is kept.'
  const verb = last.outcome === 'resolved' ? 'Settled by its application' : 'Sent'
  if (last.failed_again !== null) return `${verb}, and it came back.`
  const when = `${verb} ${relativeTime(Date.parse(last.settled_at), now, spanText)}`
  return last.outcome === 'published' ? `${when}: ${verdictWords(last)}.` : `${when}, has not come back.`
}

/** One attempt: "Sent to orders 0/2305" and what became of it. */
export function attemptWords({ outcome, error, target, failed_again, verdict, judged_by }: AttemptFacts): string {
  const words = verdictWords({ verdict, judged_by })
  const to =
    target === null
      ? ''
      : ` to ${target.topic}${target.partition === null ? '' : ` ${target.partition}/${target.offset ?? '?'}`}`
  const became = {
    requested: `Being sent${to}`,
    published: `Sent${to}`,
    resolved: 'Settled by its application',
    failed: `Refused${to}${error === null ? '' : `: ${error}`}`,
    unknown: `Not known whether it was sent${to}; it is repeated under the same id`,
  }[outcome]
  if (failed_again === null) return outcome === 'published' && verdict !== null ? `${became}; ${words}` : became
  return `${became}; came back${failed_again.error_changed ? ' with another error' : ''}`
}

export function whoSent({ actor, run_id }: AttemptFacts): string {
  if (run_id !== null) return `run of ${actor}`
  return actor === 'auto' ? 'by itself' : actor
}
