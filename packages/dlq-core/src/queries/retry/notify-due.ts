// The notification that wakes retriers. They listen for it between their polls.

import type { Sql } from '../sql.ts'

/** Tells the retriers that a message is due. It is only a hint, because they poll as well. */
export async function notifyDue(sql: Sql): Promise<void> {
  await sql`notify dlq_due`
}
