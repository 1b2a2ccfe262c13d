// dlq_messages: what people change about one message. The row is locked first, decided upon, and written
// then; whoever comes second finds the state that the first one left, and another ETag.

import type { AfterEdit, MessageContent } from '../edit-message.ts'
import type { RetryState } from '../message.ts'
import { etag } from './message-read.ts'
import type { Sql } from './sql.ts'
import { inScope, type TopicScope } from './topic-scope.ts'

export type HeldMessage = RetryState & {
  id: string
  original_topic: string
  dlq_topic: string | null
  etag: string
}

/** Locks a message until the transaction ends; null where there is none to be seen. */
export async function holdMessage(
  sql: Sql,
  { id, scope }: { id: string; scope: TopicScope },
): Promise<HeldMessage | null> {
  const [row] = await sql<HeldMessage[]>`
    select id, status::text as status, retry_count as "retryCount", max_retries as "maxRetries",
           next_retry_at as "nextRetryAt", original_topic, dlq_topic, ${etag(sql)} as etag
    from dlq.dlq_messages
    where id = ${id} and ${inScope(sql, scope)}
    for update`
  return row ?? null
}

/**
 * Writes the state of a message that is held. `requested`: somebody asked for the next attempt, which is
 * then due now by the database's clock, and held up by no pause of its error group.
 */
export async function writeState(
  sql: Sql,
  { id, status, maxRetries, nextRetryAt, requested }: RetryState & { id: string; requested: boolean },
): Promise<void> {
  await sql`
    update dlq.dlq_messages set
      status = ${status}, max_retries = ${maxRetries}, retry_requested = ${requested},
      -- Whoever asks for one message need not wait for a run that holds it.
      run_id = null,
      next_retry_at = case when ${requested} then now() else ${nextRetryAt}::timestamptz end
    where id = ${id}`
}

export async function readContent(sql: Sql, id: string): Promise<MessageContent> {
  const [row] = await sql<[MessageContent]>`
    select record_key, record_value, record_headers, payload, target_topic, error_stacktrace, order_key, edits
    from dlq.dlq_messages where id = ${id}`
  return row
}

export type CandidateContent = MessageContent & { id: string; original_topic: string; dlq_topic: string | null }

/** The same of several messages, in the order of ids. */
export async function readContents(
  sql: Sql,
  { ids, scope }: { ids: readonly string[]; scope: TopicScope },
): Promise<CandidateContent[]> {
  return sql<CandidateContent[]>`
    select id, original_topic, dlq_topic, record_key, record_value, record_headers, payload, target_topic, error_stacktrace,
           order_key, edits
    from dlq.dlq_messages where id = any(${sql.array([...ids])}::uuid[]) and ${inScope(sql, scope)} order by id`
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
 * Edits a message that is held. What it was before is kept byte for byte; headers that refer to the stack
 * trace's column (header-json.ts) take its text, because a later failure will change the column.
 */
export async function editMessage(sql: Sql, { id, actor, reason, request_id, fields, after }: Edit): Promise<void> {
  await sql`
    insert into dlq.dlq_message_edits (
      message_id, number, actor, reason, request_id, fields,
      record_key, record_value, record_headers, payload, target_topic)
    select id, edits + 1, ${actor}, ${reason}, ${request_id}, ${sql.array([...fields])}::text[],
           record_key, record_value,
           case when error_stacktrace is null then record_headers
             else replace(record_headers::text, '{"column":"error_stacktrace"}', to_json(error_stacktrace)::text)::json end,
           payload, target_topic
    from dlq.dlq_messages where id = ${id}`
  await sql`
    update dlq.dlq_messages set
      record_key = ${after.record_key}, record_value = ${after.record_value},
      record_headers = ${after.record_headers}::text::json, payload = ${after.payload}::text::jsonb,
      target_topic = ${after.target_topic}, order_key = ${after.order_key}, edits = edits + 1
    where id = ${id}`
}

/** When it is retried, and how often; null leaves `max_retries` as it is, undefined leaves `next_retry_at`. */
export async function writeSchedule(
  sql: Sql,
  { id, maxRetries, nextRetryAt }: { id: string; maxRetries: number | null; nextRetryAt: Date | null | undefined },
): Promise<void> {
  const keep = nextRetryAt === undefined
  await sql`
    update dlq.dlq_messages set
      max_retries = coalesce(${maxRetries}::int, max_retries),
      next_retry_at = case when ${keep} then next_retry_at else ${nextRetryAt ?? null}::timestamptz end,
      retry_requested = retry_requested and ${keep}
    where id = ${id}`
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
  return sql<EditSummary[]>`
    select number, at, actor, reason, fields
    from dlq.dlq_message_edits where message_id = ${messageId}
    order by number`
}

export type EditedContent = EditSummary &
  Pick<MessageContent, 'record_key' | 'record_value' | 'record_headers' | 'payload' | 'target_topic'>

/** One edit, with what it replaced. */
export async function findEdit(
  sql: Sql,
  { messageId, number }: { messageId: string; number: number },
): Promise<EditedContent | null> {
  const [row] = await sql<EditedContent[]>`
    select number, at, actor, reason, fields, record_key, record_value, record_headers, payload, target_topic
    from dlq.dlq_message_edits where message_id = ${messageId} and number = ${number}`
  return row ?? null
}
