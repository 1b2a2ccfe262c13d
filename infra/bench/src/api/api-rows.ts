// A million dead letters of many topics, as after weeks of use: most RESOLVED, some DEAD, some waiting, with ids in the
// order of time. Copied as the ingester does it, with the columns that later changes would set.

import { deriveMessageId } from 'dlq-core/domain/record/message-id.ts'
import type { Status } from 'dlq-core/domain/retry/message-state.ts'
import { type CopyColumns, encodeCopy } from 'dlq-core/queries/ingest/copy-format.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import type { BenchDatabase } from '../measure/bench-run.ts'

export const topicCount = 200
export const groupCount = 500
const groupsPerTopic = 25
const rowsPerCopy = 5000
/** The rows are spread over this many days, up to now. */
const days = 60

export type ApiRow = {
  id: string
  original_topic: string
  error_message: string
  payload: string
  status: Status
  retry_count: number
  created_at: Date
  dlq_cluster: string
  dlq_topic: string
  dlq_partition: number
  dlq_offset: bigint
  original_partition: number
  original_offset: bigint
  original_topic_source: string
  consumer_group: string
  record_key: Buffer
  record_value: Buffer
  record_headers: string
  error_class: string
  error_stacktrace: string
  group_id: string
  next_retry_at: Date | null
}

export const apiColumns: CopyColumns<ApiRow> = {
  id: 'uuid',
  original_topic: 'text',
  error_message: 'text',
  payload: 'jsonb',
  status: 'text',
  retry_count: 'int4',
  created_at: 'timestamptz',
  dlq_cluster: 'text',
  dlq_topic: 'text',
  dlq_partition: 'int4',
  dlq_offset: 'int8',
  original_partition: 'int4',
  original_offset: 'int8',
  original_topic_source: 'text',
  consumer_group: 'text',
  record_key: 'bytea',
  record_value: 'bytea',
  record_headers: 'json',
  error_class: 'text',
  error_stacktrace: 'text',
  group_id: 'uuid',
  next_retry_at: 'timestamptz',
}

export function groupIdOf(number: number): string {
  return `00000000-0000-8000-8000-${String(number % groupCount).padStart(12, '0')}`
}

/** Fills the database with `total` rows, and its other tables with the rows that belong to them. */
export async function storeApiRows({ sql }: BenchDatabase, total: number): Promise<void> {
  const now = Date.now()
  const cluster = 'bench'
  // One connection, because the copies take longer than a service's statement may.
  const connection = await sql.reserve()
  try {
    await connection`set statement_timeout = 0`
    await connection`select dlq.create_message_partition(now() - m * interval '1 month') from generate_series(0, 2) m`
    await storeTopicsAndGroups(connection, { cluster, total })
    for (let start = 0; start < total; start += rowsPerCopy) {
      const rows = Array.from({ length: Math.min(rowsPerCopy, total - start) }, (_, at) =>
        rowOf(start + at, { total, now, cluster }),
      )
      const names = Object.keys(apiColumns)
      const stream =
        await connection`copy dlq.dlq_messages (${connection(names)}) from stdin (format binary)`.writable()
      stream.write(encodeCopy(apiColumns, rows))
      await new Promise<void>((resolve, reject) => stream.once('error', reject).end(() => resolve()))
      await connection`select 1`
    }
    // As retriers set it, a minute after each failure.
    while (await hasDeltas(connection)) await connection`select dlq.fold_summary(100000)`
    await connection`vacuum analyze dlq.dlq_summary, dlq.dlq_summary_totals, dlq.dlq_summary_groups, dlq.dlq_summary_deltas`
    await connection`vacuum analyze dlq.dlq_messages`
    await connection`analyze dlq.dlq_groups`
    await connection`checkpoint`
    await connection`reset statement_timeout`
  } finally {
    connection.release()
  }
}

async function hasDeltas(sql: Sql): Promise<boolean> {
  const [row] = await sql<[{ has: boolean }]>`select exists (select from dlq.dlq_summary_deltas) as has`
  return row.has
}

/** The topics and error groups that the rows name. */
export async function storeTopicsAndGroups(
  sql: Sql,
  { cluster, total }: { cluster: string; total: number },
): Promise<void> {
  await sql`
    insert into dlq.dlq_topics (cluster, topic, partitions)
    select ${cluster}, 'topic-' || n || '.dlq.v1', 8 from generate_series(0, ${topicCount - 1}::int) n`
  await sql`
    insert into dlq.dlq_positions (cluster, topic, partition, next_offset)
    select ${cluster}, topic, partition, ${total} from dlq.dlq_topics, generate_series(0, 7) partition`
  await sql`
    insert into dlq.dlq_groups (id, version, error_class, message, title, last_seen_at)
    select ('00000000-0000-8000-8000-' || lpad(n::text, 12, '0'))::uuid, 1, 'com.example.E' || n, 'out of stock', 'E' || n || ' in Billing.take',
           now() - n * interval '1 minute'
    from generate_series(0, ${groupCount - 1}::int) n`
}

function rowOf(index: number, { total, now, cluster }: { total: number; now: number; cluster: string }): ApiRow {
  const topic = (Math.imul(index, 2654435761) >>> 8) % topicCount
  const createdAt = now - Math.floor(((total - index) / total) * days * 86_400_000)
  const status = statusOf(index)
  const dlqTopic = `topic-${topic}.dlq.v1`
  const place = { cluster, topic: dlqTopic, partition: index % 8, offset: BigInt(index), timestamp: BigInt(createdAt) }
  const value = JSON.stringify({
    order_id: String(index),
    customer: index % 50_000,
    note: 'x'.repeat(200 + (index % 200)),
  })
  // A topic has some errors of its own, and some that it shares with others.
  const group = (topic * 5 + ((Math.imul(index, 40503) >>> 4) % groupsPerTopic)) % groupCount
  return {
    id: deriveMessageId(place),
    original_topic: `topic-${topic}`,
    error_message: `stock of item ${index % 9973} is 0, wanted ${index % 90}`,
    payload: value,
    status,
    retry_count: status === 'PENDING' ? index % 3 : 1,
    created_at: new Date(createdAt),
    dlq_cluster: cluster,
    dlq_topic: dlqTopic,
    dlq_partition: place.partition,
    dlq_offset: place.offset,
    original_partition: place.partition,
    original_offset: place.offset,
    original_topic_source: 'header',
    consumer_group: `group-${topic % 7}`,
    record_key: Buffer.from(`customer-${index % 300_000}`),
    record_value: Buffer.from(value),
    record_headers: '[["kafka_dlt-original-topic","topic"],["kafka_dlt-original-offset",{"base64":"AAAAAAAAAAc="}]]',
    error_class: `com.example.E${group}`,
    error_stacktrace: `com.example.E${group}: out of stock\n${'\tat com.example.Billing.take(Billing.java:17)\n'.repeat(10)}`,
    group_id: groupIdOf(group),
    next_retry_at: status === 'PENDING' && index % 2 === 0 ? new Date(now + index) : null,
  }
}

/** One in ten waits, one in twenty is DEAD, few are being retried. */
function statusOf(index: number): Status {
  if (index % 10_000 === 7) return 'RETRYING'
  if (index % 10 === 3) return 'PENDING'
  return index % 20 === 5 ? 'DEAD' : 'RESOLVED'
}
