// dlq_messages: dead letters without an error group, because an application stored them by SQL. Only TypeScript can
// compute a fingerprint (error-fingerprint.ts), so a retrier does it seconds later.

import { type Sql, toJson } from '../sql.ts'

export type Ungrouped = {
  id: string
  original_topic: string
  error_class: string | null
  error_message: string
  error_stacktrace: string | null
}

/** The length of a stack trace that fingerprints read. */
const readCharacters = 20_480

/** Locks up to `limit` of them, and skips those that another transaction holds. */
export async function lockUngrouped(sql: Sql, { limit }: { limit: number }): Promise<Ungrouped[]> {
  return sql<Ungrouped[]>`
    select id, original_topic, error_class, error_message, left(dlq.stack_trace(m), ${readCharacters}::int) as error_stacktrace
    from dlq.dlq_messages m
    where group_id is null
    order by id
    limit ${limit}
    for update skip locked`
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
