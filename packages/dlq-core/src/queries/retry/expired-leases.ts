// dlq_messages: ends expired leases of messages that applications claimed by SQL and never settled, and finds RETRYING
// messages that nobody holds. Retriers hold their messages by their slot: batches.ts.

import { heldUnlessForced } from '../origin/held-for-origin.ts'
import { ofKind, topicsWith } from '../reading/topics-with.ts'
import type { Sql } from '../sql.ts'
import { toQuery } from '../sql-text.ts'

/**
 * Ends the expired leases of applications that claimed by SQL. The attempt counts as failed, because the message may be
 * the reason why the application died. Returns how many.
 */
export async function releaseExpiredLeases(sql: Sql, { limit }: { limit: number }): Promise<number> {
  const [row] = await sql<[{ expired: number }]>`select dlq.expire_leases(null, ${limit}::int) as expired`
  return row.expired
}

/** A RETRYING row that no slot and no lease holds: plain SQL has set it, or an error has left it. */
export function isUnheld(sql: Sql) {
  return sql`status = 'RETRYING' and lease_slot is null and lease_until is null`
}

export type UnheldMessage = { id: string; original_topic: string; status: 'PENDING' | 'DEAD' }

/**
 * Makes RETRYING messages that nobody holds, and nobody has touched for `afterMs`, PENDING again; DEAD where their
 * budget is spent. No attempt is counted, because nobody knows of one. Returns them as they are now.
 */
export async function releaseUnheld(
  sql: Sql,
  { afterMs, limit }: { afterMs: number; limit: number },
): Promise<UnheldMessage[]> {
  // Along idx_dlq_messages_original_topic: what is RETRYING is in flight, and so it is little.
  return sql<UnheldMessage[]>`
    with retrying as materialized (
      select m.id from (${toQuery(sql, topicsWith({ statuses: ['RETRYING'] }))}) kind
      cross join lateral (select m.id from dlq.dlq_messages m where ${toQuery(sql, ofKind)} offset 0) m
    ),
    unheld as materialized (
      select id from dlq.dlq_messages
      -- By their ids: the planner expects few in an array.
      where id = any(array(select id from retrying))
        and ${isUnheld(sql)} and updated_at <= clock_timestamp() - ${afterMs}::int * interval '1 ms'
      limit ${limit}
      for update skip locked
    )
    update dlq.dlq_messages m set ${endOfUnheld(sql)}
    from unheld where m.id = unheld.id
    returning m.id, m.original_topic, m.status`
}

/** The same at once for one message that the caller has locked. Returns its status and schedule. */
export async function releaseUnheldNow(
  sql: Sql,
  id: string,
): Promise<{ status: 'PENDING' | 'DEAD'; next_retry_at: Date | null }> {
  const [row] = await sql<[{ status: 'PENDING' | 'DEAD'; next_retry_at: Date | null }]>`
    update dlq.dlq_messages m set ${endOfUnheld(sql)} where id = ${id} returning status, next_retry_at`
  return row
}

function endOfUnheld(sql: Sql) {
  return sql`
    status = case when m.retry_count >= m.max_retries then 'DEAD' else 'PENDING' end,
    -- Null stays null: it was retried only because somebody asked.
    next_retry_at = case when m.retry_count < m.max_retries and m.next_retry_at is not null
        and not ${heldUnlessForced(sql, 'm.')}
      then dlq.next_retry_at(m.original_topic, m.retry_count) end,
    retry_requested = false, lease_token = null, lease_batch = null`
}
