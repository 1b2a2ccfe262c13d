// dlq_messages: values that were stored before their schema was known.

import type { StoredDecoding } from '../../domain/payload/stored-decoding.ts'
import type { Sql } from '../sql.ts'
import { keepHeld } from '../staleness/keep-held.ts'

export type WaitingMessage = {
  id: string
  original_topic: string
  dlq_topic: string | null
  /** Null where it is larger than asked for. */
  record_value: Buffer | null
  record_headers: string | null
}

/** The schemas that messages wait for, and that are known by now. */
export async function listAwaitedSchemas(sql: Sql): Promise<number[]> {
  // One look into the index of waiting messages for each schema and partition.
  const rows = await sql<{ id: number }[]>`
    select s.id from dlq.dlq_schemas s
    where s.state = 'known' and exists (select from dlq.dlq_messages m where m.value_schema = s.id and m.decode_state = 2)
    order by s.id`
  return rows.map(({ id }) => id)
}

/** Locks messages that wait for the schema, oldest first, but for those that somebody else has locked. */
export async function lockWaitingMessages(
  sql: Sql,
  { schema, limit, maxBytes }: { schema: number; limit: number; maxBytes: number },
): Promise<WaitingMessage[]> {
  return sql<WaitingMessage[]>`
    select id, original_topic, dlq_topic, record_headers,
           case when octet_length(record_value) <= ${maxBytes} then record_value end as record_value
    from dlq.dlq_messages
    where value_schema = ${schema} and decode_state = 2
    order by id
    limit ${limit}
    for update skip locked`
}

/** Writes what became of locked messages. */
export async function writeDecoded(sql: Sql, decoded: readonly (StoredDecoding & { id: string })[]): Promise<void> {
  if (decoded.length === 0) return
  const ids = sql.array(decoded.map(({ id }) => id))
  // A payload that is stored later changes no updated_at (027).
  const failed = sql.array(decoded.flatMap(({ id, payload }) => (payload === null ? [id] : [])))
  await sql`
    with kept as (${keepHeld(sql, sql`${failed}::uuid[]`)})
    update dlq.dlq_messages m set
      payload = decoded.payload::jsonb, value_schema = decoded.value_schema, decode_state = decoded.decode_state
    from json_to_recordset(${JSON.stringify(decoded)}::json)
      as decoded (id uuid, payload text, value_schema int, decode_state int)
    -- The ids once more, because the planner takes the JSON for a hundred rows and may join it by reading every partition.
    where m.id = decoded.id and m.id = any(${ids}::uuid[])`
}
