// dlq_messages: claiming what is due, and writing down what became of it. Whoever settles names the
// lease's token in the where-clause, so a lease that was lost cannot settle anything.

import type { Sql } from './sql.ts'

export type ClaimedMessage = {
  id: string
  retry_count: number
  max_retries: number
  original_topic: string
  original_partition: number | null
  original_topic_source: string | null
  record_key: Buffer | null
  record_value: Buffer | null
  /** Stored headers as JSON text; null for a message that never was a Kafka record. */
  record_headers: string | null
  payload: string | null
  dlq_topic: string | null
  error_stacktrace: string | null
}

/**
 * Claims up to `limit` due messages, shared evenly among the topics that have any, oldest due first
 * within one. Sets RETRYING, counts the attempt, and gives the lease `token` until now + `leaseMs`.
 */
export async function claimDueMessages(sql: Sql, { token, leaseMs, limit }: { token: string; leaseMs: number; limit: number }): Promise<ClaimedMessage[]> {
  // The recursive part skips from topic to topic along idx_dlq_messages_due, so its cost grows with the
  // number of topics, not of rows. "materialized" keeps limit and row locks in one place: in an IN (…)
  // the planner may run the subselect once per row and claim more than the limit.
  return sql<ClaimedMessage[]>`
    with recursive waiting as (
      (select original_topic from dlq.dlq_messages
       where status = 'PENDING' and next_retry_at is not null
       order by original_topic limit 1)
      union all
      select (select m.original_topic from dlq.dlq_messages m
              where m.status = 'PENDING' and m.next_retry_at is not null and m.original_topic > w.original_topic
              order by m.original_topic limit 1)
      from waiting w where w.original_topic is not null
    ),
    due_topics as materialized (
      select original_topic from waiting w
      where exists (select from dlq.dlq_messages m
                    where m.original_topic = w.original_topic and m.status = 'PENDING' and m.next_retry_at <= now())
      order by random()
    ),
    due as materialized (
      select oldest.id
      from due_topics t
      cross join lateral (
        select id from dlq.dlq_messages m
        where m.original_topic = t.original_topic and m.status = 'PENDING'
          and m.next_retry_at <= now() and m.retry_count < m.max_retries
        order by m.next_retry_at, m.id
        limit greatest(1, ${limit}::int / (select count(*) from due_topics))
        for update skip locked
      ) oldest
      limit ${limit}
    )
    update dlq.dlq_messages m set
      status = 'RETRYING', retry_count = m.retry_count + 1, last_retry_at = now(),
      lease_token = ${token}, lease_until = now() + ${leaseMs}::int * interval '1 ms'
    from due
    where m.id = due.id
    returning m.id, m.retry_count, m.max_retries, m.original_topic, m.original_partition, m.original_topic_source,
      m.record_key, m.record_value, m.record_headers, m.payload, m.dlq_topic, m.error_stacktrace`
}

/** Where a message's record was written. */
export type Published = { id: string; partition: number; offset: bigint }

