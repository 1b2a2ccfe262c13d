// dlq_messages: reading for people and programs. Only what the specification shows.

import type { Status } from '../message.ts'
import type { Sql } from './sql.ts'
import { inScope, type TopicScope } from './topic-scope.ts'

/** What the specification shows of a message; `payload` is JSON text. */
export type SpecifiedMessage = {
  id: string
  original_topic: string
  error_message: string
  retry_count: number
  max_retries: number
  payload: string | null
  /** The value, where no payload is stored: the reader may find JSON in it. Null where it is over a mebibyte. */
  unprojected_value: Buffer | null
  status: Status
  created_at: Date
  updated_at: Date
  last_retry_at: Date | null
}

export type MessageView = SpecifiedMessage & {
  /** An HTTP entity tag; every change of the row changes it. */
  etag: string
}

function viewColumns(sql: Sql) {
  return sql`
    id, original_topic, error_message, retry_count, max_retries, payload,
    case when payload is null and octet_length(record_value) between 1 and 1048576 then record_value end as unprojected_value,
    status, created_at, updated_at, last_retry_at, ${etag(sql)} as etag`
}

/** The trigger on the table sets updated_at, in microseconds, with every change. */
export function etag(sql: Sql) {
  return sql`'"' || (extract(epoch from updated_at) * 1000000)::bigint::text || '"'`
}

export async function getMessage(
  sql: Sql,
  { id, scope }: { id: string; scope: TopicScope },
): Promise<MessageView | null> {
  const [row] = await sql<MessageView[]>`
    select ${viewColumns(sql)} from dlq.dlq_messages where id = ${id} and ${inScope(sql, scope)}`
  return row ?? null
}

/** Deletes a message that is held, with its attempts and edits. */
export async function deleteMessage(sql: Sql, id: string): Promise<void> {
  await sql`
    with attempts as (
      delete from dlq.dlq_attempts where message_id = ${id}
    ),
    edits as (
      delete from dlq.dlq_message_edits where message_id = ${id}
    )
    delete from dlq.dlq_messages where id = ${id}`
}

/** The message's record headers as they are stored; null where there is no such message, or it never was a record. */
export async function getRecordHeaders(sql: Sql, id: string): Promise<string | null> {
  const [row] = await sql<{ record_headers: string | null }[]>`
    select record_headers from dlq.dlq_messages where id = ${id}`
  return row?.record_headers ?? null
}
