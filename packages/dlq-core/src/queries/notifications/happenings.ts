// What has happened, and what lasts, as the other tables tell it. Each statement reads a bounded number of rows.

import type { RunKind } from '../../domain/message/run-kinds.ts'
import { touchEveryMs } from '../groups/admit-groups.ts'
import { isRegressed } from '../groups/regressed.ts'
import { believedLines } from '../reading/summary.ts'
import type { Sql } from '../sql.ts'
import { keptMs } from './kept-since.ts'

/** A deployment that breaks everything makes new groups by the thousand, and those that were left out nobody would hear of. */
const mostGroups = 5000
/** Of each actor, and as many that are paused: one actor's runs hide nobody's. */
const mostRuns = 200

export type GroupHappening = {
  type: 'group.new' | 'group.regressed' | 'group.paused' | 'group.resumed'
  group_id: string
  title: string
  original_topic: string | null
  dlq_topic: string | null
  owner: string | null
  reason: string | null
  /** As text with microseconds. */
  when: string
}

/**
 * Error groups that are new, failed after somebody had resolved them, or were paused or resumed since `after`. Their
 * failures were stored since then; their records may have been written long before, while no ingester ran, say. A new
 * group is left out where its event is noted, and where it is so old that the event may be forgotten by now.
 */
export async function listGroupHappenings(sql: Sql, { after }: { after: Date }): Promise<GroupHappening[]> {
  const storedSince = sql`g.last_seen_at > ${after}::timestamptz - ${touchEveryMs}::int * interval '1 ms'`
  return sql<GroupHappening[]>`
    (select 'group.new' as type, t.group_id, g.title, null::text as original_topic, t.dlq_topic, t.owner, null::text as reason,
            t.first_seen_at::text as when
     from dlq.dlq_group_topics t join dlq.dlq_groups g on g.id = t.group_id
     where ${storedSince} and g.forgotten_at is null and t.first_seen_at > now() - ${keptMs}::float8 * interval '1 ms'
       -- "not in" is hashed whatever the planner knows of the table; a join by loops takes 8 s for 8,000 groups.
       and (t.group_id, t.dlq_topic) not in (
         select e.group_id, e.dlq_topic from dlq.dlq_events e
         where e.type = 'group.new' and e.group_id is not null and e.dlq_topic is not null)
     order by t.first_seen_at limit ${mostGroups})
    union all
    (select 'group.regressed', t.group_id, g.title, null, t.dlq_topic, t.owner, null, t.state_changed_at::text
     from dlq.dlq_group_topics t join dlq.dlq_groups g on g.id = t.group_id
     where ${storedSince} and ${isRegressed(sql)}
     order by t.last_seen_at desc limit ${mostGroups})
    union all
    (select 'group.paused', p.group_id, g.title, p.original_topic, null, null, p.reason, p.paused_at::text
     from dlq.dlq_group_pauses p join dlq.dlq_groups g on g.id = p.group_id
     where p.paused_at > ${after} and p.resumed_at is null limit ${mostGroups})
    union all
    (select 'group.resumed', p.group_id, g.title, p.original_topic, null, null, p.reason, p.resumed_at::text
     from dlq.dlq_group_pauses p join dlq.dlq_groups g on g.id = p.group_id
     where p.resumed_at > ${after} limit ${mostGroups})`
}

export type RunHappening = {
  id: string
  kind: RunKind
  status: 'completed' | 'cancelled' | 'failed' | 'paused'
  status_reason: string | null
  actor: string
  taken: number
  /** Changed, by a run that sends nothing. */
  done: number
  resolved: number
  failed: number
  failed_again: number
  /** JSON text; null before the first count. */
  verdicts: string | null
}

/** Runs that ended since `after`, and those that are paused. */
export async function listRunHappenings(sql: Sql, { after }: { after: Date }): Promise<RunHappening[]> {
  return sql<RunHappening[]>`
    select r.id, r.kind, r.status, r.status_reason, r.actor,
           r.taken::float8 as taken, r.done::float8 as done, (r.resolved + coalesce(d.resolved, 0))::float8 as resolved,
           (r.failed + coalesce(d.failed, 0))::float8 as failed,
           (r.failed_again + coalesce(d.failed_again, 0))::float8 as failed_again,
           (select v.counts::text from dlq.dlq_run_verdicts v where v.run_id = r.id) as verdicts
    from (
      select *, row_number() over (partition by actor, status = 'paused' order by created_at desc) as place
      from dlq.dlq_runs
      where status = 'paused' or ended_at > ${after}
    ) r
    left join lateral (
      select sum(n) filter (where outcome = 'resolved') as resolved, sum(n) filter (where outcome = 'failed') as failed,
             sum(n) filter (where outcome = 'failed_again') as failed_again
      from dlq.dlq_run_deltas d where d.run_id = r.id
    ) d on true
    -- One that is paused and left out would seem to go on.
    where r.place <= ${mostRuns}
    order by r.created_at desc`
}

export type DeadTopic = { original_topic: string; dead: number }

/**
 * Of every topic with at least `least` DEAD messages: one that were left out would seem to have fewer. Messages that their
 * route holds count under their DLQ topic: a claim must page nobody else.
 */
export async function listDeadTopics(sql: Sql, { least }: { least: number }): Promise<DeadTopic[]> {
  return sql<DeadTopic[]>`
    select original_topic, sum(count)::float8 as dead from ${believedLines(sql)}
    where status = 'DEAD' group by original_topic having sum(count) >= ${least}`
}

/** For how long no ingester has looked at any DLQ topic; null where there is none to look at. */
export async function ingestersSilentMs(sql: Sql): Promise<number | null> {
  const [row] = await sql<{ ms: number | null }[]>`
    select (extract(epoch from clock_timestamp() - max(looked_at)) * 1000)::float8 as ms
    from dlq.dlq_topics where gone_at is null`
  return row!.ms
}
