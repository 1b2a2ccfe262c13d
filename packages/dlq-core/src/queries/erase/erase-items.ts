// dlq_erase_items: the messages that a run erases. They hold the keys, and go when the run ends.

import type { RecordPlace } from '../../domain/record/record-place.ts'
import type { Sql } from '../sql.ts'
import { messageInScope, type TopicScope } from '../topic-scope.ts'

type Items = { runId: string; ids: readonly string[] }

/** Messages, live and archived ones, as an item has them. */
function foundItems(sql: Sql, ids: readonly string[], scope: TopicScope) {
  const wanted = sql.array([...ids])
  const from = (table: string, attempts: string, isArchived: boolean) => sql`
    select m.id, m.record_key, m.group_id, m.frames_id, ${isArchived} as is_archived,
      array(
        select distinct g from ${sql(attempts)} a, unnest(a.failed_groups) g where a.message_id = m.id
        union select m.group_id where m.group_id is not null
      ) as group_ids,
      json_build_array(
        json_build_object('what', 'dlq', 'topic', m.dlq_topic, 'partition', m.dlq_partition, 'offset', m.dlq_offset,
          'at', m.record_timestamp),
        json_build_object('what', 'original', 'topic', m.original_topic, 'partition', m.original_partition,
          'offset', m.original_offset, 'at', m.original_timestamp)
      )::jsonb || coalesce((
        select jsonb_agg(jsonb_build_object('what', 'republished', 'topic', a.target_topic, 'partition', a.target_partition,
          'offset', a.target_offset, 'at', a.settled_at))
        from ${sql(attempts)} a where a.message_id = m.id and a.target_offset is not null), '[]'
      ) || coalesce((
        select jsonb_agg(jsonb_build_object('what', 'dlq', 'topic', a.failed_again_topic, 'partition', a.failed_again_partition,
          'offset', a.failed_again_offset, 'at', a.failed_again_at))
        from ${sql(attempts)} a where a.message_id = m.id and a.failed_again_offset is not null), '[]') as places
    from ${sql(table)} m where m.id = any(${wanted}::uuid[]) and ${messageInScope(sql, scope, 'm.')}`
  return sql`(${from('dlq.dlq_messages', 'dlq.dlq_attempts', false)} union all
              ${from('dlq.dlq_messages_archive', 'dlq.dlq_attempts_archive', true)})`
}

/** Adds messages, live and archived ones. Those that were found already stay. Returns how many are new. */
export async function addItems(
  sql: Sql,
  { runId, ids, scope = null }: Items & { scope?: TopicScope },
): Promise<number> {
  if (ids.length === 0) return 0
  const result = await sql`
    insert into dlq.dlq_erase_items (run_id, message_id, record_key, group_id, group_ids, frames_id, is_archived, places)
    select distinct on (id) ${runId}::uuid, id, record_key, group_id, group_ids, frames_id, is_archived, places::json
    from ${foundItems(sql, ids, scope)} found
    order by id
    on conflict (run_id, message_id) do nothing`
  return result.count
}

/** Messages that were being sent when they were added have places and groups since that they had not then. */
export async function renewItems(sql: Sql, { runId, ids }: Items): Promise<void> {
  await sql`
    update dlq.dlq_erase_items i set
      group_id = found.group_id, group_ids = found.group_ids, frames_id = coalesce(found.frames_id, i.frames_id),
      places = found.places::json
    from ${foundItems(sql, ids, null)} found
    where i.run_id = ${runId} and i.message_id = found.id and i.message_id = any(${sql.array([...ids])}::uuid[])`
}

/** Where the messages were published to. */
export async function listRepublished(sql: Sql, { runId, ids }: Items): Promise<RecordPlace[]> {
  return sql<RecordPlace[]>`
    select place ->> 'topic' as topic, (place ->> 'partition')::int as partition, (place ->> 'offset')::bigint as offset
    from dlq.dlq_erase_items i cross join lateral json_array_elements(i.places) place
    where i.run_id = ${runId} and i.message_id = any(${sql.array([...ids])}::uuid[]) and place ->> 'what' = 'republished'`
}

