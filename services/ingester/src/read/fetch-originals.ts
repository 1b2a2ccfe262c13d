// Fetches single records by their coordinates: what failed, where a dead letter says only where it
// stands (needs-original.ts). An original that cannot be had must not hold up its dead letter, so
// everything here is bounded and nothing throws.

import type { Coordinates, Header } from 'dlq-core/record.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import kafkajs, { type Admin, type KafkaMessage } from 'kafkajs'

export type Original = {
  key: Buffer | null
  value: Buffer | null
  headers: readonly Header[]
  /** Milliseconds since the epoch; −1 where the record has none. */
  timestamp: bigint
}

/**
 * `gone`: Kafka has no committed record there (deleted, compacted away, aborted, its topic deleted).
 * `unreachable`: it could not be read now, or not within the bounds, or its batch cannot be decoded.
 */
export type FetchedOriginal = Original | 'gone' | 'unreachable'

export type FetchLimits = {
  /** For all of them together. */
  timeoutMs: number
  maxFetches: number
  /** Of the keys, values and headers returned. */
  maxBytes: number
}

const defaultLimits: FetchLimits = { timeoutMs: 10_000, maxFetches: 200, maxBytes: 32 * 1024 * 1024 }
const concurrentPartitions = 4
/** What one fetch may return where several wanted records lie close together. */
const maxFetchBytes = 1024 * 1024
/** What lies further apart is fetched one by one, else all between would be read for nothing. */
const maxGap = 1000n
/** Kafka returns at least one batch, however small the bound is. */
const oneBatch = 1

/** The name under which `fetchOriginals` answers. */
export function originalKey({ topic, partition, offset }: Coordinates): string {
  return `${topic}:${partition}:${offset}`
}

/**
 * Fetches the records at `wanted`, with an `admin` that is connected. The answer has an entry for each,
 * by "topic:partition:offset". Never throws: what fails is logged and `unreachable`.
 */
export async function fetchOriginals(
  admin: Pick<Admin, 'fetchRecords'>,
  wanted: readonly Coordinates[],
  { log, limits = {} }: { log?: Pick<Log, 'warn'>; limits?: Partial<FetchLimits> } = {},
): Promise<Map<string, FetchedOriginal>> {
  const { timeoutMs, maxFetches, maxBytes } = { ...defaultLimits, ...limits }
  const originals = new Map<string, FetchedOriginal>(wanted.map((place) => [originalKey(place), 'unreachable']))
  const budget: Budget = { fetches: maxFetches, bytes: maxBytes, isOver: false }
  const partitions = byPartition(wanted)

  const work = async () => {
    for (let next = partitions.pop(); next !== undefined && !budget.isOver; next = partitions.pop()) {
      try {
        await fetchPartition({ admin, budget, originals }, next)
      } catch (error) {
        log?.warn({ topic: next.topic, partition: next.partition, error }, 'originals_unreachable')
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
type Fetching = { admin: Pick<Admin, 'fetchRecords'>; budget: Budget; originals: Map<string, FetchedOriginal> }
/** The offsets ascend. */
type PartitionOffsets = { topic: string; partition: number; offsets: bigint[] }

function byPartition(wanted: readonly Coordinates[]): PartitionOffsets[] {
  const partitions = Map.groupBy(wanted, ({ topic, partition }) => `${topic}:${partition}`)
  return [...partitions.values()].map((places) => ({
    topic: places[0]!.topic,
    partition: places[0]!.partition,
    offsets: [...new Set(places.map(({ offset }) => offset))].sort((a, b) => (a < b ? -1 : 1)),
  }))
}

async function fetchPartition({ admin, budget, originals }: Fetching, { topic, partition, offsets }: PartitionOffsets) {
  let done = 0
  while (done < offsets.length && budget.fetches > 0) {
    budget.fetches--
    const offset = offsets[done]!
    const next = offsets[done + 1]
    const maxBytes = next !== undefined && next - offset <= maxGap ? maxFetchBytes : oneBatch
    const { end, messages } = await fetchStretch(admin, { topic, partition, offset, maxBytes })
    if (budget.isOver || end <= offset) return
    for (; done < offsets.length && offsets[done]! < end; done++) {
      const key = originalKey({ topic, partition, offset: offsets[done]! })
      originals.set(key, originalAt(offsets[done]!, messages, budget))
    }
  }
}

/** All committed records from an offset up to, and without, `end`. What is not among them does not exist. */
type Stretch = { end: bigint; messages: readonly KafkaMessage[] }

const endOfLog = 2n ** 63n
const nothingLeft: Stretch = { end: endOfLog, messages: [] }

async function fetchStretch(
  admin: Pick<Admin, 'fetchRecords'>,
  { topic, partition, offset, maxBytes }: Coordinates & { maxBytes: number },
): Promise<Stretch> {
  try {
    const fetched = await admin.fetchRecords({ topic, partition, offset: String(offset), maxBytes })
    const end = BigInt(fetched.nextOffset)
    // Nothing although the log goes on: the record is in a transaction that has not ended, and may yet come.
    return end === offset && offset >= BigInt(fetched.highWatermark) ? nothingLeft : { end, messages: fetched.messages }
  } catch (error) {
    if (error instanceof kafkajs.KafkaJSOffsetOutOfRange) {
      const low = BigInt(error.lowOffset ?? offset)
      return low > offset ? { end: low, messages: [] } : nothingLeft
    }
    if (error instanceof kafkajs.KafkaJSProtocolError && missingTopic.has(error.type)) return nothingLeft
    throw error
  }
}

const missingTopic = new Set(['UNKNOWN_TOPIC_OR_PARTITION', 'INVALID_TOPIC_EXCEPTION'])

function originalAt(offset: bigint, messages: readonly KafkaMessage[], budget: Budget): FetchedOriginal {
  const message = messages.find((message) => {
    const last = BigInt(message.offset)
    return message.undecodable ? BigInt(message.undecodable.firstOffset) <= offset && offset <= last : last === offset
  })
  if (message === undefined) return 'gone'
  const bytes = sizeOf(message)
  if (message.undecodable || bytes > budget.bytes) return 'unreachable'
  budget.bytes -= bytes
  return copyOf(message)
}

function sizeOf({ key, value, headerPairs }: KafkaMessage): number {
  const headerBytes = headerPairs.reduce((sum, [name, value]) => sum + name.length + (value?.length ?? 0), 0)
  return (key?.length ?? 0) + (value?.length ?? 0) + headerBytes
}

/** kafkajs's buffers are views of all that was fetched; a copy does not keep that in memory. */
function copyOf({ key, value, headerPairs, timestamp }: KafkaMessage): Original {
  const copy = (bytes: Buffer | null) => (bytes === null ? null : Buffer.from(bytes))
  return {
    key: copy(key),
    value: copy(value),
    headers: headerPairs.map(([name, bytes]) => [name, copy(bytes)]),
    timestamp: BigInt(timestamp),
  }
}
