// dlq_message_origins: what was found at a message's original coordinates, and how it compares with the copy.

import type { OriginalTopicSource } from '../../domain/failure/topic-names.ts'
import type { ComparedState, Comparison } from '../../domain/origin/compare-origin.ts'
import { isFromBefore } from '../ingest/positions.ts'
import { type Sql, toJson } from '../sql.ts'
import { keepHeld } from '../staleness/keep-held.ts'

/** The job that compares one message; retriers without Kafka do not take it. Its payload: `{ id }`. */
export const compareTask = 'origin.compare'

export type NewOrigin = {
  message_id: string
  state: ComparedState
  differs: Comparison['differs']
  record_key: Buffer | null
  record_value: Buffer | null
  /** As header-json.ts stores them. Null where nothing was found. */
  record_headers: string | null
  /** ISO 8601. */
  record_timestamp: string | null
  problem: string | null
  next_try_at: Date | null
}

/** Stores the first comparisons of messages. Returns the ids of those that had none. */
export async function insertOrigins(sql: Sql, origins: readonly NewOrigin[]): Promise<Set<string>> {
  if (origins.length === 0) return new Set()
  const rows = await sql<{ message_id: string }[]>`
    insert into dlq.dlq_message_origins (
      message_id, state, differs, record_key, record_value, record_headers, record_timestamp, problem, next_try_at)
    select message_id, state, differs, decode(key, 'base64'), decode(value, 'base64'), headers::json, record_timestamp, problem, next_try_at
    from json_to_recordset(${toJson(origins.map(encoded))}::json) as origin (
      message_id uuid, state text, differs text[], key text, value text, headers text, record_timestamp timestamptz,
      problem text, next_try_at timestamptz)
    order by message_id
    -- A record that is read again meets its own row.
    on conflict (message_id) do nothing
    returning message_id`
  return new Set(rows.map(({ message_id }) => message_id))
}

function encoded({ record_key, record_value, record_headers: headers, ...origin }: NewOrigin) {
  return {
    ...origin,
    ...{ key: record_key?.toString('base64') ?? null, value: record_value?.toString('base64') ?? null, headers },
  }
}

/** Stores a later comparison of a locked message. */
export async function replaceOrigin(sql: Sql, origin: NewOrigin): Promise<void> {
  const { message_id: id, ...found } = origin
  await sql`
    insert into dlq.dlq_message_origins (
      message_id, state, differs, record_key, record_value, record_headers, record_timestamp, problem, next_try_at)
    values (${id}, ${found.state}, ${sql.array([...found.differs])}::text[], ${found.record_key}, ${found.record_value},
            ${found.record_headers}::text::json, ${found.record_timestamp}, ${found.problem}, ${found.next_try_at})
    on conflict (message_id) do update set
      state = excluded.state, differs = excluded.differs, record_key = excluded.record_key,
      record_value = excluded.record_value, record_headers = excluded.record_headers,
      record_timestamp = excluded.record_timestamp, problem = excluded.problem, next_try_at = excluded.next_try_at,
      compared_at = clock_timestamp(), tries = dlq_message_origins.tries + 1`
}

export type StoredOrigin = NewOrigin & { compared_at: Date; tries: number }

/** The last comparison; null where there is none. */
export async function findOrigin(sql: Sql, messageId: string): Promise<StoredOrigin | null> {
  const [row] = await sql<StoredOrigin[]>`
    select message_id, state, differs, record_key, record_value, record_headers,
           to_char(record_timestamp at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as record_timestamp,
           problem, next_try_at, compared_at, tries
    from dlq.dlq_message_origins where message_id = ${messageId}`
  return row ?? null
}

export type ComparableMessage = {
  id: string
  status: string
  original_topic: string
  dlq_topic: string | null
  original_topic_source: OriginalTopicSource | 'caller'
  original_partition: number | null
  original_offset: bigint | null
  record_key: Buffer | null
  record_value: Buffer | null
  record_headers: string | null
  error_class: string | null
  error_stacktrace: string | null
  record_timestamp: Date | null
  unstored_value_bytes: bigint | null
  held_by_route: boolean
  origin_state: number | null
  edits: number
  /** How often its original was looked for. */
  tries: number
}

/** A live message as it is compared; null where there is none. */
export async function readComparable(sql: Sql, id: string): Promise<ComparableMessage | null> {
  const [row] = await sql<ComparableMessage[]>`
    select id, status::text as status, original_topic, dlq_topic, original_topic_source, original_partition, original_offset,
           record_key, record_value, dlq.record_headers(m) as record_headers, error_class, dlq.stack_trace(m) as error_stacktrace,
           record_timestamp, unstored_value_bytes, held_by_route, origin_state, edits,
           coalesce((select o.tries from dlq.dlq_message_origins o where o.message_id = m.id), 0) as tries
    from dlq.dlq_messages m where id = ${id}`
  return row ?? null
}

/** Messages whose original is to be looked for again, and when that was due. */
export async function listWantedOrigins(sql: Sql, { limit }: { limit: number }): Promise<string[]> {
  const rows = await sql<{ message_id: string }[]>`
    select message_id from dlq.dlq_message_origins where next_try_at <= now() order by next_try_at limit ${limit}`
  return rows.map(({ message_id }) => message_id)
}

/** Nobody looks for it any more: its message was sent, changed or deleted. */
export async function forgetWanted(sql: Sql, messageId: string): Promise<void> {
  await sql`update dlq.dlq_message_origins set next_try_at = null where message_id = ${messageId}`
}

/**
 * Writes what is known about the original of a locked message. A message that is held from now on has no time any more;
 * `nextRetryAt` is for one that was held until now.
 */
export async function writeOriginState(
  sql: Sql,
  { id, stored, nextRetryAt }: { id: string; stored: number; nextRetryAt: Date | null },
): Promise<void> {
  await sql`
    with kept as (${keepHeld(sql, sql`array[${id}::uuid]`)})
    update dlq.dlq_messages m set
      origin_state = ${stored},
      next_retry_at = case
        when status <> 'PENDING' or retry_requested then next_retry_at
        when ${stored > 10} then null
        when origin_state > 10 and not held_by_route and not ${isFromBefore(sql)} then ${nextRetryAt}::timestamptz
        else next_retry_at end
    where id = ${id}`
}

/** The original has taken the copy's place. */
export async function noteAdopted(sql: Sql, { id, stored }: { id: string; stored: number }): Promise<void> {
  await sql`update dlq.dlq_messages set record_source = 'origin', origin_state = ${stored} where id = ${id}`
}
