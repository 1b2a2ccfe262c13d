// dlq_run_deltas of runs that have ended: messages of a run may fail again long afterwards, and then no step of the run
// adds them up any more.

import type { Sql } from '../sql.ts'

/** Up to `limit` runs behind `after` that have ended and have deltas, in the order of ids: one step of the index for each run. */
export async function listEndedWithDeltas(
  sql: Sql,
  { after, limit }: { after: string; limit: number },
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    with recursive walk as (
      (select run_id from dlq.dlq_run_deltas where run_id > ${after} order by run_id limit 1)
      union all
      select next.run_id from walk cross join lateral (
        select run_id from dlq.dlq_run_deltas d where d.run_id > walk.run_id order by run_id limit 1) next
    )
    select walk.run_id as id from walk
    where exists (select from dlq.dlq_runs r where r.id = walk.run_id and r.ended_at is not null)
    limit ${limit}`
  return rows.map(({ id }) => id)
}

/** Deletes up to `limit` deltas of runs that are deleted. Returns how many. */
export async function deleteDeltasOfNoRun(sql: Sql, { limit }: { limit: number }): Promise<number> {
  const result = await sql`
    delete from dlq.dlq_run_deltas where ctid = any(array(
      select d.ctid from dlq.dlq_run_deltas d
      where not exists (select from dlq.dlq_runs r where r.id = d.run_id)
      limit ${limit}))`
  return result.count
}
