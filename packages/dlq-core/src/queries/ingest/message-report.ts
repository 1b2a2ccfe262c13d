// dlq_messages and dlq_idempotency_keys: dead letters that programs report by HTTP.

import type { NewMessage } from '../../domain/message/new-message.ts'
import { smallestId } from '../../domain/record/message-id.ts'
import { lines } from '../reading/summary.ts'
import type { Sql } from '../sql.ts'
import { type TopicScope, topicInScope } from '../topic-scope.ts'

/** A message without a record on a DLQ topic. */
export type ReportedMessage = Omit<
  NewMessage,
  | 'id'
  | 'dlq_cluster'
  | 'dlq_topic'
  | 'dlq_partition'
  | 'dlq_offset'
  | 'record_timestamp'
  | 'record_timestamp_type'
  | 'record_source'
  | 'successor_of'
  | 'related_to'
  | 'held_by_route'
  | 'frames_id'
  | 'original_topic_source'
  | 'record_headers'
> & { original_topic_source: 'caller'; record_headers: string }

/** Stores the message under an id made of the present time. Returns the id. */
export async function insertReport(sql: Sql, message: ReportedMessage): Promise<string> {
  const [row] = await sql<[{ id: string }]>`insert into dlq.dlq_messages ${sql(message)} returning id`
  return row.id
}

/** Of reports by a token for some topics. A glob may match any number of them, and each is a line of every count. */
export const maxReportedTopics = 1000

/** Whether such a token may report for the topic: it has messages already, or the token's topics have few reports. */
export async function mayReportTopic(
  sql: Sql,
  { original_topic, scope }: { original_topic: string; scope: TopicScope },
): Promise<boolean> {
  const [row] = await sql<[{ may: boolean }]>`
    select exists (select from ${lines(sql)} where original_topic = ${original_topic}) or (
      select count(*) from (
        select original_topic from ${lines(sql)}
        where dlq_topic is null and ${topicInScope(sql, scope, 'original_topic')}
        group by original_topic having sum(count) > 0
      ) reported
    ) < ${maxReportedTopics} as may`
  return row.may
}

export type IdempotencyKey = { actor: string; key: string }

/** How long keys are kept. A client repeats a report after a time-out, not after a week. */
export const idempotencyKeyDays = 7

/**
 * The earlier request with this key, or null where the key is new. A second request at the same time waits here
 * until the transaction of the first one has ended.
 *
 * @param request the SHA-256 of the request
 */
export async function claimIdempotencyKey(
  sql: Sql,
  { actor, key, request }: IdempotencyKey & { request: Buffer },
): Promise<{ request: Buffer; message_id: string } | null> {
  // The message has no id yet. Zeros stand for it until noteIdempotentMessage writes it.
  const made = await sql`
    insert into dlq.dlq_idempotency_keys (actor, key, request, message_id)
    values (${actor}, ${key}, ${request}, ${smallestId})
    on conflict (actor, key) do nothing`
  if (made.count > 0) return null
  // The key may have expired between the two statements. It is then claimed like a new one.
  return (await findIdempotencyKey(sql, { actor, key })) ?? claimIdempotencyKey(sql, { actor, key, request })
}

/** The earlier request with this key; null where there is none, or its transaction has not ended. */
export async function findIdempotencyKey(
  sql: Sql,
  { actor, key }: IdempotencyKey,
): Promise<{ request: Buffer; message_id: string } | null> {
  const [known] = await sql<{ request: Buffer; message_id: string }[]>`
    select request, message_id from dlq.dlq_idempotency_keys where actor = ${actor} and key = ${key}`
  return known ?? null
}

/** Stores which message a new key created, and deletes some keys that are too old. */
export async function noteIdempotentMessage(
  sql: Sql,
  { actor, key, messageId }: IdempotencyKey & { messageId: string },
): Promise<void> {
  await sql`
    with old as materialized (
      select actor, key from dlq.dlq_idempotency_keys
      where created_at < now() - make_interval(days => ${idempotencyKeyDays}::int)
      limit 100
      for update skip locked
    ),
    forgotten as (
      delete from dlq.dlq_idempotency_keys k using old where k.actor = old.actor and k.key = old.key
    )
    update dlq.dlq_idempotency_keys set message_id = ${messageId} where actor = ${actor} and key = ${key}`
}

/** Deletes at most `limit` keys that were used first before `before`. Returns how many. */
export async function deleteOldIdempotencyKeys(
  sql: Sql,
  { before, limit }: { before: Date; limit: number },
): Promise<number> {
  const result = await sql`
    delete from dlq.dlq_idempotency_keys
    where (actor, key) in (
      select actor, key from dlq.dlq_idempotency_keys where created_at < ${before} order by created_at limit ${limit})`
  return result.count
}
