// Sets dlq_messages.order_key of messages that arrived before their topic's policy said "per-key".

import { idsAsFew, type Sql } from '../sql.ts'
import { keepHeld } from '../staleness/keep-held.ts'

/** Sets it, of a row m, to the same value as in order-key.ts: the first eight bytes of the key's SHA-256. */
export function keyed(sql: Sql) {
  return sql`order_key = ('x' || encode(substring(sha256(m.record_key) for 8), 'hex'))::bit(64)::bigint`
}

/**
 * Gives the topic's next `limit` unresolved messages in the order of ids their order key. Returns the last id that it
 * read, null at the end.
 */
export async function assignOrderKeys(
  sql: Sql,
  { topic, afterId, limit }: { topic: string; afterId: string; limit: number },
): Promise<string | null> {
  // Each status along idx_dlq_messages_original_topic. Compared and ordered as rows of its columns, because the primary key
  // has the order of ids too: along it a walk would read the rows of all topics, those behind this one's in one statement.
  const ofStatus = (status: string) => sql`
    (select id, order_key is null and record_key is not null as lacks_key from dlq.dlq_messages
     where (original_topic, status, id) > (${topic}, ${status}, ${afterId}::uuid) and (original_topic, status) <= (${topic}, ${status})
     order by original_topic, status, id limit ${limit})`
  const [row] = await sql<{ last_id: string | null }[]>`
    with chunk as materialized (
      select * from (${ofStatus('PENDING')} union all ${ofStatus('RETRYING')}) waiting order by id limit ${limit}
    ),
    lacking as materialized (
      -- The conditions are tested again under the lock. Locks in the order in which all statements lock messages.
      -- By their ids: for a join PostgreSQL may read whole partitions.
      select m.id from dlq.dlq_messages m
      where m.id = any(array(select id from chunk where lacks_key))
        and m.status in ('PENDING', 'RETRYING') and m.order_key is null and not m.held_by_route
      order by m.id
      for update of m
    ),
    kept as (${keepHeld(sql, sql`array(select id from lacking)`)}),
    assigned as (
      update dlq.dlq_messages m set ${keyed(sql)} where m.id = any(array(select id from lacking))
    )
    select max(id::text)::uuid as last_id from chunk`
  return row!.last_id
}

/**
 * Gives locked messages that wait again their order key, if they have none: those that were RESOLVED or DEAD when their
 * topic was walked. For messages of topics in the order of keys.
 */
export async function giveOrderKeys(sql: Sql, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await sql`
    update dlq.dlq_messages m set ${keyed(sql)}
    where id = any(${idsAsFew(sql, ids)}) and order_key is null and record_key is not null`
}

/**
 * Those of the messages that have a key and no order key, with the topics that decide their policies. `runId`: only those
 * that the run holds.
 */
export async function listUnordered(
  sql: Sql,
  { ids, runId }: { ids: readonly string[]; runId: string | null },
): Promise<{ id: string; original_topic: string; dlq_topic: string | null }[]> {
  if (ids.length === 0) return []
  return sql<{ id: string; original_topic: string; dlq_topic: string | null }[]>`
    select id, original_topic, dlq_topic from dlq.dlq_messages
    where id = any(${idsAsFew(sql, ids)}) and order_key is null and record_key is not null
      ${runId === null ? sql`` : sql`and run_id = ${runId}`}`
}
