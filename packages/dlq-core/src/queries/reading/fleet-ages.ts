// Since when messages wait, for the fleet's gauges. A claim that its route holds must page nobody but the team of its
// DLQ topic: it counts under that topic's name, as a message whose original topic nobody knows.

import { isClosed } from '../routes/closed-routes.ts'
import type { Sql } from '../sql.ts'
import { lines } from './summary.ts'

/** Of one DLQ topic, this many original topics are looked at, those with most messages: it hides no others then. */
const maxTopics = { open: 1000, held: 100 }
/** At most this many of a topic's messages are looked through, for the first one that a DLQ topic claims. */
const maxLookedThrough = 1000

/** Since when the oldest PENDING, or DEAD, message of each topic has waited; of `limit` topics, those that wait longest. */
export async function oldestOfFleet(
  sql: Sql,
  { status, limit }: { status: 'PENDING' | 'DEAD'; limit: number },
): Promise<Map<string, Date>> {
  const since = sql`least(m.created_at, m.record_timestamp) as since`
  const rows = await sql<{ topic: string; since: Date }[]>`
    with pair as materialized (
      select dlq_topic, original_topic, is_closed,
             row_number() over (partition by dlq_topic, is_closed order by count desc) as place
      from (
        select dlq_topic, original_topic, count, ${isClosed(sql, 'line')} as is_closed
        from (
          select dlq_topic, original_topic, sum(count) as count from ${lines(sql)}
          where status = ${status}
          group by dlq_topic, original_topic having sum(count) > 0
        ) line
      ) judged
    )
    select topic, min(since) as since
    from (
      select topic, oldest.since
      from (select distinct original_topic as topic from pair where not is_closed and place <= ${maxTopics.open}) open
      cross join lateral (
        -- An id begins with its record's time, so this is the first entry of (original_topic, status, id).
        select ${since} from dlq.dlq_messages m
        where m.original_topic = open.topic and m.status = ${status} and not m.held_by_route
        order by m.id
        limit 1
      ) oldest
      union all
      select pair.dlq_topic, oldest.since
      from pair
      cross join lateral (
        select ${since}
        from (
          select m.id, m.created_at, m.record_timestamp, m.dlq_topic, m.held_by_route from dlq.dlq_messages m
          where m.original_topic = pair.original_topic and m.status = ${status}
          order by m.id
          limit ${maxLookedThrough}
        ) m
        where m.dlq_topic = pair.dlq_topic and m.held_by_route
        order by m.id
        limit 1
      ) oldest
      where pair.is_closed and pair.place <= ${maxTopics.held}
    ) found
    group by topic
    order by since
    limit ${limit}`
  return new Map(rows.map(({ topic, since }) => [topic, since]))
}

/** Ends each further statement of the transaction that takes longer. */
export async function limitTime(sql: Sql, ms: number): Promise<void> {
  await sql`select set_config('statement_timeout', ${String(ms)}, true)`
}
