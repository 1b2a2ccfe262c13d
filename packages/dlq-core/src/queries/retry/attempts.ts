// dlq_attempts: one row per attempt.

import { listedChars } from '../../domain/message/listed-text.ts'
import type { Verdict } from '../readers/verdicts.ts'
import { type Fragment, type Sql, toArray } from '../sql.ts'
import type { Slot } from './slots.ts'

export type SettledAttempt = {
  message_id: string
  number: number
  attempt_id: string
  /** `unknown`: given back and made again under the same id, because it is not known whether it was published. */
  outcome: 'published' | 'failed' | 'unknown'
  slot?: number | null
  run_id?: string | null
  target_topic: string
  target_partition: number | null
  target_offset: bigint | null
  error: string | null
}

/** Stores the outcomes of attempts. Keeps the actor who asked, and the re-failure, if they are stored already. */
export async function settleAttempts(sql: Sql, { attempts }: { attempts: readonly SettledAttempt[] }): Promise<void> {
  if (attempts.length > 0) await sql`${attemptsOf(sql, attempts, { where: sql`true` })}`
}

/**
 * The statement that stores those of the outcomes for which `where` holds, of a row `settled`. Where the attempt is known,
 * `only` must hold, too, of its row `known`.
 */
function attemptsOf(
  sql: Sql,
  attempts: readonly SettledAttempt[],
  { where, only = sql`true` }: { where: Fragment; only?: Fragment },
): Fragment {
  const column = (name: keyof SettledAttempt) => toArray(attempts.map((attempt) => attempt[name] ?? null))
  return sql`
    insert into dlq.dlq_attempts as known (
      message_id, number, attempt_id, outcome, slot, run_id, target_topic, target_partition, target_offset, error, settled_at, unknown_at)
    select message_id, number, attempt_id, outcome, slot, run_id, target_topic, target_partition, target_offset, error, now(),
           case when outcome = 'unknown' then now() end
    from unnest(
      ${column('message_id')}::uuid[], ${column('number')}::int[], ${column('attempt_id')}::uuid[],
      ${column('outcome')}::text[], ${column('slot')}::int[], ${column('run_id')}::uuid[], ${column('target_topic')}::text[],
      ${column('target_partition')}::int[], ${column('target_offset')}::bigint[], ${column('error')}::text[]) as settled (
      message_id, number, attempt_id, outcome, slot, run_id, target_topic, target_partition, target_offset, error)
    where ${where}
    order by message_id
    on conflict (message_id, number) do update set
      attempt_id = excluded.attempt_id, outcome = excluded.outcome, error = excluded.error, settled_at = excluded.settled_at,
      unknown_at = coalesce(excluded.unknown_at, known.unknown_at),
      slot = excluded.slot, run_id = coalesce(excluded.run_id, known.run_id), target_topic = excluded.target_topic,
      target_partition = excluded.target_partition, target_offset = excluded.target_offset
    where ${only}`
}

/** Within a statement that names `ids`: stores the outcomes of these messages. */
export function attemptsAmong(sql: Sql, attempts: readonly SettledAttempt[], ids: 'updated' | 'held'): Fragment {
  if (attempts.length === 0) return sql`select`
  // "is true" makes a hashed set of the ids; in a join PostgreSQL might compare each with each.
  return attemptsOf(sql, attempts, { where: sql`(settled.message_id in (select id from ${sql(ids)})) is true` })
}

/**
 * Stores where records of published attempts stand, of messages that were no longer held for them: one that failed again
 * before this, one that somebody has changed by hand, or all, where the slot was lost and its successor knows that they were
 * published, but not where. An outcome that somebody else has stored stays, and a message that is gone gets no attempt.
 */
export async function placeAttempts(
  sql: Sql,
  { slot, epoch, attempts }: Slot & { attempts: readonly SettledAttempt[] },
): Promise<void> {
  const published = attempts.filter(({ outcome }) => outcome === 'published')
  if (published.length === 0) return
  const isThere = sql`exists (select from dlq.dlq_messages m where m.id = settled.message_id)`
  const isOurs = sql`exists (select from dlq.dlq_slots s where s.slot = ${slot} and s.epoch = ${epoch})`
  const isPublished = sql`exists (
    select from dlq.dlq_attempts a
    where a.message_id = settled.message_id and a.number = settled.number and a.outcome = 'published')`
  await sql`${attemptsOf(sql, published, {
    where: sql`${isThere} and (${isOurs} or ${isPublished})`,
    only: sql`known.outcome in ('requested', 'published') and known.target_offset is null`,
  })}`
}

