// dlq_messages: the changes that people make to one message. The caller locks the row, decides, and then writes.
// A second caller finds the state that the first one left, and another ETag.

import type { AfterEdit, MessageContent } from '../../domain/message/edit-message.ts'
import type { RetryState } from '../../domain/retry/message-state.ts'
import { heldUnlessForced } from '../origin/held-for-origin.ts'
import { etag } from '../reading/message-view.ts'
import { isUnheld } from '../retry/expired-leases.ts'
import type { Sql } from '../sql.ts'
import { messageInScope, type TopicScope } from '../topic-scope.ts'

export type HeldMessage = RetryState & {
  id: string
  original_topic: string
  dlq_topic: string | null
  target_topic: string | null
  consumer_group: string | null
  held_by_route: boolean
  /** See origin-state.ts. */
  origin_state: number | null
  erased_at: Date | null
  etag: string
  /** It is RETRYING, and no retrier and no lease holds it. */
  is_unheld: boolean
  /** The size of its value, where that was too large to be stored. */
  unstored_value_bytes: bigint | null
}

/** Locks a message until the transaction ends. Null where it does not exist or is outside the scope. */
export async function holdMessage(
  sql: Sql,
  { id, scope }: { id: string; scope: TopicScope },
): Promise<HeldMessage | null> {
  const [row] = await sql<HeldMessage[]>`
    select id, status::text as status, retry_count, max_retries,
           next_retry_at, original_topic, dlq_topic, target_topic, consumer_group, held_by_route, origin_state, erased_at, unstored_value_bytes, ${isUnheld(sql)} as is_unheld,
           ${etag(sql)} as etag
    from dlq.dlq_messages
    where id = ${id} and ${messageInScope(sql, scope)}
    for update`
  return row ?? null
}

/** The ETag of an archived message. Null where the archive has none of this id within the scope. */
export async function tagOfArchived(
  sql: Sql,
  { id, scope }: { id: string; scope: TopicScope },
): Promise<string | null> {
  const [row] = await sql<{ etag: string }[]>`
    select ${etag(sql)} as etag from dlq.dlq_messages_archive where id = ${id} and ${messageInScope(sql, scope)}`
  return row?.etag ?? null
}

/**
 * Writes the state of a locked message. `requested`: somebody asked for the next attempt. It is then due now by the
 * database's clock, and a pause of its error group does not hold it up. Returns its time as stored: a held message gets none.
 */
export async function writeState(
  sql: Sql,
  {
    id,
    status,
    max_retries: maxRetries,
    next_retry_at: nextRetryAt,
    requested,
  }: RetryState & { id: string; requested: boolean },
): Promise<Date | null> {
  const [row] = await sql<[{ next_retry_at: Date | null }]>`
    update dlq.dlq_messages set
      status = ${status}, max_retries = ${maxRetries}, retry_requested = ${requested},
      -- A request for one message does not wait for a run that holds it.
      run_id = null,
      next_retry_at = case when ${requested} then now() when not ${heldUnlessForced(sql)} then ${nextRetryAt}::timestamptz end
    where id = ${id}
    returning next_retry_at`
  return row.next_retry_at
}

export async function readContent(sql: Sql, id: string): Promise<MessageContent> {
  const [row] = await sql<[MessageContent]>`
    select record_key, record_value, dlq.record_headers(m) as record_headers, payload, target_topic,
           dlq.stack_trace(m) as error_stacktrace,
           order_key, value_schema, decode_state, edits
    from dlq.dlq_messages m where id = ${id}`
  return row
}

export type CandidateContent = MessageContent & {
  id: string
  original_topic: string
  dlq_topic: string | null
  /** As it is while the message has the contents. */
  etag: string
}

/** The contents of several messages, in the order of their ids. */
export async function readContents(
  sql: Sql,
  { ids, scope }: { ids: readonly string[]; scope: TopicScope },
): Promise<CandidateContent[]> {
  return sql<CandidateContent[]>`
    select id, original_topic, dlq_topic, record_key, record_value, dlq.record_headers(m) as record_headers, payload, target_topic,
           dlq.stack_trace(m) as error_stacktrace, order_key, value_schema, decode_state, edits, ${etag(sql)} as etag
    from dlq.dlq_messages m where id = any(${sql.array([...ids])}::uuid[]) and ${messageInScope(sql, scope)} order by id`
}

