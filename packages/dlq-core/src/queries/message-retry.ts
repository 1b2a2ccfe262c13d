// dlq_messages: taking back what programs claimed by SQL and never settled. What retriers claim they hold by
// their slot: batches.ts.

import type { Sql } from './sql.ts'

/**
 * Ends leases that ran out, of programs that claimed by SQL. The attempt counts as failed: it may be the
 * message that kills whoever handles it. Returns how many.
 */
export async function releaseExpiredLeases(sql: Sql, { limit }: { limit: number }): Promise<number> {
  const [row] = await sql<[{ expired: number }]>`select dlq.expire_leases(null, ${limit}::int) as expired`
  return row.expired
}

/** The greatest id stored: a bound for what exists now. */
export async function greatestMessageId(sql: Sql): Promise<string | null> {
  const [row] = await sql<{ id: string }[]>`select id from dlq.dlq_messages order by id desc limit 1`
  return row?.id ?? null
}

/** Tells the retriers that something is due. A hint only; they poll as well. */
export async function notifyDue(sql: Sql): Promise<void> {
  await sql`notify dlq_due`
}
