// dlq_siblings: the messages that stand for one record. Every consumer group reads what is republished; each group that
// fails on it gets a message of its own, and no more than one.

import { type Sql, toJson } from '../sql.ts'

export type Sibling = {
  root_id: string
  /** Without the suffix of a retry topic. */
  consumer_group: string
  message_id: string
  /** The attempts that the group has failed on. */
  failed_attempts: readonly string[]
}

/** The siblings of the messages, themselves included. Empty for messages that no second group has failed on. */
export async function findSiblings(sql: Sql, messageIds: readonly string[]): Promise<Sibling[]> {
  const ids = sql.array([...messageIds])
  return sql<Sibling[]>`
    select root_id, consumer_group, message_id, failed_attempts
    from dlq.dlq_siblings
    where root_id = any(array(
      select root_id from dlq.dlq_siblings where root_id = any(${ids}::uuid[]) or message_id = any(${ids}::uuid[])))`
}

/** Writes siblings as they are now. Their root must be locked, so that one writer at a time adds to its siblings. */
export async function saveSiblings(sql: Sql, siblings: readonly Sibling[]): Promise<void> {
  if (siblings.length === 0) return
  await sql`
    insert into dlq.dlq_siblings (root_id, consumer_group, message_id, failed_attempts)
    select root_id, consumer_group, message_id, failed_attempts
    from json_to_recordset(${toJson(siblings)}::json) as s (
      root_id uuid, consumer_group text, message_id uuid, failed_attempts uuid[])
    order by root_id, consumer_group
    on conflict (root_id, consumer_group) do update set
      message_id = excluded.message_id, failed_attempts = excluded.failed_attempts`
}
