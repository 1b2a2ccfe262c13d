// Dead letters as after half a year of use, for a database of any size: few topics have most of them, and few errors
// most of a topic's. Bodies have about 600 bytes, without a stored payload ("payload: derived"), as is usual at this
// size. The same number always gives the same row.

import { deriveMessageId } from 'dlq-core/domain/record/message-id.ts'
import type { Status } from 'dlq-core/domain/retry/message-state.ts'
import type { CopyColumns } from 'dlq-core/queries/ingest/copy-format.ts'
import { type ApiRow, apiColumns, groupCount, groupIdOf, topicCount } from '../api/api-rows.ts'
import { words } from '../ingest/dead-letters.ts'

/** The months that the rows are spread over, the present one among them. */
export const months = 6
export const cluster = 'bench'
export const partitionsPerTopic = 8
const groupsPerTopic = 12
const keys = 300_000

export type SizeRow = Omit<ApiRow, 'payload'> & { updated_at: Date; record_timestamp: Date }

const { payload: _derived, ...columnsOfBoth } = apiColumns
export const sizeColumns: CopyColumns<SizeRow> = {
  ...columnsOfBoth,
  updated_at: 'timestamptz',
  record_timestamp: 'timestamptz',
}

/** Row number `index`, which failed at `at` (ms). `now` decides which waiting rows are due. */
export function sizeRow(index: number, { at, now }: { at: number; now: number }): SizeRow {
  const topic = Math.floor(topicCount * dice(index, 1) ** 3)
  const group = (topic * 7 + Math.floor(groupsPerTopic * dice(index, 2) ** 2)) % groupCount
  const status = statusOf(dice(index, 3))
  const failedAt = new Date(at)
  const dlqTopic = `topic-${topic}.dlq.v1`
  const place = { partition: index % partitionsPerTopic, offset: BigInt(index) }
  return {
    id: deriveMessageId({ cluster, topic: dlqTopic, ...place, timestamp: BigInt(at) }),
    original_topic: `topic-${topic}`,
    error_message: `stock of item ${index % 9973} is 0, wanted ${index % 90}`,
    status,
    retry_count: status === 'PENDING' ? index % 3 : status === 'DEAD' ? 3 : 1,
    created_at: failedAt,
    updated_at: failedAt,
    dlq_cluster: cluster,
    dlq_topic: dlqTopic,
    dlq_partition: place.partition,
    dlq_offset: place.offset,
    original_partition: place.partition,
    original_offset: place.offset,
    original_topic_source: 'header',
    consumer_group: `group-${topic % 7}`,
    record_key: Buffer.from(`customer-${index % keys}`),
    record_value: Buffer.from(
      `{"order_id":"${index}","customer":${index % keys},"lines":${lines[index & 255]},"note":"${note(index)}"}`,
    ),
    record_headers: `[["kafka_dlt-original-topic","topic-${topic}"],["kafka_dlt-exception-stacktrace",{"column":"error_stacktrace"}]]`,
    record_timestamp: failedAt,
    error_class: `com.example.E${group}`,
    error_stacktrace: `com.example.E${group}: out of stock\n${frames}`,
    group_id: groupIdOf(group),
    // A third of them due by now.
    next_retry_at: status === 'PENDING' ? new Date(now + (index % 3 === 0 ? -index : index) - 1) : null,
  }
}

const frames = '\tat com.example.Billing.take(Billing.java:17)\n\tat com.example.Main.run(Main.java:9)'

/** Most are RESOLVED, some DEAD, few wait. */
function statusOf(dice: number): Status {
  if (dice < 0.03) return 'PENDING'
  return dice < 0.1 ? 'DEAD' : 'RESOLVED'
}

/** Uniform from 0 to below 1: a different value for each number and each call. */
function dice(index: number, throwOf: number): number {
  let mixed = Math.imul(index ^ (throwOf * 0x9e3779b9), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32
}

/** Text of about 500 bytes. */
const lines = Array.from({ length: 256 }, (_, of) =>
  JSON.stringify(
    Array.from({ length: 7 }, (_, line) => ({
      sku: Math.floor(dice(of, line + 10) * 1e9).toString(36),
      quantity: of % 20,
      price: Math.floor(dice(of, line + 20) * 10_000) / 100,
      note: `${words[(of + line) % 10]} ${words[(of >> 4) % 10]}`,
    })),
  ),
)

function note(index: number): string {
  return `${words[index % 10]} ${words[(index >> 3) % 10]} ${index.toString(36)}`
}
