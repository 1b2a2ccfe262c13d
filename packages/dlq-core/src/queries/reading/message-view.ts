// dlq_messages: reads messages for people and programs, with the fields of the specification only.

import type { Status } from '../../domain/retry/message-state.ts'
import type { Sql } from '../sql.ts'
import { messageInScope, type TopicScope } from '../topic-scope.ts'

/** The fields of a message in the specification. `payload` is JSON text. */
export type SpecifiedMessage = {
  id: string
  original_topic: string
  error_message: string
  retry_count: number
  max_retries: number
  payload: string | null
  /** The value, where no payload is stored, because it may be JSON. Null where it is over a mebibyte. */
  unprojected_value: Buffer | null
  status: Status
  created_at: Date
  updated_at: Date
  last_retry_at: Date | null
}

export type MessageView = SpecifiedMessage & {
  dlq_topic: string | null
  /** An HTTP entity tag. Every change of the row changes it. */
  etag: string
}

function viewColumns(sql: Sql) {
  return sql`
    id, original_topic, dlq_topic, error_message, retry_count, max_retries, payload,
    case when payload is null and octet_length(record_value) between 1 and 1048576 then record_value end as unprojected_value,
    status, created_at, updated_at, last_retry_at, ${etag(sql)} as etag`
}

/** With every change, the table's trigger sets updated_at in microseconds. */
export function etag(sql: Sql) {
  return sql`'"' || (extract(epoch from updated_at) * 1000000)::bigint::text || '"'`
}

export async function getMessage(
  sql: Sql,
  { id, scope }: { id: string; scope: TopicScope },
): Promise<MessageView | null> {
  const [row] = await sql<MessageView[]>`
    select ${viewColumns(sql)} from dlq.dlq_messages where id = ${id} and ${messageInScope(sql, scope)}`
  return row ?? null
}

/** What is to become of a live message; null where there is none. */
export async function getOutlook(
  sql: Sql,
  { id, scope }: { id: string; scope: TopicScope },
): Promise<{ status: Status; next_retry_at: Date | null } | null> {
  const [row] = await sql<{ status: Status; next_retry_at: Date | null }[]>`
    select status, next_retry_at from dlq.dlq_messages where id = ${id} and ${messageInScope(sql, scope)}`
  return row ?? null
}

/** The message's record headers as they are stored. Null where there is no such message, or it has no record. */
export async function getRecordHeaders(sql: Sql, id: string): Promise<string | null> {
  const [row] = await sql<{ record_headers: string | null }[]>`
    select record_headers from dlq.dlq_messages where id = ${id}`
  return row?.record_headers ?? null
}
