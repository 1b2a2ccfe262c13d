// dlq_runs: how many runs are active at once, and which queued ones begin.

import type { Sql } from '../sql.ts'
import { moveRun } from './runs.ts'

/**
 * Lets a queued run begin, unless `maxActive` runs are active already. Those of one actor whose topics are limited take all
 * but one of these places, however many they are and whatever was resumed: else slow runs of one team would keep those of
 * all others queued. Concurrent callers wait for each other.
 */
export async function admitRun(sql: Sql, { id, maxActive }: { id: string; maxActive: number }): Promise<boolean> {
  await sql`select pg_advisory_xact_lock(hashtextextended('dlq.admit_run', 0))`
  const mostOfOne = Math.max(1, maxActive - 1)
  const [row] = await sql<[{ taken: number; is_full: boolean }]>`
    select coalesce(sum(case when is_limited then least(runs, ${mostOfOne}) else runs end), 0)::int as taken,
           coalesce(bool_or(is_limited and runs >= ${mostOfOne} and active.actor = r.actor and r.scope is not null), false) as is_full
    from (
      select actor, scope is not null as is_limited, count(*)::int as runs from dlq.dlq_runs
      where ended_at is null and status in ('running', 'cancelling')
      group by actor, scope is not null
    ) active
    cross join (select actor, scope from dlq.dlq_runs where id = ${id}) r`
  return row.taken < maxActive && !row.is_full && (await moveRun(sql, { id, from: ['queued'], to: 'running' }))
}

/** How many runs are active, and so keep others queued. */
export async function countActiveRuns(sql: Sql): Promise<number> {
  const [row] = await sql<{ active: number }[]>`
    select count(*)::int as active from dlq.dlq_runs where ended_at is null and status in ('running', 'cancelling')`
  return row!.active
}
