// A lock for work that only one process may do at a time.

import type { Sql } from './sql.ts'

/** Takes the lock of that name until the transaction ends. False where another transaction has it. */
export async function tryLock(sql: Sql, name: string): Promise<boolean> {
  const [row] = await sql<{ locked: boolean }[]>`
    select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as locked`
  return row!.locked
}
