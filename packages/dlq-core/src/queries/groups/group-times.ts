// dlq_messages: since when and until when a group's messages failed, by their records. dlq_group_topics knows it too, but
// only to half a minute, and not of what was stored before records' times were noted there.
//
// The columns are compared by any(array[…]) and are part of the order: message-scan.ts says why.

import { statuses } from '../../domain/retry/message-state.ts'
import type { Sql } from '../sql.ts'
import { messageInScope, type TopicScope } from '../topic-scope.ts'

/** So many at each end are looked through for one of a topic that may be seen. */
const endLookedAt = 100

export type GroupTimes = { first: Date; last: Date }

/** Groups without a message in the scope are left out. */
export async function failureTimes(
  sql: Sql,
  { groupIds, scope }: { groupIds: readonly string[]; scope: TopicScope },
): Promise<Map<string, GroupTimes>> {
  const end = (order: 'asc' | 'desc') => {
    const way = order === 'asc' ? sql`asc` : sql`desc`
    return sql`
      select least(bounded.created_at, bounded.record_timestamp) as at
      from (select m.id, m.created_at, m.record_timestamp, m.original_topic, m.dlq_topic, m.held_by_route, m.record_source
            from dlq.dlq_messages m
            where m.group_id = any(array[key]) and m.status = any(array[status.status]) and m.group_id is not null
            order by m.group_id ${way}, m.status ${way}, m.id ${way}
            limit ${scope === null ? 1 : endLookedAt}) bounded
      where ${messageInScope(sql, scope)}
      order by bounded.id ${way}
      limit 1`
  }
  const rows = await sql<{ key: string; first: Date; last: Date }[]>`
    select key, min(oldest.at) as first, max(newest.at) as last
    from unnest(${sql.array([...groupIds])}::uuid[]) key
    cross join unnest(${sql.array([...statuses])}::text[]) status
    cross join lateral (${end('asc')}) oldest
    cross join lateral (${end('desc')}) newest
    group by key`
  return new Map(rows.map(({ key, ...times }) => [key, times]))
}
