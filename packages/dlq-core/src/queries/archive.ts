// dlq_messages_archive: bringing messages back.

import { messageColumns } from './message-columns.ts'
import type { Sql } from './sql.ts'

/** Moves archived messages back, as they were archived. Returns the ids of those that were there. */
export async function restoreArchived(sql: Sql, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  // A fragment, because behind "insert into" the driver would take the names for a row to insert.
  const columns = sql`${sql(messageColumns)}`
  // One statement, so that a message is in exactly one of the tables at any time.
  const rows = await sql<{ id: string }[]>`
    with gone as (
      delete from dlq.dlq_messages_archive
      where id = any(${sql.array([...ids])}::uuid[])
      returning ${columns}
    )
    insert into dlq.dlq_messages (${columns})
    select ${columns} from gone
    returning id`
  return rows.map(({ id }) => id)
}
