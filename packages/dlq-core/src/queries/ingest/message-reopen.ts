// dlq_messages and dlq_attempts: a message that was republished came back as a new dead letter.

import type { RetryState, Status } from '../message.ts'
import { type Sql, toJson } from './sql.ts'

export type LockedMessage = RetryState & {
  id: string
  original_topic: string
  dlq_topic: string | null
  error_class: string | null
  error_message: string
}

/** Locks the messages that exist, in the order of their ids, which every locker of several rows keeps. */
export async function lockMessages(sql: Sql, ids: readonly string[]): Promise<LockedMessage[]> {
  return sql<LockedMessage[]>`
    select id, status::text as status, retry_count as "retryCount", max_retries as "maxRetries",
           next_retry_at as "nextRetryAt", original_topic, dlq_topic, error_class, error_message
    from dlq.dlq_messages
    where id = any(${sql.array([...ids])}::uuid[])
    order by id
    for update`
}

export type FailedAgain = {
  message_id: string
  number: number
  attempt_id: string
  cluster: string
  topic: string
  partition: number
  offset: bigint
  error_class: string | null
  error_message: string
  error_changed: boolean
}

/**
 * Remembers how attempts failed again, at most one per message. Returns the messages for which that
 * is news: the same record read again, or a duplicate of it, changes nothing.
 * An attempt's row may be missing: its dead letter can arrive before the retrier has settled it.
 */
export async function recordFailedAgain(sql: Sql, failed: readonly FailedAgain[]): Promise<Set<string>> {
  const rows = await sql<{ message_id: string }[]>`
    with failed as materialized (
      select failed.*, settled.outcome as counted_as
      from json_to_recordset(${toJson(failed)}::json) as failed (
        message_id uuid, number int, attempt_id uuid, cluster text, topic text, partition int, "offset" bigint,
        error_class text, error_message text, error_changed boolean)
      -- As it is before: what was settled has been counted, and its message is locked.
      left join dlq.dlq_attempts settled using (message_id, number)
    ),
    recorded as (
      insert into dlq.dlq_attempts as attempt (
        message_id, number, attempt_id, outcome, run_id, failed_again_at,
        failed_again_cluster, failed_again_topic, failed_again_partition, failed_again_offset,
        failed_again_class, failed_again_message, error_changed)
      select message_id, number, attempt_id, 'published', m.run_id, now(),
             cluster, topic, partition, "offset", failed.error_class, failed.error_message, error_changed
      from failed
      -- Of an attempt that is not settled yet, the message says which run makes it.
      left join dlq.dlq_messages m on m.id = message_id and m.id = any(${sql.array(failed.map(({ message_id }) => message_id))}::uuid[])
        and m.status = 'RETRYING' and m.retry_count = number
      order by message_id
      on conflict (message_id, number) do update set
        outcome                = 'published',
        failed_again_at        = excluded.failed_again_at,
        failed_again_cluster   = excluded.failed_again_cluster,
        failed_again_topic     = excluded.failed_again_topic,
        failed_again_partition = excluded.failed_again_partition,
        failed_again_offset    = excluded.failed_again_offset,
        failed_again_class     = excluded.failed_again_class,
        failed_again_message   = excluded.failed_again_message,
        error_changed          = excluded.error_changed
      where attempt.failed_again_at is null
      returning message_id, number, run_id
    ),
    counted as (
      -- Of its run one resolved, or refused, message less, and one more that failed again.
      insert into dlq.dlq_run_deltas (run_id, outcome, n)
      select recorded.run_id, delta.outcome, sum(delta.n)
      from recorded join failed using (message_id, number)
      cross join lateral (values ('failed_again', 1),
        (case failed.counted_as when 'published' then 'resolved' when 'failed' then 'failed' end, -1)) as delta (outcome, n)
      where recorded.run_id is not null and delta.outcome is not null
      group by recorded.run_id, delta.outcome
    )
    select message_id from recorded`
  return new Set(rows.map(({ message_id }) => message_id))
}

export type ReopenedMessage = {
  id: string
  status: Status
  retry_count: number
  next_retry_at: Date | null
  error_class: string | null
  error_message: string
  error_stacktrace: string | null
  group_id: string | null
  consumer_group: string | null
}

/** Writes the states after a failure. The rows must be locked: see lockMessages. */
export async function reopenMessages(sql: Sql, messages: readonly ReopenedMessage[]): Promise<void> {
  if (messages.length === 0) return
  // The stored headers may refer to the stack trace's column (header-json.ts). The text is put back into them
  // before the column takes the new failure's. Inside a JSON string the quotes would be escaped, so it cannot hit one.
  await sql`
    update dlq.dlq_messages m set
      record_headers = case when m.error_stacktrace is null or m.error_stacktrace = r.error_stacktrace then m.record_headers
        else replace(m.record_headers::text, '{"column":"error_stacktrace"}', to_json(m.error_stacktrace)::text)::json end,
      status = r.status, retry_count = r.retry_count, next_retry_at = r.next_retry_at, retry_requested = false, run_id = null,
      error_class = r.error_class, error_message = r.error_message, error_stacktrace = r.error_stacktrace,
      group_id = r.group_id, consumer_group = coalesce(r.consumer_group, m.consumer_group),
      failure_count = m.failure_count + 1, last_failed_at = now(),
      lease_token = null, lease_until = null, lease_slot = null, lease_batch = null
    from json_to_recordset(${toJson(messages)}::json) as r (
      id uuid, status text, retry_count int, next_retry_at timestamptz, error_class text, error_message text,
      error_stacktrace text, group_id uuid, consumer_group text)
    -- The ids once more, because the planner takes the JSON for a hundred rows and may join it by reading every partition.
    where m.id = r.id and m.id = any(${sql.array(messages.map(({ id }) => id))}::uuid[])`
}

/** Counts failures that change nothing else: older attempts', arriving late. The rows must be locked. */
export async function countFailures(sql: Sql, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await sql`
    update dlq.dlq_messages set failure_count = failure_count + 1, last_failed_at = now()
    where id = any(${sql.array([...ids])}::uuid[])`
}
