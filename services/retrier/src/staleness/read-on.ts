// One fetch of a walk through a partition, with what is known of the records in it that we sent ourselves.

import { republishHeaderNames } from 'dlq-core/domain/failure/families/own.ts'
import type { PartitionPlace } from 'dlq-core/domain/record/record-place.ts'
import {
  keyText,
  type OpenMessage,
  type PartitionScan,
  type ScannedRecord,
} from 'dlq-core/domain/staleness/partition-scan.ts'
import { listOriginsOf, type SentBefore } from 'dlq-core/queries/staleness/answers.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { TopicReader } from 'dlq-core/runtime/kafka/topic-reader.ts'
import type { KafkaMessage } from 'kafkajs'

export type ReadDeps = { sql: Database; reader: Pick<TopicReader, 'fetchRecords'> }

/** `end`: nothing more is committed. `moved`: Kafka has deleted the offset, or the partition. */
export type ReadStep = { kind: 'read'; bytes: number } | { kind: 'end' } | { kind: 'moved' }

export type PartitionRead = {
  /** For the scan: whether a record is one that we sent, of this message or of an older one. */
  isOld(record: ScannedRecord, message: OpenMessage): boolean
  /** Fetches once, where the scan asks. @throws where Kafka refuses or does not answer */
  step(scan: PartitionScan): Promise<ReadStep>
}

const maxFetchBytes = 1024 * 1024
/** About what a record takes beside key and value. Aborted records and markers count as this. */
const recordOverheadBytes = 70
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export function createPartitionRead({ sql, reader }: ReadDeps, { topic, partition }: PartitionPlace): PartitionRead {
  const sent = new Map<string, SentBefore | null>()

  async function learn(ids: readonly string[]): Promise<void> {
    const unknown = [...new Set(ids)].filter((id) => !sent.has(id))
    for (const id of unknown) sent.set(id, null)
    for (const found of await listOriginsOf(sql, unknown)) sent.set(found.id, found)
  }

  return {
    isOld({ republished }, { id, offset }) {
      if (republished === null) return false
      if (republished === id) return true
      const origin = sent.get(republished)
      // Headers travel: a record made from another topic's carries its mark, and is new here.
      if (!origin || origin.original_topic !== topic || origin.original_partition !== partition) return false
      return origin.original_offset !== null && origin.original_offset <= offset
    },
    async step(scan) {
      const offset = scan.position()
      if (offset === null) return { kind: 'end' }
      const fetched = await reader.fetchRecords({ topic, partition, offset, maxBytes: maxFetchBytes })
      if (fetched.kind !== 'records') return { kind: 'moved' }
      if (fetched.nextOffset === offset) return { kind: 'end' }
      const records = fetched.messages.map(toScanned)
      await learn(
        records.flatMap(({ key, republished }) =>
          republished !== null && key !== null && scan.wants(keyText(key)) ? [republished] : [],
        ),
      )
      const payload = fetched.messages.reduce(
        (sum, { key, value }) => sum + (key?.length ?? 0) + (value?.length ?? 0),
        0,
      )
      const bytes = payload + Number(fetched.nextOffset - offset) * recordOverheadBytes
      scan.take({ records, nextOffset: fetched.nextOffset, bytes })
      return { kind: 'read', bytes }
    },
  }
}

function toScanned({ offset, key, timestamp, headers, undecodable }: KafkaMessage): ScannedRecord {
  const mark = [headers?.[republishHeaderNames.messageId] ?? []].flat().at(-1)?.toString()
  const republished = mark !== undefined && uuid.test(mark) ? mark.toLowerCase() : null
  const isUndecodable = undecodable !== undefined
  return { offset: BigInt(offset), key, timestamp: Number(timestamp), republished, isUndecodable }
}