/** Stores who asks for the next attempt. */
export async function requestAttempt(
  sql: Sql,
  { message_id, number, attempt_id, actor }: { message_id: string; number: number; attempt_id: string; actor: string },
): Promise<void> {
  await sql`
    insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome, actor)
    values (${message_id}, ${number}, ${attempt_id}, 'requested', ${actor})
    on conflict (message_id, number) do nothing`
}

/** `resolved`: an application has handled the message by itself. */
export type AttemptOutcome = { outcome: 'requested' | 'resolved' | SettledAttempt['outcome']; error: string | null }

/**
 * The outcome of one attempt. Null where it is still to be made, or under way. An attempt that was given back may have
 * an outcome from a retrier that lost its lease. That outcome counts once the message says that the attempt was made.
 */
export async function getAttempt(
  sql: Sql,
  { message_id, number }: { message_id: string; number: number },
): Promise<AttemptOutcome | null> {
  const [row] = await sql<AttemptOutcome[]>`
    select a.outcome, a.error
    from dlq.dlq_attempts a
    left join dlq.dlq_messages m on m.id = a.message_id
    where a.message_id = ${message_id} and a.number = ${number}
      and (m.id is null or m.retry_count > a.number or (m.retry_count = a.number and m.status <> 'RETRYING'))`
  return row ?? null
}

export type Attempt = {
  number: number
  attempt_id: string
  actor: string
  run_id: string | null
  outcome: AttemptOutcome['outcome']
  error: string | null
  target_topic: string | null
  target_partition: number | null
  target_offset: bigint | null
  started_at: Date
  settled_at: Date | null
  /** When the attempt was given back as unknown. */
  unknown_at: Date | null
  failed_again_at: Date | null
  failed_again_topic: string | null
  failed_again_partition: number | null
  failed_again_offset: bigint | null
  failed_again_class: string | null
  failed_again_message: string | null
  error_changed: boolean | null
  /** When the consumer said that its work is done, and who that was. */
  confirmed_at: Date | null
  confirmed_by: string | null
  /** What became of it after it was published; null where it was not. */
  verdict: Verdict | null
  verdict_reason: string | null
  /** The consumer groups whose offsets say so. */
  judged_by: string | null
  /** When it was first seen to have been read. */
  read_at: Date | null
  /** Until then it may come back. */
  horizon_until: Date | null
}

/** The attempts of a message, oldest first: the last thousand, which is the largest budget. */
export async function listAttempts(sql: Sql, messageId: string): Promise<Attempt[]> {
  const newestFirst = await sql<Attempt[]>`
    select ${attemptColumns(sql)}
    from (
      select a.*, (select m.consumer_group from dlq.dlq_messages m where m.id = a.message_id) as consumer_group
      from dlq.dlq_attempts a
      where a.message_id = ${messageId}
      order by a.number desc
      limit 1000
    ) a
    ${withVerdict(sql)}
    order by number desc`
  return newestFirst.toReversed()
}

/** The columns of `Attempt`, of an attempt a and its verdict v. */
export function attemptColumns(sql: Sql) {
  return sql`
    a.number, a.attempt_id, a.actor, a.run_id, a.outcome, left(a.error, ${listedChars}) as error, a.target_topic, a.target_partition, a.target_offset,
    a.started_at, a.settled_at, a.unknown_at, a.failed_again_at, a.failed_again_topic, a.failed_again_partition,
    a.failed_again_offset, a.failed_again_class,
    left(a.failed_again_message, ${listedChars}) as failed_again_message, a.error_changed,
    a.confirmed_at, a.confirmed_by, v.verdict, v.verdict_reason, v.judged_by, v.read_at, v.horizon_until`
}

/** Joins the verdict v to an attempt a that has the consumer group of its message. */
export function withVerdict(sql: Sql) {
  return sql`
    left join lateral dlq.verdict(
      a.consumer_group, a.target_topic, a.target_partition, a.target_offset, a.settled_at, a.failed_again_at,
      -- An application that resolves its message by SQL has done the work.
      coalesce(a.confirmed_at, case when a.outcome = 'resolved' then a.settled_at end)) v
      on a.outcome in ('published', 'resolved') or a.failed_again_at is not null`
}
