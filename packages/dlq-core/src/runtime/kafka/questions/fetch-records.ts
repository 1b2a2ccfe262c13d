// Reads records by their coordinates with single fetches: a consumer would need a separate group and a
// rebalance for each. The topic does not become one of kafkajs's target topics: when one of those is
// deleted, every later refresh of the metadata fails.

import kafkajs, { type KafkaMessage } from 'kafkajs'
import { Batch, type Broker, type Cluster, earliest, isolationLevel } from '../kafkajs-internals.ts'
import { askAgain, findLeader } from './ask-leader.ts'

export type FetchPlace = {
  topic: string
  partition: number
  offset: bigint
  /** Kafka returns at least one batch, however small the bound is. */
  maxBytes: number
}

/**
 * `records`: the committed messages of one fetch, none where the offset is the log's end or in an open
 * transaction. `nextOffset` is the offset after all that was fetched, aborted records and markers included;
 * it is the requested one where nothing was. `isAborted`: a record stands at the requested offset, and its transaction was
 * aborted.
 * `out-of-range`: the offset is deleted, or not there yet; the log begins at `lowOffset`.
 * `no-partition`: the topic or the partition does not exist.
 */
export type FetchedRecords =
  | { kind: 'records'; messages: KafkaMessage[]; nextOffset: bigint; highWatermark: bigint; isAborted: boolean }
  | { kind: 'out-of-range'; lowOffset: bigint }
  | { kind: 'no-partition' }

/** How long the broker may wait for further records. */
const maxWaitMs = 100

/** One read-committed fetch from the place on. Tries again where the partition's leader moves or goes away. */
export function fetchRecords(cluster: Cluster, place: FetchPlace): Promise<FetchedRecords> {
  return askAgain(cluster, async () => {
    try {
      return await fetchOnce(cluster, place)
    } catch (error) {
      if (isMissingPartition(error)) return { kind: 'no-partition' }
      throw error
    }
  })
}

const missingPartition = ['UNKNOWN_TOPIC_OR_PARTITION', 'INVALID_TOPIC_EXCEPTION']

const isMissingPartition = (error: unknown) =>
  error instanceof kafkajs.KafkaJSProtocolError && missingPartition.includes(error.type)

async function fetchOnce(cluster: Cluster, place: FetchPlace): Promise<FetchedRecords> {
  const { topic, partition, offset, maxBytes } = place
  const leader = await findLeader(cluster, place)
  if (leader === null) return { kind: 'no-partition' }
  try {
    const { responses } = await leader.fetch({
      isolationLevel: isolationLevel.READ_COMMITTED,
      maxWaitTime: maxWaitMs,
      minBytes: 1,
      maxBytes,
      topics: [{ topic, partitions: [{ partition, fetchOffset: String(offset), maxBytes }] }],
    })
    const batch = new Batch(topic, String(offset), responses[0]!.partitions[0]!)
    return {
      kind: 'records',
      messages: batch.messages,
      nextOffset: batch.rawMessages.length > 0 ? BigInt(batch.lastOffset()) + 1n : offset,
      highWatermark: BigInt(batch.highWatermark),
      isAborted: isAborted(batch, String(offset)),
    }
  } catch (error) {
    if (!(error instanceof kafkajs.KafkaJSOffsetOutOfRange)) throw error
    return { kind: 'out-of-range', lowOffset: await findLowOffset(leader, place) }
  }
}

function isAborted({ rawMessages, messages }: Batch, offset: string): boolean {
  const record = rawMessages.find((raw) => raw.offset === offset)
  return record !== undefined && !record.isControlRecord && messages[0]?.offset !== offset
}

async function findLowOffset(leader: Broker, { topic, partition }: FetchPlace): Promise<bigint> {
  const { responses } = await leader.listOffsets({
    isolationLevel: isolationLevel.READ_COMMITTED,
    topics: [{ topic, partitions: [{ partition, timestamp: earliest }] }],
  })
  return BigInt(String(responses[0]!.partitions[0]!.offset))
}
