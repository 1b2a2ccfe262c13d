// dlq_runs: how many runs one actor has, so that nobody's runs keep those of others waiting.

import type { Sql } from '../sql.ts'

/** How many runs of the actor have not ended, and how many of these have not begun. `limited`: only those of a token for some topics. */
export async function countOwnRuns(
  sql: Sql,
  { actor, limited = false }: { actor: string; limited?: boolean },
): Promise<{ unended: number; queued: number }> {
  const [row] = await sql<[{ unended: number; queued: number }]>`
    select count(*)::int as unended, (count(*) filter (where status = 'queued'))::int as queued
    from dlq.dlq_runs
    where ended_at is null and actor = ${actor} ${limited ? sql`and scope is not null` : sql``}`
  return row
}
