// dlq_messages: how many there are per topic and per error group. Counted along the indexes, up to a bound each,
// so that a topic with millions costs no more than one with a thousand. The only place that counts for people.
//
// The columns are equated by any(array[…]) and stand in the order: message-scan.ts says why.

import type { Status } from '../message.ts'
import { statuses } from '../message.ts'
import type { Total } from './message-search.ts'
import type { Sql } from './sql.ts'
import { inScope, type TopicScope } from './topic-scope.ts'

export type StatusCounts = Record<Status, Total>

/** Each is counted up to here. */
const maxCounted = 1000

/** `examined`: how many were looked at; absent where all of them count. */
type CountRow = { key: string; status: Status; count: number; examined?: number }

/** Per name, the messages of each status; every name has an entry. */
export async function countByTopic(
  sql: Sql,
  { column, topics }: { column: 'dlq_topic' | 'original_topic'; topics: readonly string[] },
): Promise<Map<string, StatusCounts>> {
  const rows = await sql<CountRow[]>`
    select key, status, counted.count
    from unnest(${sql.array([...topics])}::text[]) key
    cross join unnest(${sql.array([...statuses])}::text[]) status
    cross join lateral (
      select count(*)::int as count
      from (select from dlq.dlq_messages m
            where m.${sql(column)} = any(array[key]) and m.status = any(array[status.status])
            order by m.${sql(column)}, m.status, m.id
            limit ${maxCounted + 1}) bounded
    ) counted`
  return collect(topics, rows)
}

/** As `countByTopic`, of error groups; of messages in the scope, among so many as were looked at. */
export async function countByGroup(
  sql: Sql,
  { groupIds, scope }: { groupIds: readonly string[]; scope: TopicScope },
): Promise<Map<string, StatusCounts>> {
  const rows = await sql<CountRow[]>`
    select key, status, counted.count, counted.examined
    from unnest(${sql.array([...groupIds])}::uuid[]) key
    cross join unnest(${sql.array([...statuses])}::text[]) status
    cross join lateral (
      select (count(*) filter (where ${inScope(sql, scope)}))::int as count, count(*)::int as examined
      from (select m.original_topic, m.dlq_topic from dlq.dlq_messages m
            where m.group_id = any(array[key]) and m.status = any(array[status.status]) and m.group_id is not null
            order by m.group_id desc, m.status desc, m.id desc
            limit ${maxCounted + 1}) bounded
    ) counted`
  return collect(groupIds, rows)
}

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
      select (count(*) filter (where ${inScope(sql, scope)}))::int as count
      from (select m.original_topic, m.dlq_topic from dlq.dlq_messages m
            where m.group_id = any(array[key]) and m.status = any(array[status.status]) and m.group_id is not null
              and m.id >= hour.from_id and m.id < hour.to_id
            order by m.group_id, m.status, m.id
            limit ${maxCounted + 1}) bounded
    ) counted
    group by key, hour.hour`
  const empty = (): Total[] => Array.from({ length: 24 }, () => ({ value: 0, relation: 'eq' }))
  const hours = new Map(groupIds.map((id) => [id, empty()]))
  for (const { key, hour, count } of rows) hours.get(key)![hour] = toTotal(count)
  return hours
}

function collect(keys: readonly string[], rows: readonly CountRow[]): Map<string, StatusCounts> {
  const none = () =>
    Object.fromEntries(statuses.map((status) => [status, { value: 0, relation: 'eq' }])) as StatusCounts
  const counts = new Map(keys.map((key) => [key, none()]))
  for (const { key, status, count, examined } of rows) counts.get(key)![status] = toTotal(count, examined)
  return counts
}

function toTotal(count: number, examined = count): Total {
  return { value: Math.min(count, maxCounted), relation: examined > maxCounted ? 'gte' : 'eq' }
}
