// dlq_messages and dlq_attempts: records that a retry failed again, and reopens its message.

import type { RetryState, Status } from '../../domain/retry/message-state.ts'
import { heldForOrigin } from '../origin/held-for-origin.ts'
import { type Sql, toJson } from '../sql.ts'
import { keepHeld } from '../staleness/keep-held.ts'

export type LockedMessage = RetryState & {
  id: string
  original_topic: string
  dlq_cluster: string | null
  dlq_topic: string | null
  consumer_group: string | null
  /** Where its run, or an edit, sends it instead of where its policy says. */
  target_topic: string | null
  error_class: string | null
  error_message: string
  /** Its contents were erased: a failure is counted, and not stored. */
  erased_at: Date | null
}

/** Locks the messages that exist, in the order of their ids, as every statement that locks several does. */
export async function lockMessages(sql: Sql, ids: readonly string[]): Promise<LockedMessage[]> {
  return sql<LockedMessage[]>`
    select ${claimedColumns(sql)}
    from dlq.dlq_messages m
    where id = any(${sql.array([...ids])}::uuid[])
    order by id
    for update of m`
}

/** The same of archived messages, which nobody changes where they are: without a lock. */
export async function readArchived(sql: Sql, ids: readonly string[]): Promise<LockedMessage[]> {
  if (ids.length === 0) return []
  return sql<LockedMessage[]>`
    select ${claimedColumns(sql)} from dlq.dlq_messages_archive m where id = any(${sql.array([...ids])}::uuid[])`
}

function claimedColumns(sql: Sql) {
  return sql`
    id, status::text as status, retry_count, max_retries, next_retry_at, original_topic, dlq_cluster, dlq_topic, consumer_group,
    coalesce((select r.target_topic from dlq.dlq_runs r where r.id = m.run_id), target_topic) as target_topic,
    error_class, error_message, erased_at`
}

/** `has_failed`: it is known that it failed again. */
export type ClaimedAttempt = { message_id: string; number: number; target_topic: string | null; has_failed: boolean }

/** Those of the attempts that were made, also of archived messages. */
export async function findAttempts(
  sql: Sql,
  claimed: readonly Pick<ClaimedAttempt, 'message_id' | 'number'>[],
): Promise<ClaimedAttempt[]> {
  if (claimed.length === 0) return []
  const ids = sql.array([...new Set(claimed.map(({ message_id }) => message_id))])
  // The ids once more, because the planner takes the JSON for a hundred rows and may join it by reading every partition.
  const from = (table: string) => sql`
    select a.message_id, a.number, a.target_topic, a.failed_again_at is not null as has_failed
    from json_to_recordset(${toJson(claimed)}::json) as claimed (message_id uuid, number int)
    join ${sql(table)} a using (message_id, number)
    where a.message_id = any(${ids}::uuid[]) and a.outcome in ('published', 'failed', 'unknown')`
  return sql<ClaimedAttempt[]>`${from('dlq.dlq_attempts')} union all ${from('dlq.dlq_attempts_archive')}`
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
  error_message: string | null
  error_changed: boolean
  /** The failure's own error group. */
  group_id: string | null
}

/**
 * Stores how attempts failed again, at most one per message. Returns the messages for which the re-failure is new:
 * the same record read again, or a duplicate of it, changes nothing. An attempt's row may be missing, because its
 * dead letter can arrive before the retrier has settled it.
 */
export async function recordFailedAgain(sql: Sql, failed: readonly FailedAgain[]): Promise<Set<string>> {
  const rows = await sql<{ message_id: string }[]>`
    with failed as materialized (
      select failed.*, settled.outcome as counted_as
      from json_to_recordset(${toJson(failed)}::json) as failed (
        message_id uuid, number int, attempt_id uuid, cluster text, topic text, partition int, "offset" bigint,
        error_class text, error_message text, error_changed boolean, group_id uuid)
      -- The attempt before this statement. One that is settled has been counted already; its message is locked.
      left join dlq.dlq_attempts settled using (message_id, number)
    ),
    recorded as (
      insert into dlq.dlq_attempts as attempt (
        message_id, number, attempt_id, outcome, run_id, failed_again_at,
        failed_again_cluster, failed_again_topic, failed_again_partition, failed_again_offset,
        failed_again_class, failed_again_message, error_changed, failed_groups)
      select message_id, number, attempt_id, 'published',
             -- The message says which run makes an attempt that is not settled yet.
             case when m.status = 'RETRYING' and m.retry_count = number then m.run_id end, now(),
             cluster, topic, partition, "offset", failed.error_class, failed.error_message, error_changed,
             -- For erasures: texts of the message stand in both.
             case when m.group_id is distinct from failed.group_id then array_remove(array[m.group_id, failed.group_id], null) end
      from failed
      left join dlq.dlq_messages m on m.id = message_id and m.id = any(${sql.array(failed.map(({ message_id }) => message_id))}::uuid[])
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
        error_changed          = excluded.error_changed,
        failed_groups          = excluded.failed_groups
      where attempt.failed_again_at is null
      returning message_id, number, run_id
    ),
    counted as (
      -- Its run counts one message less as resolved or refused, and one more as failed again.
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
  held_by_route: boolean
  is_scrubbed: true | null
}

/** Writes the states after a failure. The rows must be locked: see lockMessages. */
export async function reopenMessages(sql: Sql, messages: readonly ReopenedMessage[]): Promise<void> {
  if (messages.length === 0) return
  // The stored headers may refer to the stack trace's column (header-json.ts). They get its text back before the new
  // failure's trace replaces it. In a JSON string the quotes would be escaped, so the pattern cannot match inside one.
  await sql`
    update dlq.dlq_messages m set
      record_headers = case when m.error_stacktrace is null or m.error_stacktrace = r.error_stacktrace then m.record_headers
        else replace(m.record_headers::text, '{"column":"error_stacktrace"}', to_json(m.error_stacktrace)::text)::json end,
      status = r.status, retry_count = r.retry_count, next_retry_at = case when not ${heldForOrigin(sql, 'm.')} then r.next_retry_at end, retry_requested = false, run_id = null,
      error_class = r.error_class, error_message = r.error_message, error_stacktrace = r.error_stacktrace,
      group_id = r.group_id, consumer_group = coalesce(r.consumer_group, m.consumer_group), held_by_route = r.held_by_route,
      is_scrubbed = coalesce(m.is_scrubbed, r.is_scrubbed),
      failure_count = m.failure_count + 1, last_failed_at = now(),
      lease_token = null, lease_until = null, lease_slot = null, lease_batch = null
    from json_to_recordset(${toJson(messages)}::json) as r (
      id uuid, status text, retry_count int, next_retry_at timestamptz, error_class text, error_message text,
      error_stacktrace text, group_id uuid, consumer_group text, held_by_route boolean, is_scrubbed boolean)
    -- The ids again, because the planner expects a hundred rows of the JSON and may read every partition for the join.
    where m.id = r.id and m.id = any(${sql.array(messages.map(({ id }) => id))}::uuid[])`
}

/** Counts failures that change nothing else, because they are late ones of older attempts. The rows must be locked. */
export async function countFailures(sql: Sql, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  const counted = sql`${sql.array([...ids])}::uuid[]`
  await sql`
    with kept as (${keepHeld(sql, counted)})
    update dlq.dlq_messages set failure_count = failure_count + 1, last_failed_at = now()
    where id = any(${counted})`
}
