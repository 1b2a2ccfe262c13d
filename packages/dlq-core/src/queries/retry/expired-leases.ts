// dlq_messages: ends expired leases of messages that applications claimed by SQL and never settled. Retriers hold
// their messages by their slot: batches.ts.

import type { Sql } from '../sql.ts'

/**
 * Ends the expired leases of applications that claimed by SQL. The attempt counts as failed, because the message may be
 * the reason why the application died. Returns how many.
 */
export async function releaseExpiredLeases(sql: Sql, { limit }: { limit: number }): Promise<number> {
  const [row] = await sql<[{ expired: number }]>`select dlq.expire_leases(null, ${limit}::int) as expired`
  return row.expired
}
