// The loss clock: how long a DLQ topic's unread records are still safe, on a scale on which the last hours are wide.

import { spanText } from '../time.ts'
import { counted } from '../words.ts'

export type LossFacts = {
  readonly lag: number
  readonly lost: number
  readonly expires_at: string | null
  readonly looked_at: string | null
  readonly loss: string | null
}

export type LossLevel = 'act' | 'look' | 'fine'

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const soonMs = 6 * hourMs
/** Ingesters look every few seconds: after this, none is running. */
const oldLookMs = minuteMs

const shortestMs = 10 * minuteMs
const longestMs = 7 * 24 * hourMs

/** The marks of the scale, the longest first. */
export const lossMarks = [
  { text: '7 d', ms: longestMs },
  { text: '1 d', ms: 24 * hourMs },
  { text: '6 h', ms: soonMs },
  { text: '1 h', ms: hourMs },
  { text: '10 m', ms: shortestMs },
] as const

/** From 0 (ten minutes or less) to 1 (a week or more); each step of the scale is a factor. */
export function lossShare(leftMs: number): number {
  const bounded = Math.min(Math.max(leftMs, shortestMs), longestMs)
  return Math.log(bounded / shortestMs) / Math.log(longestMs / shortestMs)
}

/** What Kafka may delete unread within six hours is to look at; within one, or where records are lost, to act on. */
export function lossLevel({ lag, lost, expires_at }: LossFacts, now: number): LossLevel {
  if (lost > 0) return 'act'
  if (lag === 0 || expires_at === null) return 'fine'
  const leftMs = Date.parse(expires_at) - now
  if (leftMs < hourMs) return 'act'
  return leftMs < soonMs ? 'look' : 'fine'
}

/** For how long nobody has looked; null while somebody does. */
export function notLookedFor({ looked_at }: LossFacts, now: number): number | null {
  if (looked_at === null) return null
  const ms = now - Date.parse(looked_at)
  return ms > oldLookMs ? ms : null
}

/** The API's words, or what stands for them where nothing waits. */
export function lossWords(facts: LossFacts, now: number): string {
  const ago = notLookedFor(facts, now)
  const words = facts.loss ?? (facts.lag > 0 ? `${counted(facts.lag, 'record waits', 'records wait')} unread` : 'none')
  return ago === null ? words : `${words}, as of ${spanText(ago)} ago`
}

/** Gives Kafka a week before it deletes anything of the topic. */
export function raiseRetention(topic: string): string {
  return `kafka-configs.sh --bootstrap-server "$BROKERS" --alter --entity-type topics --entity-name '${topic}' --add-config retention.ms=604800000`
}