/** About how many bytes the contents of each message have. No value is read. */
export async function measureContents(
  sql: Sql,
  { ids, scope }: { ids: readonly string[]; scope: TopicScope },
): Promise<Map<string, number>> {
  const rows = await sql<{ id: string; bytes: number }[]>`
    select id, coalesce(octet_length(record_value), pg_column_size(payload), 0)::int as bytes
    from dlq.dlq_messages m where id = any(${sql.array([...ids])}::uuid[]) and ${messageInScope(sql, scope)}`
  return new Map(rows.map(({ id, bytes }) => [id, bytes]))
}

export type Edit = {
  id: string
  actor: string
  reason: string | null
  request_id: string
  /** Which of key, value, headers and target_topic differ. */
  fields: readonly string[]
  after: AfterEdit
}

/**
 * Edits a locked message. The replaced values are kept byte for byte. Headers that refer to the stack trace's
 * column (header-json.ts) get its text, because a later failure will change the column.
 */
export async function editMessage(sql: Sql, { id, actor, reason, request_id, fields, after }: Edit): Promise<void> {
  await sql`
    insert into dlq.dlq_message_edits (
      message_id, number, actor, reason, request_id, fields,
      record_key, record_value, record_headers, payload, target_topic)
    select id, edits + 1, ${actor}, ${reason}, ${request_id}, ${sql.array([...fields])}::text[],
           record_key, record_value,
           case when error_stacktrace is null then dlq.record_headers(m)
             else replace(dlq.record_headers(m)::text, '{"column":"error_stacktrace"}', to_json(dlq.stack_trace(m))::text)::json end,
           payload, target_topic
    from dlq.dlq_messages m where id = ${id}`
  // What was found out about newer records of another key says nothing.
  if (fields.includes('key')) await sql`delete from dlq.dlq_staleness where message_id = ${id}`
  await sql`
    update dlq.dlq_messages set
      record_key = ${after.record_key}, record_value = ${after.record_value},
      record_headers = ${after.record_headers}::text::json, payload = ${after.payload}::text::jsonb,
      target_topic = ${after.target_topic}, order_key = ${after.order_key}, edits = edits + 1,
      value_schema = ${after.value_schema}, decode_state = ${after.decode_state},
      -- A value that somebody has given is no copy any more.
      origin_state = case when ${fields.includes('value')} then null else origin_state end,
      unstored_value_bytes = case when ${fields.includes('value')} then null else unstored_value_bytes end
    where id = ${id}`
}

/**
 * Writes when a message is retried, and its budget. Null keeps `max_retries`, undefined keeps `next_retry_at`. Returns its
 * time as stored: a held message gets none.
 */
export async function writeSchedule(
  sql: Sql,
  {
    id,
    max_retries,
    next_retry_at,
  }: { id: string; max_retries: number | null; next_retry_at: Date | null | undefined },
): Promise<Date | null> {
  const keep = next_retry_at === undefined
  const [row] = await sql<[{ next_retry_at: Date | null }]>`
    update dlq.dlq_messages set
      max_retries = coalesce(${max_retries}::int, max_retries),
      next_retry_at = case when ${keep} then next_retry_at when not ${heldUnlessForced(sql)}
        then ${next_retry_at ?? null}::timestamptz end,
      retry_requested = retry_requested and ${keep}
    where id = ${id}
    returning next_retry_at`
  return row.next_retry_at
}

export type EditSummary = {
  number: number
  at: Date
  actor: string
  reason: string | null
  fields: string[]
}

/** The edits of a message, oldest first. */
export async function listEdits(sql: Sql, messageId: string): Promise<EditSummary[]> {
  const newestFirst = await sql<EditSummary[]>`
    select number, at, actor, reason, fields
    from dlq.dlq_message_edits where message_id = ${messageId}
    order by number desc limit 1000`
  return newestFirst.toReversed()
}

export type ReplacedContent = EditSummary &
  Pick<MessageContent, 'record_key' | 'record_value' | 'record_headers' | 'payload' | 'target_topic'>

/** One edit, with the values that it replaced. */
export async function findEdit(
  sql: Sql,
  { messageId, number }: { messageId: string; number: number },
): Promise<ReplacedContent | null> {
  const [row] = await sql<ReplacedContent[]>`
    select number, at, actor, reason, fields, record_key, record_value, record_headers, payload, target_topic
    from dlq.dlq_message_edits where message_id = ${messageId} and number = ${number}`
  return row ?? null
}
