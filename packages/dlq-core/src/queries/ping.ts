// Whether the database answers: what readiness asks.

import type { Sql } from './sql.ts'

export async function pingDatabase(sql: Sql): Promise<void> {
  await sql`select 1`
}
