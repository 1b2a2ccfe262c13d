// dlq_reads: who was shown what behind masks.

import { exactTime, type TimePlace } from '../exact-time.ts'
import type { Sql } from '../sql.ts'

export type Read = {
  actor: string
  request_id: string
  /** The route: "GET /api/v1/dlq/messages/:id". */
  action: string
  /** What the path names. */
  target: string | null
  ids: readonly string[]
  /** What the request looked for. */
  filter: object | null
  /** How many messages; null where it is not known yet. */
  shown: number | null
  reason: string | null
}

/** The ids that are kept of one read. */
const maxIds = 1000

/** Returns its id. */
export async function recordRead(
  sql: Sql,
  { actor, request_id, action, target, ids, filter, shown, reason }: Read,
): Promise<string> {
  const json = filter === null ? null : JSON.stringify(filter)
  const [row] = await sql<[{ id: string }]>`
    insert into dlq.dlq_reads (actor, request_id, action, target, ids, filter, shown, reason)
    values (${actor}, ${request_id}, ${action}, ${target}, ${sql.array(ids.slice(0, maxIds))}::text[]::uuid[],
            ${json}::text::json, ${shown}, ${reason})
    returning id`
  return row.id
}

/** Says how many messages a read has shown in the end. */
export async function endRead(sql: Sql, { id, shown }: { id: string; shown: number }): Promise<void> {
  await sql`update dlq.dlq_reads set shown = ${shown} where id = ${id}`
}

/** Deletes a bounded number of entries from before then. Returns how many. */
export async function deleteOldReads(sql: Sql, { before, limit }: { before: Date; limit: number }): Promise<number> {
  const result = await sql`
    delete from dlq.dlq_reads
    where id = any(array(select id from dlq.dlq_reads where at < ${before} order by at limit ${limit}::int))`
  return result.count
}

export type ListedRead = Omit<Read, 'filter'> & {
  id: string
  at: Date
  /** JSON text. */
  filter: string | null
  /** Its place in the list, to the microsecond. */
  place: string
}

export type ReadFilter = {
  actor?: string | undefined
  message_id?: string | undefined
  from?: Date | undefined
  to?: Date | undefined
}

/** The reads before `before`, newest first. */
export async function listReads(
  sql: Sql,
  {
    filter: { actor, message_id, from, to },
    before,
    limit,
  }: { filter: ReadFilter; before: TimePlace | null; limit: number },
): Promise<ListedRead[]> {
  return sql<ListedRead[]>`
    select id, at, actor, request_id, action, target, ids::text[] as ids, filter, shown::float8 as shown, reason,
           ${exactTime(sql, sql`at`)} as place
    from dlq.dlq_reads
    where true
      ${before === null ? sql`` : sql`and (at, id) < (${before.at}::text::timestamptz, ${before.id}::uuid)`}
      ${actor === undefined ? sql`` : sql`and actor = ${actor}`}
      ${message_id === undefined ? sql`` : sql`and ids @> array[${message_id}::uuid]`}
      ${from === undefined ? sql`` : sql`and at >= ${from}`}
      ${to === undefined ? sql`` : sql`and at < ${to}`}
    order by at desc, id desc
    limit ${limit}`
}
