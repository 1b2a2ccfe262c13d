// dlq_messages: deletes messages that will not be retried: DEAD ones without budget. Each call needs a transaction,
// because it locks the messages first and then deletes them.

import type { Sql } from '../sql.ts'
import { messageInScope, type TopicScope } from '../topic-scope.ts'
import { deleteMessages } from './delete-messages.ts'

/** An original topic and a consumer group of it. Null: the messages whose group is unknown. */
export type Consumer = { originalTopic: string; consumerGroup: string | null }

/**
 * Reads the consumer's next DEAD messages after `afterId` in the order of ids, at most `limit`, and deletes those
 * whose budget is spent. Returns the last id that it read, null at the end.
 */
export async function purgeSpent(
  sql: Sql,
  {
    originalTopic,
    consumerGroup,
    scope,
    afterId,
    limit,
  }: Consumer & { scope: TopicScope; afterId: string; limit: number },
): Promise<{ lastId: string | null; deleted: number }> {
  const [row] = await sql<[{ last_id: string | null; ids: string[] }]>`
    with chunk as materialized (
      select id, retry_count >= max_retries and consumer_group is not distinct from ${consumerGroup}::text as goes
      from dlq.dlq_messages
      where original_topic = ${originalTopic} and status = 'DEAD' and id > ${afterId} and ${messageInScope(sql, scope)}
      order by id
      limit ${limit}
    ),
    going as materialized (
      -- The conditions are tested again under the lock, because somebody may have revived a message since.
      -- As an array, because for a join with the chunk the planner may read every partition.
      select m.id from dlq.dlq_messages m
      where m.id = any(array(select id from chunk where goes)) and m.status = 'DEAD' and m.retry_count >= m.max_retries
      order by m.id
      for update of m
    )
    select (select max(id::text)::uuid from chunk) as last_id, array(select id from going) as ids`
  return { lastId: row.last_id, deleted: await deleteMessages(sql, { ids: row.ids, archived: false }) }
}

/** Deletes one DEAD message of the consumer if its budget is spent, and returns its DLQ topic. Otherwise says why it did not. */
export async function deleteSpent(
  sql: Sql,
  { id, originalTopic, consumerGroup, scope }: Consumer & { id: string; scope: TopicScope },
): Promise<{ dlq_topic: string | null } | 'not_found' | 'not_spent'> {
  const [row] = await sql<{ is_spent: boolean; dlq_topic: string | null }[]>`
    select status = 'DEAD' and retry_count >= max_retries as is_spent, dlq_topic
    from dlq.dlq_messages
    where id = ${id} and original_topic = ${originalTopic} and consumer_group is not distinct from ${consumerGroup}::text
      and ${messageInScope(sql, scope)}
    for update`
  if (!row) return 'not_found'
  if (!row.is_spent) return 'not_spent'
  await deleteMessages(sql, { ids: [id], archived: false })
  return { dlq_topic: row.dlq_topic }
}
