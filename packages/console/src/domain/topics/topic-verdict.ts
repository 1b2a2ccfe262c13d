// One topic in words: what is lost, why nothing moves, and what waits. The worst comes first.

import type { Sentence } from '../now-verdict.ts'
import type { StatusCounts } from '../states.ts'
import { relativeTime, spanText } from '../time.ts'
import { counted, numberText } from '../words.ts'
import { type LossFacts, lossLevel, notLookedFor } from './loss.ts'

export type PauseFacts = {
  readonly by: string
  readonly reason: string
  readonly since: string
  readonly until: string | null
}

export type TopicFacts = {
  readonly kind: 'dlq' | 'original' | 'candidate'
  readonly counts: StatusCounts
  readonly oldest_pending_at: string | null
  readonly found: { readonly gone_at: string | null } | null
  readonly ingestion: { readonly loss_clock: LossFacts | null } | null
  readonly paused: PauseFacts | null
  readonly ingestion_paused: PauseFacts | null
  readonly policy: Readonly<
    Record<string, { readonly value: unknown; readonly source: string; readonly pattern: string | null }>
  >
}

/** "maria: the card network is down. It ends in 2 h." */
function pauseWords({ by, reason, since, until }: PauseFacts, now: number): string {
  const end =
    until === null
      ? 'until somebody resumes it'
      : Date.parse(until) <= now
        ? 'it ends now'
        : `it ends ${relativeTime(Date.parse(until), now, spanText)}`
  return `by ${by} for ${spanText(now - Date.parse(since))} (${reason}); ${end}`
}

/** "the policy orders.*", "the configuration", "the default". */
export function sourceWords({ source, pattern }: { readonly source: string; readonly pattern: string | null }): string {
  if (source === 'default') return 'the default'
  if (source === 'config') return pattern === null ? 'the configuration' : `the configuration for ${pattern}`
  return `the policy ${pattern}`
}

/** `held`: why records for the topic are refused in a row; null where they are not. */
export function topicVerdict(topic: TopicFacts, held: string | null, now: number): Sentence[] {
  return [...lossSentences(topic, now), ...stillSentences(topic, held, now), countSentence(topic, now)]
}

function lossSentences({ ingestion, found }: TopicFacts, now: number): Sentence[] {
  if (found !== null && found.gone_at !== null)
    return [
      {
        severity: 'look',
        text: `Kafka has not listed this topic since ${relativeTime(Date.parse(found.gone_at), now, spanText)}: it was deleted, or an ACL hides it.`,
      },
    ]
  const clock = ingestion?.loss_clock ?? null
  if (clock === null) return []
  const ago = notLookedFor(clock, now)
  const unseen: Sentence[] =
    ago === null
      ? []
      : [{ severity: 'look', text: `Nobody has looked at it for ${spanText(ago)}: is an ingester running?` }]
  const level = lossLevel(clock, now)
  if (level === 'fine') return unseen
  const text =
    clock.lost > 0
      ? `${counted(clock.lost, 'record was', 'records were')} lost unread: raise retention.ms now, then ingestion.`
      : `${counted(clock.lag, 'record waits', 'records wait')} unread; Kafka deletes the first ${expiryWords(clock.expires_at!, now)}.`
  return [{ severity: level, text }, ...unseen]
}

function expiryWords(at: string, now: number): string {
  const leftMs = Date.parse(at) - now
  return leftMs <= 0 ? 'at any time' : `in ${spanText(leftMs)}`
}

/** Why nothing moves, if nothing does. */
function stillSentences(
  { paused, ingestion_paused, policy }: TopicFacts,
  held: string | null,
  now: number,
): Sentence[] {
  const because = (setting: string, value: unknown) => {
    const said = policy[setting]
    return said !== undefined && said.value === value ? sourceWords(said) : null
  }
  const byPolicy = because('paused', true)
  const byHand = because('auto_retry', false)
  const pulled = because('delivery', 'pull')
  return [
    ...(paused === null ? [] : [`Retries are paused ${pauseWords(paused, now)}.`]),
    ...(ingestion_paused === null ? [] : [`Ingestion is paused ${pauseWords(ingestion_paused, now)}.`]),
    ...(byPolicy === null ? [] : [`Nothing is sent, even if somebody asks: ${byPolicy} pauses it.`]),
    ...(held === null ? [] : [`It is held and only probed: ${held.replace(/\.$/, '')}.`]),
    ...(byHand === null ? [] : [`Nothing is tried by itself: so says ${byHand}.`]),
    ...(pulled === null ? [] : [`Its application claims its dead letters itself: so says ${pulled}.`]),
  ].map((text) => ({ severity: 'look', text }))
}

function countSentence({ counts, oldest_pending_at }: TopicFacts, now: number): Sentence {
  const waits = counts.PENDING + counts.RETRYING
  if (counts.DEAD === 0 && waits === 0) return { severity: 'fine', text: 'Nothing waits and nothing is given up.' }
  const oldest = oldest_pending_at === null ? '' : `, the oldest for ${spanText(now - Date.parse(oldest_pending_at))}`
  const dead = counts.DEAD === 0 ? '' : counted(counts.DEAD, 'message is DEAD', 'messages are DEAD')
  const wait =
    waits === 0
      ? ''
      : dead === ''
        ? `${counted(waits, 'message waits', 'messages wait')}${oldest}`
        : ` and ${numberText(waits)} ${waits === 1 ? 'waits' : 'wait'}${oldest}`
  return { severity: counts.DEAD > 0 ? 'look' : 'fine', text: `${dead}${wait}.` }
}

/** Short marks of a row: what is unusual about how the topic is retried. */
export function topicMarks({
  paused,
  ingestion_paused,
  policy,
}: Pick<TopicFacts, 'paused' | 'ingestion_paused' | 'policy'>): string[] {
  const is = (setting: string, value: unknown) => policy[setting]?.value === value
  const rate = policy.rate_per_second?.value
  return [
    ...(paused === null ? [] : ['retries paused']),
    ...(ingestion_paused === null ? [] : ['ingestion paused']),
    ...(is('paused', true) ? ['paused by policy'] : []),
    ...(is('auto_retry', false) ? ['by hand only'] : []),
    ...(typeof rate === 'number' ? [`${numberText(rate)}/s`] : []),
    ...(is('delivery', 'pull') ? ['pull'] : []),
    ...(is('ordering', 'per-key') ? ['per key'] : []),
    ...(is('payload', 'derived') ? ['derived'] : []),
  ]
}
