// dlq_messages: deleting what nobody will retry: DEAD, and its budget spent.

import type { Sql } from './sql.ts'
import { inScope, type TopicScope } from './topic-scope.ts'

/** An original topic and a consumer group of it; null: messages of which no group is known. */
export type Consumer = { originalTopic: string; consumerGroup: string | null }

/** What else there is of deleted messages goes with them. */
function historyOf(sql: Sql, ids: string) {
  return sql`
    attempts as (delete from dlq.dlq_attempts a using ${sql(ids)} gone where a.message_id = gone.id),
    edits as (delete from dlq.dlq_message_edits e using ${sql(ids)} gone where e.message_id = gone.id)`
}

/**
 * Looks through the consumer's next DEAD messages in the order of ids after `afterId`, at most `limit`, and
 * deletes those whose budget is spent. Returns the last id looked at, null at the end.
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
  const [row] = await sql<[{ last_id: string | null; deleted: number }]>`
    with chunk as materialized (
      select id, retry_count >= max_retries and consumer_group is not distinct from ${consumerGroup}::text as goes
      from dlq.dlq_messages
      where original_topic = ${originalTopic} and status = 'DEAD' and id > ${afterId} and ${inScope(sql, scope)}
      order by id
      limit ${limit}
    ),
    going as materialized (
      -- Asked again under the lock: somebody may have revived it since.
      -- As an array, because the planner may join a chunk by reading every partition.
      select m.id from dlq.dlq_messages m
      where m.id = any(array(select id from chunk where goes)) and m.status = 'DEAD' and m.retry_count >= m.max_retries
      order by m.id
      for update of m
    ),
    ${historyOf(sql, 'going')},
    deleted as (
      delete from dlq.dlq_messages where id = any(array(select id from going)) returning 1
    )
    select (select max(id::text)::uuid from chunk) as last_id, (select count(*)::int from deleted) as deleted`
  return { lastId: row.last_id, deleted: row.deleted }
}

/** Deletes one DEAD message of the consumer whose budget is spent; says why not, where it does not. */
export async function deleteSpent(
  sql: Sql,
  { id, originalTopic, consumerGroup, scope }: Consumer & { id: string; scope: TopicScope },
): Promise<'deleted' | 'not_found' | 'not_spent'> {
  const [row] = await sql<[{ outcome: 'deleted' | 'not_found' | 'not_spent' }]>`
    with target as materialized (
      select id, status = 'DEAD' and retry_count >= max_retries as goes
      from dlq.dlq_messages
      where id = ${id} and original_topic = ${originalTopic} and consumer_group is not distinct from ${consumerGroup}::text
        and ${inScope(sql, scope)}
      for update
    ),
    going as materialized (select id from target where goes),
    ${historyOf(sql, 'going')},
    deleted as (
      delete from dlq.dlq_messages m using going where m.id = going.id
    )
    select case when exists (select from going) then 'deleted'
                when exists (select from target) then 'not_spent'
                else 'not_found' end as outcome`
  return row.outcome
}