export type KeySearch = { keys: readonly Buffer[]; topics: readonly string[] | null; until: string }

function keysOf(sql: Sql, keys: readonly Buffer[]) {
  const texts = sql.array(keys.map((key) => key.toString('hex')))
  return sql`array(select decode(hex, 'hex') from unnest(${texts}::text[]) as asked (hex))`
}

function ofTopics(sql: Sql, topics: readonly string[] | null) {
  return topics === null ? sql`true` : sql`original_topic = any(${sql.array([...topics])}::text[])`
}

/** Live messages of these keys, and messages, archived ones too, that had one of them before an edit, or whose original has. */
export async function findByKeys(sql: Sql, { keys, topics, until }: KeySearch): Promise<string[]> {
  if (keys.length === 0) return []
  // "offset 0" keeps the other conditions away from other indexes: where their values are not known when the statement is
  // planned, PostgreSQL took nearly all messages for few, and read them along created_at.
  const rows = await sql<{ id: string }[]>`
    select id
    from (select id, original_topic, created_at from dlq.dlq_messages
          where substring(record_key from 1 for 64) = any(array(
              select substring(k from 1 for 64) from unnest(${keysOf(sql, keys)}) as k))
            and record_key = any(${keysOf(sql, keys)})
          offset 0) m
    where created_at <= ${until}::text::timestamptz and ${ofTopics(sql, topics)}
    union
    select message_id
    from (select message_id from dlq.dlq_message_edits where record_key = any(${keysOf(sql, keys)})
          union
          select message_id from dlq.dlq_message_origins where record_key = any(${keysOf(sql, keys)})) former
    cross join lateral (
      select original_topic, created_at from dlq.dlq_messages where id = message_id
      union all
      select original_topic, created_at from dlq.dlq_messages_archive where id = message_id
      offset 0) m
    where created_at <= ${until}::text::timestamptz and ${ofTopics(sql, topics)}`
  return rows.map(({ id }) => id)
}

/** Whether a live message has a later time. */
export async function holdsLaterThan(sql: Sql, at: string): Promise<boolean> {
  const [row] = await sql<[{ holds: boolean }]>`
    select exists (select from dlq.dlq_messages where created_at > ${at}::text::timestamptz) as holds`
  return row.holds
}

/** The next piece of the archive: which of its messages have one of the keys. `last` is null at the end. */
export async function scanArchive(
  sql: Sql,
  { keys, topics, until, after, limit }: KeySearch & { after: string; limit: number },
): Promise<{ ids: string[]; last: string | null }> {
  const [row] = await sql<[{ ids: string[] | null; last: string | null; looked: number }]>`
    with piece as materialized (
      select id, record_key, original_topic, created_at from dlq.dlq_messages_archive
      where id > ${after}::uuid order by id limit ${limit}
    )
    select (select array_agg(id::text) from piece
            where record_key = any(${keysOf(sql, keys)}) and created_at <= ${until}::text::timestamptz and ${ofTopics(sql, topics)}) as ids,
           (select max(id::text) from piece) as last, (select count(*)::int from piece) as looked`
  return { ids: row.ids ?? [], last: row.looked < limit ? null : row.last }
}

/** The next messages to erase, in the order of their ids. */
export async function nextItems(sql: Sql, { runId, limit }: { runId: string; limit: number }): Promise<string[]> {
  const rows = await sql<{ message_id: string }[]>`
    select message_id from dlq.dlq_erase_items where run_id = ${runId} and not is_erased order by message_id limit ${limit}`
  return rows.map(({ message_id }) => message_id)
}

export async function noteErased(sql: Sql, { runId, ids }: Items): Promise<void> {
  await sql`
    update dlq.dlq_erase_items set is_erased = true
    where run_id = ${runId} and message_id = any(${sql.array([...ids])}::uuid[])`
}

