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

/** A group's messages in each of the last 24 hours, the oldest hour first, by their records' times. */
export async function hourlyByGroup(
  sql: Sql,
  { groupIds, scope, now }: { groupIds: readonly string[]; scope: TopicScope; now: Date },
): Promise<Map<string, Total[]>> {
  const rows = await sql<{ key: string; hour: number; count: number }[]>`
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
  const empty = (): Total[] => Array.from({ length: 24 }, () => ({ value: 0, relation: 'eq' }))
  const hours = new Map(groupIds.map((id) => [id, empty()]))
  for (const { key, hour, count } of rows)
    hours.get(key)![hour] =
      count > maxCounted ? { value: maxCounted, relation: 'gte' } : { value: count, relation: 'eq' }
  return hours
}
