// dlq_messages and its archive: all that is known of one message.

import type { OriginalTopicSource } from '../topic-names.ts'
import { etag, type SpecifiedMessage } from './message-read.ts'
import type { Sql } from './sql.ts'
import { inScope, type TopicScope } from './topic-scope.ts'

export type MessageDetail = SpecifiedMessage & {
  dlq_cluster: string | null
  dlq_topic: string | null
  dlq_partition: number | null
  dlq_offset: bigint | null
  original_partition: number | null
  original_offset: bigint | null
  original_timestamp: Date | null
  original_topic_source: OriginalTopicSource | 'caller'
  consumer_group: string | null
  record_key: Buffer | null
  value_bytes: number | null
  /** As header-json.ts stores them; null for a message that never was a record. */
  record_headers: string | null
  record_timestamp: Date | null
  record_timestamp_type: string | null
  record_source: string
  error_class: string | null
  error_stacktrace: string | null
  group_id: string | null
  next_retry_at: Date | null
  retry_requested: boolean
  failure_count: number
  first_failed_at: Date
  last_failed_at: Date
  run_id: string | null
  successor_of: string | null
  target_topic: string | null
  edits: number
  archived_at: Date | null
  /** The automatic retries of its error group are paused, for this reason. */
  group_paused: string | null
  etag: string
}

/** The message, in the archive too; null where there is none to be seen. */
export async function getMessageDetail(
  sql: Sql,
  { id, scope }: { id: string; scope: TopicScope },
): Promise<MessageDetail | null> {
  return (await detailFrom(sql, { id, scope, archived: false })) ?? detailFrom(sql, { id, scope, archived: true })
}

async function detailFrom(
  sql: Sql,
  { id, scope, archived }: { id: string; scope: TopicScope; archived: boolean },
): Promise<MessageDetail | null> {
  const [row] = await sql<MessageDetail[]>`
    select id, original_topic, error_message, retry_count, max_retries, payload,
           case when payload is null and octet_length(record_value) between 1 and 1048576 then record_value end as unprojected_value,
           status, created_at, updated_at, last_retry_at, dlq_cluster, dlq_topic, dlq_partition, dlq_offset,
           original_partition, original_offset, original_timestamp, original_topic_source, consumer_group,
           record_key, octet_length(record_value) as value_bytes, record_headers, record_timestamp, record_timestamp_type,
           record_source, error_class, error_stacktrace, group_id, next_retry_at, retry_requested, failure_count,
           first_failed_at, last_failed_at, run_id, successor_of, target_topic, edits,
           ${archived ? sql`archived_at` : sql`null::timestamptz`} as archived_at,
           (select p.reason from dlq.dlq_group_pauses p
            where p.original_topic = m.original_topic and p.group_id = m.group_id and p.resumed_at is null) as group_paused,
           ${etag(sql)} as etag
    from ${tableOf(sql, archived)} m
    where id = ${id} and ${inScope(sql, scope, 'm.')}
    limit 1`
  return row ?? null
}

export type RecordBytes = { bytes: Buffer | null; payload: string | null }

/** The record's key or value; `payload` is the JSON text of a message that never was a record. Null where there is no message to be seen. */
export async function getRecordBytes(
  sql: Sql,
  { id, scope, part }: { id: string; scope: TopicScope; part: 'record_key' | 'record_value' },
): Promise<RecordBytes | null> {
  for (const archived of [false, true]) {
    const [row] = await sql<RecordBytes[]>`
      select ${sql(part)} as bytes,
             case when record_headers is null and record_value is null and ${part === 'record_value'} then payload end as payload
      from ${tableOf(sql, archived)}
      where id = ${id} and ${inScope(sql, scope)}
      limit 1`
    if (row) return row
  }
  return null
}

function tableOf(sql: Sql, archived: boolean) {
  return archived ? sql`dlq.dlq_messages_archive` : sql`dlq.dlq_messages`
}
