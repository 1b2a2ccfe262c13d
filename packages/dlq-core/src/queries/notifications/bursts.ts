// dlq_messages: error groups that fail much more often than usual. Each count goes along the index of group, status and
// id up to a bound, as in group-trend.ts.

import { statuses } from '../../domain/retry/message-state.ts'
import type { Sql } from '../sql.ts'

export type Burst = { group_id: string; title: string; dlq_topic: string; owner: string | null; in_5m: number }

/** A burst: so many in five minutes, and so many times the usual. It lasts while 15 minutes have twice the usual. */
const least = 20
const times = { begin: 5, last: 2 }
/** Groups that failed lately: of each DLQ topic in turn the one that failed last, so that one topic's hide no other's. */
const maxGroups = 50
/** A group with more than 57.6 times this in a day has no bursts that this would see. */
const maxCounted = 2000
/** Where several DLQ topics share a group, the messages of one are looked for among this many times as many. */
const lookedThrough = 10
const fiveMinutesADay = 288

export type OpenBurst = { group_id: string; dlq_topic: string }

/**
 * The groups that burst at `now`, each with the DLQ topic where it does, by the times of their records: a backlog that is
 * ingested is no burst. Whoever writes one DLQ topic can have another team's groups there, so each topic counts for itself.
 * `open`: those whose burst was noted before, and may last.
 */
export async function listBursts(sql: Sql, { now, open }: { now: Date; open: readonly OpenBurst[] }): Promise<Burst[]> {
  const since = (minutes: number) => sql`dlq.uuid_floor(${now}::timestamptz - ${minutes}::int * interval '1 minute')`
  const counted = (
    from: ReturnType<typeof since>,
    until: ReturnType<typeof since> | null,
    limit: ReturnType<Sql>,
  ) => sql`
    select sum(part.n)::float8 as n
    from unnest(${sql.array([...statuses])}::text[]) as each (status)
    cross join lateral (
      select count(*) filter (where not lately.is_shared or topic = lately.dlq_topic) as n from (
        select coalesce(m.dlq_topic, m.original_topic) as topic from dlq.dlq_messages m
        where m.group_id = any(array[lately.group_id]) and m.status = any(array[each.status]) and m.group_id is not null
          and m.id >= ${from} ${until === null ? sql`` : sql`and m.id < ${until}`}
        order by m.group_id, m.status, m.id
        limit ${limit} * case when lately.is_shared then ${lookedThrough}::int else 1 end) bounded
    ) part`
  const openIds = sql.array(open.map(({ group_id }) => group_id))
  const openTopics = sql.array(open.map(({ dlq_topic }) => dlq_topic))
  return sql<Burst[]>`
    with lately as materialized (
      select t.group_id, t.dlq_topic, t.owner, t.last_seen_at
      from dlq.dlq_group_topics t
      where t.last_seen_at > ${now}::timestamptz - interval '15 minutes'
    ),
    newest as materialized (
      select group_id, dlq_topic, owner,
             exists (
               select from dlq.dlq_group_topics other
               where other.group_id = placed.group_id and other.dlq_topic <> placed.dlq_topic) as is_shared
      from (select *, row_number() over (partition by dlq_topic order by last_seen_at desc) as place from lately) placed
      order by place, last_seen_at desc
      limit ${maxGroups}
    ),
    recent as materialized (
      select lately.*, in_5m.n as in_5m, in_15m.n as in_15m,
             exists (
               select from unnest(${openIds}::uuid[], ${openTopics}::text[]) as noted (group_id, dlq_topic)
               where noted.group_id = lately.group_id and noted.dlq_topic = lately.dlq_topic) as is_open
      from newest lately
      cross join lateral (${counted(since(5), null, sql`${maxCounted}`)}) in_5m
      cross join lateral (${counted(since(15), null, sql`${maxCounted}`)}) in_15m
    )
    select lately.group_id, g.title, lately.dlq_topic, lately.owner, lately.in_5m
    from recent lately
    join dlq.dlq_groups g on g.id = lately.group_id
    -- The most that a day may have for this to be a burst, and one more.
    cross join lateral (
      select case when is_open then in_15m * ${fiveMinutesADay / 3 / times.last}::float8
                  else in_5m * ${fiveMinutesADay / times.begin}::float8 end as most
    ) bound
    cross join lateral (${counted(since(24 * 60), since(15), sql`(floor(bound.most) + 1)::bigint`)}) in_day
    where g.forgotten_at is null and case when is_open then in_15m > 0 else in_5m >= ${least} end
      and in_day.n <= bound.most
    order by lately.group_id, lately.dlq_topic`
}
