// dlq_messages and its archive: everything stored about one message.

import type { OriginalTopicSource } from '../../domain/failure/topic-names.ts'
import { firstFailedAt, lastFailedAt } from '../failed-at.ts'
import { isUnheld } from '../retry/expired-leases.ts'
import type { HeldTopic } from '../retry/retriers.ts'
import { isInForce } from '../retry/topic-pauses.ts'
import type { Sql } from '../sql.ts'
import { messageInScope, type TopicScope, topicInScope } from '../topic-scope.ts'
import { etag, type SpecifiedMessage } from './message-view.ts'

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
  /** As header-json.ts stores them. Null for a message without a record. */
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
  related_to: string | null
  held_by_route: boolean
  target_topic: string | null
  edits: number
  /** The size of its value, where that was too large to be stored. */
  unstored_value_bytes: bigint | null
  value_schema: number | null
  decode_state: number | null
  /** See origin-state.ts. */
  origin_state: number | null
  is_scrubbed: boolean | null
  archived_at: Date | null
  /** Since when nothing is left of it. */
  erased_at: Date | null
  /** It is RETRYING, and no retrier and no lease holds it. */
  is_unheld: boolean
  /** Why the automatic retries of its error group are paused. Null where they are not. */
  group_paused: string | null
  /** What retriers hold now because records for it are refused, whatever the topic: topic and reason. */
  held_topics: Pick<HeldTopic, 'topic' | 'reason'>[]
  /** Its topics that somebody has paused; `why` is null where the scope hides the topic. */
  paused_topics: { topic: string; why: string | null }[]
  etag: string
}

/** The message, also an archived one. Null where it does not exist or is outside the scope. */
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
  // Another message that the scope hides does not exist.
  const ofScope = (column: 'successor_of' | 'related_to') => {
    if (scope === null) return sql(column)
    const isIn = (table: 'dlq.dlq_messages' | 'dlq.dlq_messages_archive') => sql`
      exists (select from ${sql(table)} other where other.id = m.${sql(column)} and ${messageInScope(sql, scope, 'other.')})`
    return sql`
      case when ${isIn('dlq.dlq_messages')} or ${isIn('dlq.dlq_messages_archive')} then m.${sql(column)} end as ${sql(column)}`
  }
  const [row] = await sql<
    (Omit<MessageDetail, 'held_topics' | 'paused_topics'> & { held_topics: string; paused_topics: string })[]
  >`
    select id, original_topic, error_message, retry_count, max_retries, payload,
           case when (payload is null or decode_state is not null) and octet_length(record_value) between 1 and 1048576
             then record_value end as unprojected_value,
           status, created_at, updated_at, last_retry_at, dlq_cluster, dlq_topic, dlq_partition, dlq_offset,
           original_partition, original_offset, original_timestamp, original_topic_source, consumer_group,
           record_key, octet_length(record_value) as value_bytes, dlq.record_headers(m) as record_headers, record_timestamp, record_timestamp_type,
           record_source, error_class, dlq.stack_trace(m) as error_stacktrace, group_id, next_retry_at, retry_requested, failure_count,
           ${firstFailedAt(sql)} as first_failed_at, ${lastFailedAt(sql)} as last_failed_at, run_id, ${ofScope('successor_of')}, ${ofScope('related_to')},
           held_by_route, target_topic, edits,
           unstored_value_bytes, value_schema, decode_state, origin_state, is_scrubbed, erased_at, ${isUnheld(sql)} as is_unheld,
           ${archived ? sql`archived_at` : sql`null::timestamptz`} as archived_at,
           (select case when ${topicInScope(sql, scope, 'p.original_topic')} then p.reason else 'the reason is not for this token' end
            from dlq.dlq_group_pauses p
            where p.original_topic = m.original_topic and p.group_id = m.group_id and p.resumed_at is null) as group_paused,
           (select coalesce(json_agg(json_build_object('topic', held.topic, 'reason', held.reason)), '[]')
            from dlq.dlq_retriers r
            cross join json_to_recordset(r.held_topics) as held (topic text, reason text)
            where r.seen_at > now() - interval '1 minute') as held_topics,
           (select coalesce(json_agg(json_build_object('topic', p.topic, 'why',
                     case when ${topicInScope(sql, scope, 'p.topic')} then 'by ' || p.paused_by || ': ' || p.reason end)), '[]')
            from dlq.dlq_topic_pauses p
            where p.topic in (m.original_topic, m.dlq_topic) and p.what = 'retries' and ${isInForce(sql)}) as paused_topics,
           ${etag(sql)} as etag
    from ${tableOf(sql, archived)} m
    where id = ${id} and ${messageInScope(sql, scope, 'm.')}
    limit 1`
  // The driver leaves JSON as text (infra/docs/decisions/004-json-as-text.md).
  return row ? { ...row, held_topics: JSON.parse(row.held_topics), paused_topics: JSON.parse(row.paused_topics) } : null
}

export type RecordBytes = {
  bytes: Buffer | null
  payload: string | null
  original_topic: string
  dlq_topic: string | null
}

/**
 * The record's key or value. `payload` is the JSON text of a message without a record. Null where the message does
 * not exist or is outside the scope.
 */
export async function getRecordBytes(
  sql: Sql,
  { id, scope, part }: { id: string; scope: TopicScope; part: 'record_key' | 'record_value' },
): Promise<RecordBytes | null> {
  for (const archived of [false, true]) {
    const [row] = await sql<RecordBytes[]>`
      select ${sql(part)} as bytes,
             case when record_headers is null and record_value is null and ${part === 'record_value'} then payload end as payload,
             original_topic, dlq_topic
      from ${tableOf(sql, archived)}
      where id = ${id} and ${messageInScope(sql, scope)}
      limit 1`
    if (row) return row
  }
  return null
}

function tableOf(sql: Sql, archived: boolean) {
  return archived ? sql`dlq.dlq_messages_archive` : sql`dlq.dlq_messages`
}
