// dlq_messages: reading for people and programs. Only what the specification shows.

import type { Status } from '../message.ts'
import type { TopicColumn } from './message-retry.ts'
import type { Sql } from './sql.ts'

/** A message as the specification shows it; `payload` is JSON text. */
export type MessageView = {
  id: string
  original_topic: string
  error_message: string
  retry_count: number
  max_retries: number
  payload: string | null
  /** The value, where no payload is stored: the reader may find JSON in it. Null where it is over a mebibyte. */
  unprojected_value: Buffer | null
  status: Status
  created_at: Date
  updated_at: Date
  last_retry_at: Date | null
}

function viewColumns(sql: Sql) {
  return sql`
    id, original_topic, error_message, retry_count, max_retries, payload,
    case when payload is null and octet_length(record_value) between 1 and 1048576 then record_value end as unprojected_value,
    status, created_at, updated_at, last_retry_at`
}

export async function getMessage(sql: Sql, id: string): Promise<MessageView | null> {
  const [row] = await sql<MessageView[]>`
    select ${viewColumns(sql)} from dlq.dlq_messages where id = ${id}`
  return row ?? null
}

/** One page of a topic, newest first: along (topic, id), and an id's time is its record's. */
export async function listMessagesOfTopic(
  sql: Sql,
  { column, topic, limit, offset }: { column: TopicColumn; topic: string; limit: number; offset: number },
): Promise<MessageView[]> {
  return sql<MessageView[]>`
    select ${viewColumns(sql)}
    from dlq.dlq_messages
    where ${sql(column)} = ${topic}
    order by id desc
    limit ${limit} offset ${offset}`
}

export async function countMessagesOfTopic(
  sql: Sql,
  { column, topic }: { column: TopicColumn; topic: string },
): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from dlq.dlq_messages where ${sql(column)} = ${topic}`
  return row!.count
}

/** Deletes a message with its attempts, unless it is being retried right now. */
export async function deleteMessage(sql: Sql, id: string): Promise<'deleted' | 'retrying' | 'not_found'> {
  const [row] = await sql<{ outcome: 'deleted' | 'retrying' | 'not_found' }[]>`
    with target as materialized (
      select id, status from dlq.dlq_messages where id = ${id} for update
    ),
    deleted as (
      delete from dlq.dlq_messages m using target where m.id = target.id and target.status <> 'RETRYING' returning m.id
    ),
    attempts as (
      delete from dlq.dlq_attempts a using deleted where a.message_id = deleted.id
    )
    select case when exists (select from deleted) then 'deleted'
                when exists (select from target) then 'retrying'
                else 'not_found' end as outcome`
  return row!.outcome
}

export type StatusCount = { original_topic: string; status: Status; count: number }

/** How many messages each original topic has in each status: the specification's overview. */
export async function countByTopicAndStatus(sql: Sql): Promise<StatusCount[]> {
  return sql<StatusCount[]>`
    select original_topic, status, count(*)::int as count
    from dlq.dlq_messages
    group by original_topic, status
    order by original_topic, status`
}
