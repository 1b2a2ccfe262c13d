// From claimed messages to records on their way: where each goes, and which cannot go at all.

import type { ClaimedMessage } from 'dlq-core/queries/batches.ts'
import type { Header } from 'dlq-core/record.ts'
import { toRepublishedRecord } from 'dlq-core/republished-record.ts'
import type { RetryPolicy } from 'dlq-core/retry-policy.ts'
import type { TargetTopic, TargetTopics } from './target-topics.ts'

/** A record with its place; `timestamp` undefined means the present. */
export type Outgoing = {
  id: string
  topic: string
  partition: number
  key: Buffer | null
  value: Buffer | null
  headers: readonly Header[]
  timestamp: string | undefined
}

/** A message that waits for a person now. */
export type Refusal = { id: string; topic: string; reason: string }

export type Prepared = {
  outgoing: Outgoing[]
  refused: Refusal[]
  /** Messages of topics that cannot be written to now, though Kafka is there; the attempt is not counted. */
  unavailable: { id: string; topic: string; error: Error }[]
  /** Messages of which the policy says by now, or says of their DLQ topic alone, that they are not to be sent. */
  paused: { id: string; topic: string }[]
}

export type PrepareDeps = {
  targets: TargetTopics
  policyOf: (message: { original_topic: string; dlq_topic: string | null }) => RetryPolicy
  now: () => Date
}

/** @throws where Kafka is away and a topic's metadata is not remembered */
export async function prepareOutgoing(
  messages: readonly ClaimedMessage[],
  { targets, policyOf, now }: PrepareDeps,
): Promise<Prepared> {
  const prepared: Prepared = { outgoing: [], refused: [], unavailable: [], paused: [] }
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
    else if (known.kind === 'refused') prepared.refused.push({ id, topic, reason: known.reason })
    else if (known.kind === 'unavailable') prepared.unavailable.push({ id, topic, error: known.error })
    else {
      try {
        prepared.outgoing.push(toOutgoing(message, { target: known.target, policy, now: now() }))
      } catch (error) {
        // A row changed by hand may not be a record any more. It waits for a person; the others go.
        const reason = `the stored record cannot be rebuilt: ${(error as Error).message}`
        prepared.refused.push({ id, topic, reason })
      }
    }
  }
  return prepared
}

/** Where a message is sent: where somebody said for it, else as the policy says, else where it came from. */
export function targetOf(
  { target_topic, original_topic }: Pick<ClaimedMessage, 'target_topic' | 'original_topic'>,
  { redirectTopic }: Pick<RetryPolicy, 'redirectTopic'>,
): string {
  return target_topic ?? redirectTopic ?? original_topic
}

type Addressing = { target: TargetTopic; policy: RetryPolicy; now: Date }

function toOutgoing(message: ClaimedMessage, { target, policy, now }: Addressing): Outgoing {
  const { key, value, headers } = toRepublishedRecord(message)
  const kept = policy.timestamp === 'keep' ? (message.original_timestamp ?? message.record_timestamp) : null
  return {
    ...{ id: message.id, topic: target.topic, key, value, headers },
    partition: target.partitionFor({ partition: message.original_partition, key, value }),
    timestamp: target.timestampFor(kept, now),
  }
}

/** One send becomes one Kafka batch per partition, and brokers refuse batches over about 1 MB. */
const maxChunkBytes = 900_000
const maxChunkRecords = 500

/** Records of one topic in pieces that one send may hold; a record that is larger goes alone. */
export function* chunksOf(records: readonly Outgoing[]): Generator<Outgoing[]> {
  let chunk: Outgoing[] = []
  let bytes = 0
  for (const record of records) {
    const size = sizeOf(record)
    if (chunk.length > 0 && (bytes + size > maxChunkBytes || chunk.length === maxChunkRecords)) {
      yield chunk
      chunk = []
      bytes = 0
    }
    chunk.push(record)
    bytes += size
  }
  if (chunk.length > 0) yield chunk
}

function sizeOf({ key, value, headers }: Outgoing): number {
  let bytes = 70 + (key?.length ?? 0) + (value?.length ?? 0)
  for (const [name, value] of headers) bytes += name.length + (value?.length ?? 0) + 4
  return bytes
}
