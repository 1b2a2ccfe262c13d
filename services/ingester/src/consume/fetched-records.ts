// The records of a fetch, each made of its bytes when somebody asks for it: while a batch waits for those before it, and
// for PostgreSQL, only Kafka's answer is kept.

import type { DeadLetterRecord, Records } from 'dlq-core/domain/record/record.ts'
import type { KafkaMessage } from 'kafkajs'
import { withinBounds } from '../read/value-bounds.ts'

export type RecordsOf = {
  cluster: string
  topic: string
  partition: number
  /** Larger values are left out. */
  maxValueBytes: number
}

export function fetchedRecords(messages: readonly KafkaMessage[], of: RecordsOf): Records {
  return {
    length: messages.length,
    *[Symbol.iterator]() {
      for (const message of messages) yield withinBounds(toRecord(message, of), of.maxValueBytes)
    },
  }
}

function toRecord(message: KafkaMessage, { cluster, topic, partition }: RecordsOf): DeadLetterRecord {
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
