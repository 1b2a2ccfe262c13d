// What has changed in the fleet since a moment ago: counts of topics, error groups and runs. It costs the same for one
// listener and for many, and grows with the changes and the number of counts, not with the number of messages.

import type { Status } from '../../domain/retry/message-state.ts'
import { lines } from '../reading/summary.ts'
import { isClosed } from '../routes/closed-routes.ts'
import type { Sql } from '../sql.ts'

/** The topics by which a limited listener may hear of something. */
export type HeardBy = {
  dlq_topic: string | null
  original_topic: string | null
  /** The DLQ topic may not speak for the original topic: whoever sees that one alone does not see this. */
  is_held: boolean
}

/** The messages of two topics in one status. */
export type FleetCount = HeardBy & { status: Status; count: number }

/** The messages of an error group with these topics and status. */
export type GroupCount = FleetCount & { group_id: string }

export type FleetSnapshot = {
  /** PostgreSQL's time. */
  at: Date
  /** The same to the microsecond, for the next snapshot. */
  exactlyAt: string
  counts: FleetCount[]
  /** Of the groups whose messages have changed since a minute before `since`. */
  groups: GroupCount[]
  /** What somebody did to a group, since a minute before `since`. */
  groupChanges: { id: string; group_id: string; dlq_topic: string | null; original_topic: string | null }[]
  /** The runs that are active, and those of `known`. `version` changes with the run. */
  runs: { id: string; scope: string[] | null; is_active: boolean; version: string }[]
}

/** Counts are folded, and entries committed, some time after they were written. */
const slack = '60 seconds'

/** `since`: `exactlyAt` of the snapshot before; null: now. `known`: runs whose end the caller has not heard of. */
export async function readFleetChanges(
  sql: Sql,
  { since, known }: { since: string | null; known: readonly string[] },
): Promise<FleetSnapshot> {
  // The time comes first: what happens while the others are read is read again.
  const [now] = await sql<[{ at: Date; text: string }]>`select at, at::text as text from clock_timestamp() at`
  const from = sql`${since ?? now.text}::text::timestamptz - ${slack}::text::interval`
  const [counts, groups, groupChanges, runs] = await Promise.all([
    sql<FleetCount[]>`
      select dlq_topic, original_topic, status, sum(count)::float8 as count, ${isClosed(sql, 'line')} as is_held
      from ${lines(sql)}
      group by dlq_topic, original_topic, status
      having sum(count) > 0`,
    sql<GroupCount[]>`
      with lately as materialized (
        select group_id from dlq.dlq_summary_deltas where group_id is not null
        union
        select group_id from dlq.dlq_summary where group_id is not null and updated_at >= ${from}
      )
      select dlq_topic, original_topic, group_id, status, sum(count)::float8 as count, ${isClosed(sql, 'line')} as is_held
      from ${lines(sql, { withGroups: true })}
      where group_id = any(array(select group_id from lately))
      group by dlq_topic, original_topic, group_id, status`,
    sql<FleetSnapshot['groupChanges']>`
      select id::text as id, target_id as group_id, dlq_topic, original_topic
      from dlq.dlq_audit
      where at >= ${from} and target_type = 'group'
      order by id`,
    sql<FleetSnapshot['runs']>`
      select r.id, r.scope, r.ended_at is null as is_active,
             r.xmin::text || ' ' || (select coalesce(sum(d.n), 0) from dlq.dlq_run_deltas d where d.run_id = r.id) as version
      from dlq.dlq_runs r
      where r.ended_at is null or r.id = any(${sql.array([...known])}::uuid[]) or r.created_at >= ${from}`,
  ])
  return {
    ...{ at: now.at, exactlyAt: now.text },
    ...{ counts: [...counts], groups: [...groups], groupChanges: [...groupChanges], runs: [...runs] },
  }
}
