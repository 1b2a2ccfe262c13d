// Prepares claimed messages for Kafka: where each record is sent, and which messages cannot be sent.

import { matchesTopicGlobs } from 'dlq-core/domain/failure/topic-globs.ts'
import { withoutRetrySuffix } from 'dlq-core/domain/failure/topic-names.ts'
import type { Header } from 'dlq-core/domain/record/record.ts'
import type { PolicyOf } from 'dlq-core/domain/retry/effective-policy.ts'
import { targetOf } from 'dlq-core/domain/retry/fill-target.ts'
import type { RetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import type { ClaimedMessage } from 'dlq-core/queries/retry/batches.ts'
import type { TopicHolds } from '../targets/topic-holds.ts'
import { bytesAlone } from '../targets/topic-limits.ts'
import { toRepublishedRecord } from './republished-record.ts'
import type { TargetTopic, TargetTopics } from './target-topics.ts'

/** A record and where it is sent. Without a `timestamp` it gets the present time. */
export type Outgoing = {
  id: string
  topic: string
  partition: number
  key: Buffer | null
  value: Buffer | null
  headers: readonly Header[]
  timestamp: string | undefined
  /** The most that one batch of its topic may have. */
  maxBatchBytes: number
  /** Kafka may well refuse it: its last attempt was refused, or its time is near what the topic allows. */
  isDoubtful: boolean
}

/** A message that Kafka or its topic does not take. It waits for a person. */
export type Refusal = {
  id: string
  topic: string
  reason: string
  /** Every other record for the topic is refused too. */
  refusesTopic: boolean
}

export type Prepared = {
  outgoing: Outgoing[]
  refused: Refusal[]
  /** Messages whose topic cannot be written to now, although Kafka answers. The attempt is not counted. */
  unavailable: { id: string; topic: string; error: Error }[]
  /** Messages paused since the claim, or whose own DLQ topic is paused. */
  paused: { id: string; topic: string }[]
  /** Messages for topics that rest because their records are refused. The attempt is not counted. */
  held: { id: string; topic: string }[]
}

export type PrepareDeps = {
  targets: TargetTopics
  holds: Pick<TopicHolds, 'restMs'>
  policyOf: PolicyOf
  now: () => Date
}

/** @throws where Kafka is unavailable and a topic's metadata is not remembered */
export async function prepareOutgoing(
  messages: readonly ClaimedMessage[],
  { targets, holds, policyOf, now }: PrepareDeps,
): Promise<Prepared> {
  const prepared: Prepared = { outgoing: [], refused: [], unavailable: [], paused: [], held: [] }
  const addressed = messages.map((message) => {
    const policy = policyOf(message)
    return { message, policy, topic: targetOf(message, policy) }
  })
  const found = await targets.find([...new Set(addressed.map(({ topic }) => topic))])
  for (const { message, policy, topic } of addressed) {
    const { id } = message
    const known = found.get(topic)!
    if (policy.paused || (policy.delivery === 'pull' && message.target_topic === null))
      prepared.paused.push({ id, topic })
    else if (holds.restMs(topic) > 0) prepared.held.push({ id, topic })
    else if (message.target_scope !== null && !matchesTopicGlobs(message.target_scope, topic))
      prepared.refused.push({ id, topic, reason: `who started the run may not write to ${topic}`, refusesTopic: false })
    else if (message.unsendable_bytes !== null)
      prepared.refused.push({ id, topic, reason: tooLarge(message.unsendable_bytes), refusesTopic: false })
    else if (known.kind === 'refused') prepared.refused.push({ id, topic, reason: known.reason, refusesTopic: true })
    else if (known.kind === 'unavailable') prepared.unavailable.push({ id, topic, error: known.error })
    else {
      const made = toOutgoing(message, { target: known.target, policy, now: now() })
      if ('reason' in made) prepared.refused.push(made)
      else prepared.outgoing.push(made)
    }
  }
  return prepared
}

const tooLarge = (bytes: number) => `its ${bytes} bytes are too many to be sent`

type Addressing = { target: TargetTopic; policy: RetryPolicy; now: Date }

function toOutgoing(message: ClaimedMessage, { target, policy, now }: Addressing): Outgoing | Refusal {
  const { topic, maxBatchBytes } = target
  const refuse = (reason: string): Refusal => ({ id: message.id, topic, reason, refusesTopic: false })
  try {
    const { key, value, headers } = toRepublishedRecord(message, forGroupOf(message, { topic, policy }))
    const kept = policy.timestamp === 'keep' ? (message.original_timestamp ?? message.record_timestamp) : null
    const timestamp = target.timestampFor(kept, now)
    const check = target.check({ key, value, headers, timestamp }, now)
    if (check.kind === 'refused') return refuse(`${topic}: ${check.reason}`)
    const partition = target.partitionFor({ partition: message.original_partition, key, value })
    const isDoubtful = check.kind === 'doubtful' || message.was_refused
    return { id: message.id, topic, partition, key, value, headers, timestamp, maxBatchBytes, isDoubtful }
  } catch (error) {
    // A row that somebody changed by hand may no longer be a record. It waits for a person; the others are sent.
    return refuse(`the stored record cannot be rebuilt: ${(error as Error).message}`)
  }
}

/**
 * Whom the record is for. A record that goes elsewhere than it came from is for whoever reads there. Spring's groups of
 * retry topics are named after the group that reads the topic itself.
 */
function forGroupOf(
  { original_topic, consumer_group: group }: Pick<ClaimedMessage, 'original_topic' | 'consumer_group'>,
  { topic, policy }: { topic: string; policy: Pick<RetryPolicy, 'forGroupHeader'> },
): { topic: string; group: string } | null {
  if (group === null || topic !== original_topic || !policy.forGroupHeader) return null
  return { topic, group: withoutRetrySuffix(group) }
}

/** Each send becomes one Kafka batch per partition, and brokers refuse batches over about 1 MB. */
const maxChunkBytes = 900_000
const maxChunkRecords = 500

/** Splits one topic's records into pieces that one send may hold. A larger record is sent alone. */
export function* chunksOf(records: readonly Outgoing[]): Generator<Outgoing[]> {
  let chunk: Outgoing[] = []
  let bytes = 0
  for (const record of records) {
    const size = bytesAlone(record)
    const most = Math.min(maxChunkBytes, record.maxBatchBytes)
    if (chunk.length > 0 && (bytes + size > most || chunk.length === maxChunkRecords)) {
      yield chunk
      chunk = []
      bytes = 0
    }
    chunk.push(record)
    bytes += size
  }
  if (chunk.length > 0) yield chunk
}