/** RESOLVED for every message that the lease still holds. Returns their ids. */
export async function resolveMessages(sql: Sql, { token, ids }: { token: string; ids: readonly string[] }): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    with held as materialized (
      -- Locked in the order of ids, as every locker of several messages does.
      select id from dlq.dlq_messages
      where id = any(${sql.array([...ids])}::uuid[]) and status = 'RETRYING' and lease_token = ${token}
      order by id
      for update
    )
    update dlq.dlq_messages m set
      status = 'RESOLVED', next_retry_at = null,
      lease_token = null, lease_until = null, lease_slot = null, lease_batch = null
    from held
    where m.id = held.id
    returning m.id`
  return rows.map(({ id }) => id)
}

export type RefusedMessage = { id: string; status: 'PENDING' | 'DEAD'; next_retry_at: Date | null }

/** Writes the state after Kafka refused the record. False where the lease was lost. */
export async function refuseMessage(sql: Sql, { token, id, status, next_retry_at }: RefusedMessage & { token: string }): Promise<boolean> {
  const result = await sql`
    update dlq.dlq_messages set
      status = ${status}, next_retry_at = ${next_retry_at},
      lease_token = null, lease_until = null, lease_slot = null, lease_batch = null
    where id = ${id} and status = 'RETRYING' and lease_token = ${token}`
  return result.count > 0
}

/** Gives messages back as they were before the claim: due, the attempt not counted. Returns how many. */
export async function releaseMessages(sql: Sql, { token, ids }: { token: string; ids: readonly string[] }): Promise<number> {
  const result = await sql`
    update dlq.dlq_messages set
      status = 'PENDING', retry_count = retry_count - 1,
      lease_token = null, lease_until = null, lease_slot = null, lease_batch = null
    where id = any(${sql.array([...ids])}::uuid[]) and status = 'RETRYING' and lease_token = ${token}`
  return result.count
}

/**
 * Gives back what a dead retrier held. Whether it was published is not known, so the attempt is made
 * again under the same attempt id. Returns how many.
 */
export async function releaseExpiredLeases(sql: Sql, { limit }: { limit: number }): Promise<number> {
  const result = await sql`
    with expired as materialized (
      select id from dlq.dlq_messages
      where lease_until < now() and status = 'RETRYING'
      limit ${limit}
      for update skip locked
    )
    update dlq.dlq_messages m set
      status = 'PENDING', retry_count = m.retry_count - 1, next_retry_at = now(),
      lease_token = null, lease_until = null, lease_slot = null, lease_batch = null
    from expired
    where m.id = expired.id`
  return result.count
}

/** Marks one message due. False where it is not PENDING or its budget is spent. */
export async function requestRetry(sql: Sql, id: string): Promise<boolean> {
  const result = await sql`
    update dlq.dlq_messages set next_retry_at = now()
    where id = ${id} and status = 'PENDING' and retry_count < max_retries`
  return result.count > 0
}

export type TopicColumn = 'dlq_topic' | 'original_topic'

/**
 * Marks the next chunk of a topic's messages due, in the order of ids after `afterId`. Only ids up to
 * `untilId` are touched: what comes in meanwhile was not asked for. Returns the chunk's last id, null at the end.
 */
export async function requestRetryOfTopic(
  sql: Sql,
  { column, topic, afterId, untilId, limit }: { column: TopicColumn; topic: string; afterId: string; untilId: string; limit: number },
): Promise<{ lastId: string | null; marked: number }> {
  const [row] = await sql<{ last_id: string | null; marked: number }[]>`
    with chunk as materialized (
      select id, status, retry_count < max_retries as has_budget from dlq.dlq_messages
      where ${sql(column)} = ${topic} and id > ${afterId} and id <= ${untilId}
      order by id
      limit ${limit}
    ),
    eligible as materialized (
      -- Asked again under the lock: a retrier may have claimed the row since.
      select m.id from dlq.dlq_messages m join chunk using (id)
      where chunk.status = 'PENDING' and chunk.has_budget and m.status = 'PENDING' and m.retry_count < m.max_retries
      order by m.id
      for update of m
    ),
    marked as (
      update dlq.dlq_messages m set next_retry_at = now() from eligible where m.id = eligible.id returning 1
    )
    select (select max(id::text)::uuid from chunk) as last_id, (select count(*)::int from marked) as marked`
  return { lastId: row!.last_id, marked: row!.marked }
}

/** The greatest id stored: a bound for what exists now. */
export async function greatestMessageId(sql: Sql): Promise<string | null> {
  const [row] = await sql<{ id: string }[]>`select id from dlq.dlq_messages order by id desc limit 1`
  return row?.id ?? null
}

/** Tells the retriers that something is due. A hint only; they poll as well. */
export async function notifyDue(sql: Sql): Promise<void> {
  await sql`notify dlq_due`
}