/** The keys of the messages, at most `limit`, so that other places that name them can be found. */
export async function listItemKeys(sql: Sql, { runId, limit }: { runId: string; limit: number }): Promise<Buffer[]> {
  const rows = await sql<{ record_key: Buffer }[]>`
    select distinct record_key from dlq.dlq_erase_items where run_id = ${runId} and record_key is not null limit ${limit}`
  return rows.map(({ record_key }) => record_key)
}

export type ErasedItem = { message_id: string; places: string }

/** The messages with where copies of them stood in Kafka, as JSON text. */
export async function listItems(sql: Sql, runId: string): Promise<ErasedItem[]> {
  const rows = await sql<ErasedItem[]>`
    select message_id, places::text as places from dlq.dlq_erase_items where run_id = ${runId} order by message_id`
  return [...rows]
}

/** How many of the run's messages still hold something. */
export async function countRemaining(sql: Sql, runId: string): Promise<number> {
  const holds = sql`
    record_key is not null or record_value is not null or record_headers is not null or payload is not null
    or error_stacktrace is not null or error_message <> 'erased'`
  const ids = sql`array(select message_id from dlq.dlq_erase_items where run_id = ${runId})`
  const [row] = await sql<[{ remaining: number }]>`
    select (select count(*) from dlq.dlq_messages where id = any(${ids}) and (${holds}))::int
         + (select count(*) from dlq.dlq_messages_archive where id = any(${ids}) and (${holds}))::int
         + (select count(*) from dlq.dlq_message_edits where message_id = any(${ids}))::int
         + (select count(*) from dlq.dlq_message_origins where message_id = any(${ids}))::int
         + (select count(*) from dlq.dlq_attempts where message_id = any(${ids})
            and coalesce(error, failed_again_message, failed_again_class) is not null)::int
         + (select count(*) from dlq.dlq_attempts_archive where message_id = any(${ids})
            and coalesce(error, failed_again_message, failed_again_class) is not null)::int as remaining`
  return row.remaining
}

export async function forgetItems(sql: Sql, runId: string): Promise<void> {
  await sql`delete from dlq.dlq_erase_items where run_id = ${runId}`
}

export type KeyPlace = 'dlq_messages' | 'dlq_messages_archive' | 'dlq_message_edits' | 'dlq_message_origins'

/** The next keys of a table, of messages stored until then, with these messages. `last` is null at the end. */
export async function listKeysAfter(
  sql: Sql,
  {
    place,
    after,
    limit,
    topics,
    until,
  }: { place: KeyPlace; after: string; limit: number; topics: readonly string[] | null; until: string },
): Promise<{ rows: { id: string; record_key: Buffer }[]; last: string | null }> {
  const isMessage = place === 'dlq_messages' || place === 'dlq_messages_archive'
  const id = isMessage ? sql`id` : sql`message_id`
  const isOf = sql`created_at <= ${until}::text::timestamptz and ${ofTopics(sql, topics)}`
  const isMeant = (table: string) => sql`exists (select from ${sql(table)} m where m.id = message_id and ${isOf})`
  const rows = await sql<{ id: string; record_key: Buffer | null; is_meant: boolean }[]>`
    select ${id} as id, record_key,
           ${isMessage ? isOf : sql`${isMeant('dlq.dlq_messages')} or ${isMeant('dlq.dlq_messages_archive')}`} as is_meant
    from ${sql(`dlq.${place}`)}
    where ${id} > ${after}::uuid
    order by ${id}
    -- All edits of a message, or none.
    fetch first ${limit} rows with ties`
  return {
    rows: rows.flatMap(({ id, record_key, is_meant }) => (record_key !== null && is_meant ? [{ id, record_key }] : [])),
    last: rows.length < limit ? null : rows.at(-1)!.id,
  }
}
