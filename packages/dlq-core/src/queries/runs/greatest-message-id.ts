// dlq_messages: the bound of what a new run may touch.

import type { Sql } from '../sql.ts'

/** The greatest id stored: a bound for what exists now. Null where there is no message. */
export async function greatestMessageId(sql: Sql): Promise<string | null> {
  const [row] = await sql<{ id: string }[]>`select id from dlq.dlq_messages order by id desc limit 1`
  return row?.id ?? null
}
