// dlq_rate_buckets: the limits that all retriers share. A retrier takes one token for each message that it is about to
// send, and returns the unused ones. A statement writes one row per topic, not one per message. Take and return tokens
// outside of longer transactions, because the topic's row stays locked until the transaction ends.

import type { SharedLimits } from '../../domain/retry/retry-policy.ts'
import { type Sql, toJson } from '../sql.ts'

/** Each topic appears at most once per call. `burst` is the most that the bucket holds. */
export type TokenRequest = SharedLimits & { readonly topic: string; readonly wanted: number }

/** `run_started_at` names the window that the tokens belong to. Null where the topic is not retried in windows. */
export type Grant = { topic: string; granted: number; run_started_at: Date | null }

/**
 * Takes up to `wanted` tokens of each topic, bounded by the tokens that its rate has added and by the rest of its
 * present window. One statement does it by the database's clock, and locks the buckets against other retriers. A bucket
 * that was never used is full.
 *
 * @param now replaces the database's clock in tests
 */
export async function takeTokens(
  sql: Sql,
  requests: readonly TokenRequest[],
  { now = null }: { now?: Date | null } = {},
): Promise<Grant[]> {
  if (requests.length === 0) return []
  // least() ignores nulls, so a limit that the topic lacks does not count. "granted" is stored in the row, because
  // "returning" cannot see the row's former values.
  return sql<Grant[]>`
    with request as materialized (
      select topic, wanted, "ratePerSecond" as rate, burst, "runLimit" as run_limit,
             "runEveryMs" * interval '1 ms' as run_every
      from json_to_recordset(${toJson(requests)}::json) as asked
        (topic text, wanted int, "ratePerSecond" float8, burst float8, "runEveryMs" float8, "runLimit" int)
    )
    insert into dlq.dlq_rate_buckets as bucket (topic, tokens, refilled_at, run_started_at, run_used, granted)
    select topic, coalesce(burst - granted, 0), at, date_bin(run_every, at, 'epoch'),
           case when run_every is null then 0 else granted end, granted
    from request
    cross join (select coalesce(${now}::timestamptz, clock_timestamp()) as at) clock
    cross join lateral (select greatest(0, floor(least(wanted, burst, run_limit)))::int as granted) first
    -- Every statement locks the buckets in this order.
    order by topic
    on conflict (topic) do update set (tokens, refilled_at, run_started_at, run_used, granted) = (
      -- Evaluated once per bucket under its lock, so the clock cannot be behind the previous caller's.
      select coalesce(available - taken, 0), at, run, used + case when run is null then 0 else taken end, taken
      from (
        select r.*, at,
          least(r.burst, bucket.tokens
            + r.rate * greatest(0, extract(epoch from at - bucket.refilled_at))) as available,
          -- Never goes back to an earlier window when run_every changes, unless the clock was wrong.
          case when bucket.run_started_at <= at and r.run_every is not null
               then greatest(bucket.run_started_at, date_bin(r.run_every, at, 'epoch'))
               else date_bin(r.run_every, at, 'epoch') end as run
        from request r
        cross join (
          -- A bucket filled slightly in the future had a clock a little ahead; one far in the future had a wrong clock.
          select case when asked_at > bucket.refilled_at - interval '10 s'
                      then greatest(asked_at, bucket.refilled_at) else asked_at end as at
          from (select coalesce(${now}::timestamptz, clock_timestamp()) as asked_at offset 0) clock
        ) clock
        where r.topic = bucket.topic
        offset 0
      ) filled
      cross join lateral (
        select case when run = bucket.run_started_at then bucket.run_used else 0 end as used
      ) present_run
      cross join lateral (
        select greatest(0, floor(least(wanted, available, run_limit - used)))::int as taken
      ) decided
    )
    returning topic, granted, run_started_at`
}

/** Returns `granted` unused tokens of each topic. Tokens above the bucket's size are lost. */
export async function returnTokens(sql: Sql, unused: readonly Grant[]): Promise<void> {
  if (unused.length === 0) return
  await sql`
    with unused as materialized (
      select bucket.topic, asked.granted, asked.run_started_at
      from dlq.dlq_rate_buckets bucket
      join json_to_recordset(${toJson(unused)}::json) as asked (topic text, granted int, run_started_at timestamptz)
        using (topic)
      order by topic
      -- In the order in which every statement locks the buckets.
      for update of bucket
    )
    update dlq.dlq_rate_buckets bucket set
      tokens = bucket.tokens + unused.granted,
      -- A later window has its own count.
      run_used = case when bucket.run_started_at = unused.run_started_at
                      then greatest(0, bucket.run_used - unused.granted) else bucket.run_used end
    from unused
    where bucket.topic = unused.topic`
}

/**
 * Returns the tokens of messages that were claimed then and certainly not sent, where nobody knows any more what was
 * granted: the retrier died, or the answer to its commit never came. Only to windows, and only to those that were under
 * way when the messages were claimed; a rate fills up by itself.
 */
export async function returnWindowTokens(
  sql: Sql,
  { claimedAt, unused }: { claimedAt: Date; unused: readonly { topic: string; count: number }[] },
): Promise<void> {
  if (unused.length === 0) return
  await sql`
    with unused as materialized (
      select bucket.topic, asked.count
      from dlq.dlq_rate_buckets bucket
      join json_to_recordset(${toJson(unused)}::json) as asked (topic text, count int) using (topic)
      -- Tokens are taken before the claim, so a window that began later is another one.
      where bucket.run_started_at <= ${claimedAt}
      order by topic
      -- In the order in which every statement locks the buckets. Whoever waited for a lock is asked again.
      for update of bucket
    )
    update dlq.dlq_rate_buckets bucket set run_used = greatest(0, bucket.run_used - unused.count)
    from unused
    where bucket.topic = unused.topic`
}

/** The bucket of a run's own rate. No topic has such a name. */
export function runBucket(runId: string): string {
  return `run:${runId}`
}

/** Deletes the buckets of runs that have ended, or are deleted. Returns how many. */
export async function deleteRunBuckets(sql: Sql, { limit }: { limit: number }): Promise<number> {
  const result = await sql`
    delete from dlq.dlq_rate_buckets where topic in (
      select topic from dlq.dlq_rate_buckets
      where starts_with(topic, ${runBucket('')}) and not exists (
        select from dlq.dlq_runs r where ${runBucket('')} || r.id = topic and r.ended_at is null)
      -- In the order in which every statement locks the buckets; one that is in use is deleted later.
      order by topic limit ${limit} for update skip locked)`
  return result.count
}
