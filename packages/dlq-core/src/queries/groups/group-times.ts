// dlq_messages: since when and until when a group's messages failed, by their records. dlq_group_topics knows it too, but
// only to half a minute, and not of what was stored before records' times were noted there. So only messages before and
// behind the known times are looked for. An id begins with its record's time, so most partitions have none of them.
//
// The columns are compared by any(array[…]) and are part of the order: message-scan.ts says why.

import { idFloorOf } from '../../domain/record/message-id.ts'
import type { Status } from '../../domain/retry/message-state.ts'
import type { Sql } from '../sql.ts'
import { messageInScope, type TopicScope } from '../topic-scope.ts'

/** So many at each end are looked through for one of a topic that may be seen. */
const endLookedAt = 100

/** `statuses`: those that messages of the group have. */
type SeenGroup = { id: string; first_seen_at: Date; last_seen_at: Date; statuses: readonly Status[] }

/** Null: no message in the scope failed before, or after, the known time. */
export type GroupTimes = { first: Date | null; last: Date | null }

/** By the group's id; groups whose times are the known ones are left out. */
export async function failureTimes(
  sql: Sql,
  { groups, scope }: { groups: readonly SeenGroup[]; scope: TopicScope },
): Promise<Map<string, GroupTimes>> {
  const end = (order: 'asc' | 'desc') => {
    const way = order === 'asc' ? sql`asc` : sql`desc`
    const bound = order === 'asc' ? sql`m.id < seen.before_id` : sql`m.id >= seen.from_id`
    const along = sql`
      from dlq.dlq_messages m
      where m.group_id = any(array[seen.id]) and m.status = any(array[seen.status]) and m.group_id is not null and ${bound}
      order by m.group_id ${way}, m.status ${way}, m.id ${way}`
    if (scope === null) return sql`select least(m.created_at, m.record_timestamp) as at ${along} limit 1`
    return sql`
      select least(bounded.created_at, bounded.record_timestamp) as at
      from (
        select m.id, m.created_at, m.record_timestamp, m.original_topic, m.dlq_topic, m.held_by_route, m.record_source
        ${along} limit ${endLookedAt}
      ) bounded
      where ${messageInScope(sql, scope)}
      order by bounded.id ${way}
      limit 1`
  }
  const places = groups.flatMap(({ id, first_seen_at, last_seen_at, statuses }) => {
    const [before, from] = [idFloorOf(first_seen_at.getTime() + 1), idFloorOf(last_seen_at.getTime())]
    return statuses.map((status) => ({ id, status, before, from }))
  })
  if (places.length === 0) return new Map()
  const rows = await sql<({ id: string } & GroupTimes)[]>`
    select seen.id, min(oldest.at) as first, max(newest.at) as last
    from unnest(
      ${sql.array(places.map(({ id }) => id))}::uuid[], ${sql.array(places.map(({ status }) => status))}::text[],
      ${sql.array(places.map(({ before }) => before))}::uuid[], ${sql.array(places.map(({ from }) => from))}::uuid[]
    ) seen (id, status, before_id, from_id)
    left join lateral (${end('asc')}) oldest on true
    left join lateral (${end('desc')}) newest on true
    where oldest.at is not null or newest.at is not null
    group by seen.id`
  return new Map(rows.map(({ id, ...times }) => [id, times]))
}
