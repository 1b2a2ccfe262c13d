// dlq_messages: since when and until when a group's messages failed, by their records. dlq_group_topics knows it too, but
// only to half a minute, and not of what was stored before records' times were noted there. So only messages before and
// behind the known times are looked for. An id begins with its record's time, so most partitions have none of them.
//
// The columns are compared by any(array[…]) and are part of the order: message-scan.ts says why.

import { idFloorOf } from '../../domain/record/message-id.ts'
import { statuses } from '../../domain/retry/message-state.ts'
import type { Sql } from '../sql.ts'
import { messageInScope, type TopicScope } from '../topic-scope.ts'

/** So many at each end are looked through for one of a topic that may be seen. */
const endLookedAt = 100

type SeenGroup = { id: string; first_seen_at: Date; last_seen_at: Date }

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
    return sql`
      select least(bounded.created_at, bounded.record_timestamp) as at
      from (select m.id, m.created_at, m.record_timestamp, m.original_topic, m.dlq_topic, m.held_by_route, m.record_source
            from dlq.dlq_messages m
            where m.group_id = any(array[seen.id]) and m.status = any(array[status.status]) and m.group_id is not null
              and ${bound}
            order by m.group_id ${way}, m.status ${way}, m.id ${way}
            limit ${scope === null ? 1 : endLookedAt}) bounded
      where ${messageInScope(sql, scope)}
      order by bounded.id ${way}
      limit 1`
  }
  const rows = await sql<({ id: string } & GroupTimes)[]>`
    select seen.id, min(oldest.at) as first, max(newest.at) as last
    from unnest(
      ${sql.array(groups.map(({ id }) => id))}::uuid[],
      ${sql.array(groups.map((group) => idFloorOf(group.first_seen_at.getTime() + 1)))}::uuid[],
      ${sql.array(groups.map((group) => idFloorOf(group.last_seen_at.getTime())))}::uuid[]) seen (id, before_id, from_id)
    cross join unnest(${sql.array([...statuses])}::text[]) status
    left join lateral (${end('asc')}) oldest on true
    left join lateral (${end('desc')}) newest on true
    where oldest.at is not null or newest.at is not null
    group by seen.id`
  return new Map(rows.map(({ id, ...times }) => [id, times]))
}
