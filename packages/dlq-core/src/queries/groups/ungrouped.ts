// dlq_messages: dead letters without an error group, because an application stored them by SQL. Only TypeScript can
// compute a fingerprint (error-fingerprint.ts), so a retrier does it seconds later.

import { headChars, searchedChars, tailChars } from '../../domain/grouping/stack-trace.ts'
import { type Fragment, type Sql, toJson } from '../sql.ts'

export type Ungrouped = {
  id: string
  original_topic: string
  error_class: string | null
  error_message: string
  error_stacktrace: string | null
}

/** Locks up to `limit` of them, and skips those that another transaction holds. */
export async function lockUngrouped(sql: Sql, { limit }: { limit: number }): Promise<Ungrouped[]> {
  return sql<Ungrouped[]>`
    with locked as materialized (
      select id, original_topic, error_class, error_message, dlq.stack_trace(m) as trace
      from dlq.dlq_messages m
      where group_id is null
      order by id
      limit ${limit}
      for update skip locked
    )
    select id, original_topic, error_class, error_message, ${clippedTrace(sql)} as error_stacktrace
    from locked
    order by id`
}

/** What a fingerprint reads of the column `trace`, as its clip() says: five hundred whole ones may not fit into memory. */
function clippedTrace(sql: Sql): Fragment {
  const marker = '\nCaused by: '
  return sql`
    case when length(trace) <= ${headChars + tailChars}::int then trace else left(trace, ${headChars}) || (
      select case
        -- The last one, found as the first one from the end.
        when at > 0 then left(right(searched, at + ${marker.length - 1}::int), ${tailChars})
        when last like E'%\n%' then substr(last, strpos(last, E'\n'))
        else '' end
      from (select right(trace, least(${searchedChars}::int, length(trace) - ${headChars}::int)) as searched,
                   right(trace, ${tailChars}) as last) part
      cross join lateral (select strpos(reverse(searched), reverse(${marker})) as at) found
    ) end`
}

/** Writes the groups of messages. */
export async function assignGroups(sql: Sql, groups: readonly { id: string; group_id: string }[]): Promise<void> {
  if (groups.length === 0) return
  await sql`
    update dlq.dlq_messages m set group_id = found.group_id
    from json_to_recordset(${toJson(groups)}::json) as found (id uuid, group_id uuid)
    -- The ids again, because the planner expects a hundred rows of the JSON and may read every partition for the join.
    where m.id = found.id and m.id = any(${sql.array(groups.map(({ id }) => id))}::uuid[])`
}
