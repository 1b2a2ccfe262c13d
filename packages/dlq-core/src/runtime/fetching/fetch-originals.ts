// Fetches single records by their coordinates, for dead letters that say only where the failed record stands
// (needs-original.ts). An original that cannot be fetched must not delay its dead letter: everything here is bounded, and
// nothing throws.

import type { KafkaMessage } from 'kafkajs'
import type { FetchedOriginal, OriginalRecord } from '../../domain/origin/compare-origin.ts'
import { partitionKey, placeKey, type RecordPlace } from '../../domain/record/record-place.ts'
import { refusalOf } from '../kafka/refusals.ts'
import type { TopicReader } from '../kafka/topic-reader.ts'
import type { Log } from '../log.ts'

export type FetchLimits = {
  /** For all fetches together. */
  timeoutMs: number
  maxFetches: number
  /** Of all keys, values and headers returned. */
  maxBytes: number
}

const defaultLimits: FetchLimits = { timeoutMs: 10_000, maxFetches: 200, maxBytes: 32 * 1024 * 1024 }
const concurrentPartitions = 4
/** The bound of a fetch where several wanted records lie close together. */
const maxFetchBytes = 1024 * 1024
/** Records further apart are fetched one by one: Kafka would return all records between them. */
const maxGap = 1000n
/** Kafka returns at least one batch, however small the bound is. */
const oneBatch = 1

/**
 * Fetches the records at `wanted`. Returns an entry for each, by `placeKey`. Never throws: a record that cannot be
 * fetched is logged and `unreachable`.
 */
export async function fetchOriginals(
  reader: Pick<TopicReader, 'fetchRecords'>,
  wanted: readonly RecordPlace[],
  {
    log,
    limits = {},
    onProblem,
  }: {
    log?: Pick<Log, 'warn'>
    limits?: Partial<FetchLimits>
    /** Told why a topic's records are unreachable. */
    onProblem?: (topic: string, problem: string) => void
  } = {},
): Promise<Map<string, FetchedOriginal>> {
  const { timeoutMs, maxFetches, maxBytes } = { ...defaultLimits, ...limits }
  const originals = new Map<string, FetchedOriginal>(wanted.map((place) => [placeKey(place), 'unreachable']))
  const budget: Budget = { fetches: maxFetches, bytes: maxBytes, isOver: false }
  const partitions = byPartition(wanted)

  const work = async () => {
    for (let next = partitions.pop(); next !== undefined && !budget.isOver; next = partitions.pop()) {
      try {
        await fetchPartition({ reader, budget, originals }, next)
      } catch (error) {
        log?.warn({ topic: next.topic, partition: next.partition, error }, 'originals_unreachable')
        const missing = refusalOf(error) === null ? null : `missing: Read on Topic ${next.topic}`
        onProblem?.(next.topic, missing ?? (error as Error).message)
        if (missing !== null) log?.warn({ missing: `Read on Topic ${next.topic}` }, 'acl_missing')
      }
    }
  }
  const expiry = Promise.withResolvers<void>()
  const timer = setTimeout(() => {
    log?.warn({ wanted: wanted.length, timeoutMs }, 'originals_timed_out')
    expiry.resolve()
  }, timeoutMs)
  await Promise.race([Promise.all(Array.from({ length: concurrentPartitions }, work)), expiry.promise])
  clearTimeout(timer)
  // A fetch that is still under way must not change what the caller now holds.
  budget.isOver = true
  return originals
}

type Budget = { fetches: number; bytes: number; isOver: boolean }
type Fetching = { reader: Pick<TopicReader, 'fetchRecords'>; budget: Budget; originals: Map<string, FetchedOriginal> }
/** The offsets ascend. */
type PartitionOffsets = { topic: string; partition: number; offsets: bigint[] }

function byPartition(wanted: readonly RecordPlace[]): PartitionOffsets[] {
  const partitions = Map.groupBy(wanted, partitionKey)
  return [...partitions.values()].map((places) => ({
    topic: places[0]!.topic,
    partition: places[0]!.partition,
    offsets: [...new Set(places.map(({ offset }) => offset))].sort((a, b) => (a < b ? -1 : 1)),
  }))
}

async function fetchPartition(
  { reader, budget, originals }: Fetching,
  { topic, partition, offsets }: PartitionOffsets,
) {
  let done = 0
  while (done < offsets.length && budget.fetches > 0) {
    budget.fetches--
    const offset = offsets[done]!
    const next = offsets[done + 1]
    const maxBytes = next !== undefined && next - offset <= maxGap ? maxFetchBytes : oneBatch
    const { end, messages } = await fetchStretch(reader, { topic, partition, offset, maxBytes })
    if (budget.isOver || end <= offset) return
    // Both ascend, so each is passed once: a fetch may have ten thousand small records, and a batch wants a thousand.
    for (let at = 0; done < offsets.length && offsets[done]! < end; done++) {
      const offset = offsets[done]!
      while (at < messages.length && BigInt(messages[at]!.offset) < offset) at++
      originals.set(placeKey({ topic, partition, offset }), originalAt(offset, messages[at], budget))
    }
  }
}

/** All committed records from an offset up to `end`, without it. A record that is not among them does not exist. */
type Stretch = { end: bigint; messages: readonly KafkaMessage[] }

const endOfLog = 2n ** 63n
const nothingLeft: Stretch = { end: endOfLog, messages: [] }

async function fetchStretch(
  reader: Pick<TopicReader, 'fetchRecords'>,
  place: RecordPlace & { maxBytes: number },
): Promise<Stretch> {
  const fetched = await reader.fetchRecords(place)
  if (fetched.kind === 'no-partition') return nothingLeft
  if (fetched.kind === 'out-of-range')
    return fetched.lowOffset > place.offset ? { end: fetched.lowOffset, messages: [] } : nothingLeft
  const { messages, nextOffset: end, highWatermark } = fetched
  // Nothing although the log goes on: the record is in a transaction that has not ended, and may yet come.
  return end === place.offset && place.offset >= highWatermark ? nothingLeft : { end, messages }
}

/** `message`: the first one that does not end before the offset. */
function originalAt(offset: bigint, message: KafkaMessage | undefined, budget: Budget): FetchedOriginal {
  // A batch that cannot be decoded is one message, with the offset of its last record.
  if (message === undefined || BigInt(message.undecodable?.firstOffset ?? message.offset) > offset) return 'gone'
  const bytes = messageBytes(message)
  if (message.undecodable || bytes > budget.bytes) return 'unreachable'
  budget.bytes -= bytes
  return copyOf(message)
}

/** The bytes of key, value and headers. */
export function messageBytes({ key, value, headerPairs }: Pick<KafkaMessage, 'key' | 'value' | 'headerPairs'>): number {
  const headerBytes = headerPairs.reduce((sum, [name, value]) => sum + name.length + (value?.length ?? 0), 0)
  return (key?.length ?? 0) + (value?.length ?? 0) + headerBytes
}

/** kafkajs's buffers are views of the whole fetch; a copy lets that memory go. */
function copyOf({ key, value, headerPairs, timestamp }: KafkaMessage): OriginalRecord {
  const copy = (bytes: Buffer | null) => (bytes === null ? null : Buffer.from(bytes))
  return {
    key: copy(key),
    value: copy(value),
    headers: headerPairs.map(([name, bytes]) => [name, copy(bytes)]),
    timestamp: BigInt(timestamp),
  }
}
