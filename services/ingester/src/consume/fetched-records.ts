// The records of a fetch, each made of its bytes when somebody asks for it: while a batch waits for those before it, and
// for PostgreSQL, only Kafka's answer is kept.

import type { DeadLetterRecord, Records } from 'dlq-core/domain/record/record.ts'
import type { PartitionOf } from 'dlq-core/queries/ingest/positions.ts'
import type { KafkaMessage } from 'kafkajs'
import { withinBounds } from '../read/value-bounds.ts'

/** Larger values than `maxValueBytes` are left out. */
export function fetchedRecords(
  messages: readonly KafkaMessage[],
  { maxValueBytes, ...place }: PartitionOf & { maxValueBytes: number },
): Records {
  return {
    length: messages.length,
    *[Symbol.iterator]() {
      for (const message of messages) yield withinBounds(toRecord(message, place), maxValueBytes)
    },
  }
}

export function toRecord(message: KafkaMessage, { cluster, topic, partition }: PartitionOf): DeadLetterRecord {
  const { offset, timestamp, timestampType, key, value, headerPairs: headers, undecodable } = message
  const record = {
    cluster,
    topic,
    partition,
    offset: BigInt(offset),
    timestamp: BigInt(timestamp),
    timestampType,
    key,
    value,
    headers,
  }
  return undecodable ? { ...record, undecodable: undecodable.reason } : record
}
