// dlq_messages: how many messages of a group arrived in each hour. Each count goes along the index up to a bound, so a
// group with millions of messages costs no more than one with a thousand. All other counts are exact: summary.ts.
//
// The columns are compared by any(array[…]) and are part of the order: message-scan.ts says why.

import { statuses } from '../../domain/retry/message-state.ts'
import type { Total } from '../reading/message-search.ts'
import type { Sql } from '../sql.ts'
import { messageInScope, type TopicScope } from '../topic-scope.ts'

/** Each count stops here. */
const maxCounted = 1000
/** A day with so many messages of one status is read in one go. Where there are more, each hour is read for itself. */
const maxReadAtOnce = 2000

/** A group's messages in each of the last 24 hours, the oldest hour first, by their records' times. */
export async function hourlyByGroup(
  sql: Sql,
  { groupIds, scope, now }: { groupIds: readonly string[]; scope: TopicScope; now: Date },
): Promise<Map<string, Total[]>> {
  const empty = (): Total[] => Array.from({ length: 24 }, () => ({ value: 0, relation: 'eq' }))
  const hours = new Map(groupIds.map((id) => [id, empty()]))
  const many = new Set<string>()
  for (const { key, hour, read, count } of await readDays(sql, { groupIds, scope, now })) {
    if (read > maxReadAtOnce) many.add(key)
    hours.get(key)![hour]!.value += count
  }
  if (many.size === 0) return hours
  for (const key of many) hours.set(key, empty())
  for (const { key, hour, count } of await readHours(sql, { groupIds: [...many], scope, now }))
    hours.get(key)![hour] =
      count > maxCounted ? { value: maxCounted, relation: 'gte' } : { value: count, relation: 'eq' }
  return hours
}

type Asked = { groupIds: readonly string[]; scope: TopicScope; now: Date }

/** The messages of each group in each hour, by status. `read`: how many were read of that group and status. */
async function readDays(sql: Sql, { groupIds, scope, now }: Asked) {
  return sql<{ key: string; hour: number; read: number; count: number }[]>`
    with edge as materialized (
      select array_agg(dlq.uuid_floor(${now}::timestamptz - (24 - hour) * interval '1 hour') order by hour) as ids
      from generate_series(0, 24) hour
    )
    select key, width_bucket(m.id, edge.ids) - 1 as hour, (count(*) filter (where ${messageInScope(sql, scope, 'm.')}))::int as count,
           (sum(count(*)) over (partition by key, status.status))::int as read
    from edge
    cross join unnest(${sql.array([...groupIds])}::uuid[]) key
    cross join unnest(${sql.array([...statuses])}::text[]) status
    cross join lateral (
      select m.id, m.original_topic, m.dlq_topic, m.held_by_route, m.record_source from dlq.dlq_messages m
      where m.group_id = any(array[key]) and m.status = any(array[status.status]) and m.group_id is not null
        and m.id >= edge.ids[1] and m.id < edge.ids[25]
      order by m.group_id, m.status, m.id
      limit ${maxReadAtOnce + 1}
    ) m
    group by key, status.status, width_bucket(m.id, edge.ids)`
}

/** The messages of each group in each hour. */
async function readHours(sql: Sql, { groupIds, scope, now }: Asked) {
  return sql<{ key: string; hour: number; count: number }[]>`
    select key, hour.hour, sum(counted.count)::int as count
    from unnest(${sql.array([...groupIds])}::uuid[]) key
    cross join (
      select hour, dlq.uuid_floor(${now}::timestamptz - (24 - hour) * interval '1 hour') as from_id,
             dlq.uuid_floor(${now}::timestamptz - (23 - hour) * interval '1 hour') as to_id
      from generate_series(0, 23) hour
    ) hour
    cross join unnest(${sql.array([...statuses])}::text[]) status
    cross join lateral (
      select (count(*) filter (where ${messageInScope(sql, scope)}))::int as count
      from (select m.original_topic, m.dlq_topic, m.held_by_route, m.record_source from dlq.dlq_messages m
            where m.group_id = any(array[key]) and m.status = any(array[status.status]) and m.group_id is not null
              and m.id >= hour.from_id and m.id < hour.to_id
            order by m.group_id, m.status, m.id
            limit ${maxCounted + 1}) bounded
    ) counted
    group by key, hour.hour`
}
