// dlq_messages: claims due messages for a slot, and settles them. Both lock the slot's row and check its epoch in the
// same statement. Settling also checks slot and batch. So a late statement of a dead process, or of one that lost its
// slot, changes no row.

import { deriveAttemptId } from '../../domain/record/message-id.ts'
import { heldBySlots } from '../held-by-slots.ts'
import { heldUnlessForced } from '../origin/held-for-origin.ts'
import { type Sql, toArray, toJson } from '../sql.ts'
import { attemptsAmong, type SettledAttempt } from './attempts.ts'
import { type BinaryRow, binaryRows } from './binary-rows.ts'
import { beginsPaused, bytesOf, dueMessages, windowOf } from './due-messages.ts'
import type { Slot } from './slots.ts'
import { isInForce } from './topic-pauses.ts'

export type ClaimedMessage = {
  id: string
  /** The number of this attempt. */
  retry_count: number
  /** Made of the id and of the attempt's number. */
  attempt_id: string
  max_retries: number
  original_topic: string
  original_partition: number | null
  original_topic_source: string | null
  /** The topic that replaces the original topic, by an edit or by the run. Null where there is none. */
  target_topic: string | null
  /** Globs of the topics to which the run may redirect; null: any, or the topic is not that of a run. */
  target_scope: string[] | null
  record_key: Buffer | null
  record_value: Buffer | null
  /** The stored headers as JSON text. Null for a message without a record. */
  record_headers: string | null
  consumer_group: string | null
  record_timestamp: Date | null
  original_timestamp: Date | null
  /** Set only for a message without a record. */
  payload: string | null
  dlq_topic: string | null
  /** The run that sends it. Null where it is due by itself. */
  run_id: string | null
  /** Its size, where it is too large to be sent: key, value, headers and payload are then null. */
  unsendable_bytes: number | null
  group_id: string | null
  /** Kafka, or its topic, refused the attempt before this one. */
  was_refused: boolean
}

/** The topic that message m is sent to instead: that of its run, while it is in one, or else that of an edit. */
function targetTopicOf(sql: Sql) {
  return sql`
    coalesce(case when m.run_id is not null then (select r.target_topic from dlq.dlq_runs r where r.id = m.run_id) end, m.target_topic)`
}

/** To which topics the run of message m may redirect it: those of who started the run. */
function targetScopeOf(sql: Sql) {
  return sql`
    case when m.run_id is not null then (select r.scope from dlq.dlq_runs r where r.id = m.run_id and r.target_topic is not null) end`
}

/** How much of a topic may be claimed. */
export type TopicShare = {
  topic: string
  /** Claims the messages of the topic that this run holds. Absent: those that are due by themselves. */
  run?: string
  quota: number
  /** How many messages of the topic may be RETRYING at once. Null: any number. */
  maxInFlight: number | null
  /** Whether a message waits for earlier unresolved ones of its key. */
  ordered: boolean
  /** Paused error groups: of these, only messages that somebody asked for are claimed. */
  pausedGroups: readonly string[]
}

/**
 * Locks topics against other claims that name them, until the transaction ends. Topics with `maxInFlight` need it, so
 * that no other claim adds messages while this one counts those in flight. Call it in the claim's transaction, before
 * the claim, and leave out the topics that it does not return: another claim has them. It waits for none of them, because
 * a process that is frozen in its claim would hold up all others.
 */
export async function lockTopicsInFlight(sql: Sql, topics: readonly string[]): Promise<Set<string>> {
  if (topics.length === 0) return new Set()
  const locked = await sql<{ topic: string }[]>`
    select topic from unnest(${sql.array([...topics])}::text[]) as capped (topic)
    where pg_try_advisory_xact_lock(hashtextextended('dlq.in_flight:' || topic, 0))`
  return new Set(locked.map(({ topic }) => topic))
}

/**
 * Set to what it is by the statements that change most rows. PostgreSQL looks through a full page of an index for entries
 * that it may remove, unless the statement names the index's column; and in the index of creation times a page has
 * thousands of equal entries, so that took a fifteenth of what a retry takes PostgreSQL (decision 79).
 */
function sameCreationTime(sql: Sql) {
  return sql`created_at = m.created_at`
}

/**
 * Claims due messages for the slot's next batch: of each topic up to its quota, those due longest first. Sets them
 * RETRYING and counts the attempt. Where none is due, or the slot was lost, it claims none and uses no number.
 * Returns the batch's number with the messages.
 *
 * @param maxBytes bounds the bytes that are read; the first message is taken whatever its size
 * @param maxMessageBytes a larger message is claimed, so that it can be refused, but not read
 * @param token distinguishes this batch from every other, also from one with the same number in a restored database
 */
export async function claimBatch(
  sql: Sql,
  {
    slot,
    epoch,
    token,
    shares,
    maxBytes,
    maxMessageBytes = 2 ** 30,
  }: Slot & { token: string; shares: readonly TopicShare[]; maxBytes: number; maxMessageBytes?: number },
): Promise<{ batch: bigint; messages: ClaimedMessage[] } | null> {
  if (shares.length === 0) return null
  const isReadable = sql`(m.unstored_value_bytes is null and ${bytesOf(sql)} <= ${maxMessageBytes}::bigint)`
  // "materialized" runs limits and row locks once: in an IN (…) the planner may run the subselect once per row and claim
  // more than the limit.
  const statement = sql`
    with owner as materialized (
      select slot, batch + 1 as batch from dlq.dlq_slots where slot = ${slot} and epoch = ${epoch} for update
    ),
    -- In the claim's own statement, so that from the answer to a pause on nothing more is claimed.
    paused as materialized (
      select coalesce(array_agg(topic), '{}') as topics from dlq.dlq_topic_pauses
      where what = 'retries' and ${isInForce(sql)}
    ),
    -- Once for all topics, and not at all where none has such a bound.
    in_flight as materialized (
      select original_topic, count(*)::int as messages from ${heldBySlots(sql)} held group by original_topic
    ),
    dice as materialized (
      select random() as chance
    ),
    planned as materialized (
      select topic, run, ordered, "pausedGroups" as paused, paused.topics as paused_topics,
             ordered or (${beginsPaused(sql)}) as windowed,
             case when "maxInFlight" is null then quota
                  else greatest(0, least(quota, "maxInFlight" - coalesce(
                    (select messages from in_flight where original_topic = topic), 0))) end as quota
      from json_to_recordset(${toJson(shares)}::json) as s
        (topic text, run uuid, quota int, "maxInFlight" int, ordered boolean, "pausedGroups" uuid[])
      cross join paused
      -- In the claim's own statement, so that no message of a run is claimed once it is paused or cancelled.
      where topic <> all (paused.topics)
        and (run is null or exists (select from dlq.dlq_runs r where r.id = run and r.status = 'running'))
    ),
    share as materialized (
      select s.*, ${windowOf(sql)} from planned s
    ),
    due as materialized (
      ${dueMessages(sql)}
    ),
    fitting as materialized (
      select id from (select id, bytes, sum(bytes) over (rows unbounded preceding) as total from due) summed
      where total <= ${maxBytes}::bigint or total = bytes
    ),
    numbered as (
      update dlq.dlq_slots s set batch = owner.batch from owner where s.slot = owner.slot and exists (select from due)
    )
    update dlq.dlq_messages m set
      -- updated_at as its trigger would set it, which then need not be called.
      status = 'RETRYING', retry_count = m.retry_count + 1, last_retry_at = now(), updated_at = now(),
      ${sameCreationTime(sql)},
      lease_token = ${token}, lease_until = null, lease_slot = owner.slot, lease_batch = owner.batch
    from owner
    -- As an array, because the planner cannot estimate the number. It assumes a tenth of the topic, and for such a
    -- join it reads all messages (a topic with 500,000 due messages held up all others for seconds).
    where m.id = any(array(select id from fitting))
    -- In the order in which readClaimed reads them. In binary, because PostgreSQL takes 2 µs more to write 1 KB as text.
    returning m.lease_batch, m.id::text, m.retry_count, m.max_retries, m.original_topic, m.original_partition,
      m.original_topic_source, ${targetTopicOf(sql)}, to_json(${targetScopeOf(sql)})::text,
      case when ${isReadable} then m.record_key end,
      case when ${isReadable} then m.record_value end,
      case when ${isReadable} then m.record_headers end,
      m.consumer_group, m.record_timestamp, m.original_timestamp,
      case when ${isReadable} and m.record_headers is null and m.record_value is null then m.payload::text end,
      m.dlq_topic, m.run_id::text,
      case when not ${isReadable} then coalesce(m.unstored_value_bytes, ${bytesOf(sql)})::float8 end,
      m.group_id::text,
      -- Most messages have no attempt before this one: nothing is read for them.
      m.retry_count > 1 and exists (
        select from dlq.dlq_attempts a
        where a.message_id = m.id and a.number = m.retry_count - 1 and a.outcome = 'failed')`
  let batch: bigint | null = null
  const messages = await binaryRows(statement, (row) => {
    batch = row.bigint()
    return readClaimed(row)
  })
  if (batch === null) return null
  // In the order of the records' times, so that they are published about as they arrived.
  return { batch, messages: messages.sort((a, b) => (a.id < b.id ? -1 : 1)) }
}

function readClaimed(row: BinaryRow): ClaimedMessage {
  const id = row.text()!
  const retry_count = row.integer()!
  return {
    id,
    retry_count,
    attempt_id: deriveAttemptId(id, retry_count),
    max_retries: row.integer()!,
    original_topic: row.repeated()!,
    original_partition: row.integer(),
    original_topic_source: row.repeated(),
    target_topic: row.repeated(),
    target_scope: listOf(row.text()),
    record_key: row.bytes(),
    record_value: row.bytes(),
    record_headers: row.text(),
    consumer_group: row.repeated(),
    record_timestamp: row.time(),
    original_timestamp: row.time(),
    payload: row.text(),
    dlq_topic: row.repeated(),
    run_id: row.repeated(),
    unsendable_bytes: row.number(),
    group_id: row.repeated(),
    was_refused: row.boolean()!,
  }
}

function listOf(json: string | null): string[] | null {
  return json === null ? null : JSON.parse(json)
}

/** A part of a batch, to be published under its own number. */
export type BatchPart = { batch: bigint; token: string; ids: readonly string[] }

/**
 * Leases parts of the slot's batches again, under numbers that the slot has given out for them. Call it before any part
 * is published, so that each Kafka transaction has its own number. False where the slot was lost.
 */
export async function leaseParts(
  sql: Sql,
  { slot, epoch, parts }: Slot & { parts: readonly BatchPart[] },
): Promise<boolean> {
  const leases = parts.flatMap(({ batch, token, ids }) => ids.map((id) => ({ id, batch, token })))
  const rows = await sql<{ owned: boolean }[]>`
    with owner as materialized (
      select slot from dlq.dlq_slots where slot = ${slot} and epoch = ${epoch} for update
    ),
    leased as (
      update dlq.dlq_messages m set lease_batch = part.batch, lease_token = part.token
      from json_to_recordset(${toJson(leases)}::json) as part (id uuid, batch bigint, token uuid)
      where m.id = part.id and m.status = 'RETRYING' and m.lease_slot = (select slot from owner)
    )
    select exists (select from owner) as owned`
  return rows[0]!.owned
}

/** A statement that settles messages must match all of this. */
export type BatchLease = Slot & { batch: bigint }

type Attempted = { attempts?: readonly SettledAttempt[] }

export type SettledMessage = {
  id: string
  /** RESOLVED: published. PENDING: refused, or to be sent again later. DEAD: refused, and the budget is spent. */
  status: 'RESOLVED' | 'PENDING' | 'DEAD'
  next_retry_at: Date | null
  /** The run that held it when it was claimed. It holds it until now, because nobody takes a RETRYING message out of a run. */
  run_id: string | null
}

/**
 * For the transaction that settles a batch, before its other statements: they go along indexes then, also where a table is
 * small enough to be read as a whole. So `settleMessages` locks rows in the order of ids, as every statement does that locks
 * several messages; an ingester locks the same ones when they have failed again.
 */
export async function lockAlongIndexes(sql: Sql): Promise<void> {
  await sql`select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)`
}

/**
 * Writes the outcomes of those messages of the batch whose lease still holds, and their `attempts`. Returns how many these
 * are. Call it after `lockAlongIndexes`.
 */
export async function settleMessages(
  sql: Sql,
  { slot, epoch, batch, messages, attempts = [] }: BatchLease & Attempted & { messages: readonly SettledMessage[] },
): Promise<number> {
  if (messages.length === 0) return 0
  const failed = messages.filter(({ status }) => status !== 'RESOLVED')
  const inRuns = messages.filter(({ run_id }) => run_id !== null)
  const [row] = await sql<[{ settled: number }]>`
    with owner as materialized (
      select slot from dlq.dlq_slots where slot = ${slot} and epoch = ${epoch} for update
    ),
    -- Few or none, so they are looked up for each message. A join with all outcomes goes to the index of ids once for each.
    failed as materialized (
      select * from unnest(
        ${toArray(failed.map(({ id }) => id))}::uuid[], ${toArray(failed.map(({ status }) => status))}::text[],
        ${toArray(failed.map(({ next_retry_at }) => next_retry_at))}::timestamptz[]) as failed (id, status, next_retry_at)
    ),
    updated as (
      update dlq.dlq_messages m set
        status = coalesce((select f.status from failed f where f.id = m.id), 'RESOLVED'),
        next_retry_at = (select f.next_retry_at from failed f where f.id = m.id and not ${heldUnlessForced(sql, 'm.')}),
        retry_requested = false, run_id = null, updated_at = now(), ${sameCreationTime(sql)},
        lease_token = null, lease_until = null, lease_slot = null, lease_batch = null
      -- As a subquery, because of an array whose length the planner knows it may read whole partitions. And "is true",
      -- because along the lease's index PostgreSQL compares every row with the whole list (measured: 60 of the 80 ms that
      -- settling 500 messages took).
      where m.id = any((select ${toArray(messages.map(({ id }) => id))}::uuid[])::uuid[])
        and (m.lease_slot = (select slot from owner) and m.lease_batch = ${batch} and m.status = 'RETRYING') is true
      returning m.id
    ),
    counted as (
      insert into dlq.dlq_run_deltas (run_id, outcome, n)
      select held.run_id, case when f.id is null then 'resolved' else 'failed' end, count(*)
      from unnest(
        ${toArray(inRuns.map(({ id }) => id))}::uuid[], ${toArray(inRuns.map(({ run_id }) => run_id))}::uuid[]) as held (id, run_id)
      join updated using (id)
      left join failed f using (id)
      group by 1, 2
    ),
    attempted as (${attemptsAmong(sql, attempts, 'updated')})
    select count(*)::int as settled from updated`
  return row.settled
}

/**
 * Gives messages of the batch back as they were before the claim: due, the attempt not counted. For
 * what was certainly not published, or for what nobody knows: the next attempt then has the same id, and `attempts` say so.
 * Returns the ids of those whose lease still held.
 *
 * @param afterMs they are due no sooner; null: at once
 */
export async function releaseBatch(
  sql: Sql,
  {
    slot,
    epoch,
    batch,
    ids = null,
    afterMs = null,
    attempts = [],
  }: BatchLease & Attempted & { ids?: readonly string[] | null; afterMs?: number | null },
): Promise<string[]> {
  const only =
    ids === null
      ? sql``
      : sql`join json_to_recordset(${toJson(ids.map((id) => ({ id })))}::json) as given (id uuid) using (id)`
  const rows = await sql<{ id: string }[]>`
    with owner as materialized (
      select slot from dlq.dlq_slots where slot = ${slot} and epoch = ${epoch} for update
    ),
    held as materialized (
      select m.id from dlq.dlq_messages m ${only}
      where m.lease_slot = (select slot from owner) and m.lease_batch = ${batch} and m.status = 'RETRYING'
      order by m.id
      for update of m
    ),
    attempted as (${attemptsAmong(sql, attempts, 'held')})
    update dlq.dlq_messages m set
      status = 'PENDING', retry_count = m.retry_count - 1,
      -- What a run holds is not due by itself, nor what its route has come to hold.
      next_retry_at = case when m.run_id is null and (m.retry_requested or not m.held_by_route)
        then greatest(coalesce(m.next_retry_at, now()), now() + ${afterMs}::float8 * interval '1 ms')
        else m.next_retry_at end,
      lease_token = null, lease_until = null, lease_slot = null, lease_batch = null
    from held
    where m.id = held.id
    returning m.id`
  return rows.map(({ id }) => id)
}

export type OutstandingBatch = { batch: bigint; token: string | null; messages: number }

/** The batches that the slot has claimed and not settled, oldest first. Normally at most one. */
export async function listOutstanding(sql: Sql, { slot }: Pick<Slot, 'slot'>): Promise<OutstandingBatch[]> {
  return sql<OutstandingBatch[]>`
    select lease_batch as batch, max(lease_token::text)::uuid as token, count(*)::int as messages
    from dlq.dlq_messages
    where lease_slot = ${slot}
    group by lease_batch
    order by lease_batch`
}

export type OutstandingMessage = Pick<
  ClaimedMessage,
  'id' | 'retry_count' | 'original_topic' | 'dlq_topic' | 'consumer_group' | 'target_topic' | 'run_id'
> & { claimed_at: Date }

/** The messages of one outstanding batch. */
export async function listOutstandingMessages(
  sql: Sql,
  { slot, batch }: { slot: number; batch: bigint },
): Promise<OutstandingMessage[]> {
  return sql<OutstandingMessage[]>`
    select id, retry_count, original_topic, dlq_topic, consumer_group, ${targetTopicOf(sql)} as target_topic, run_id,
           last_retry_at as claimed_at
    from dlq.dlq_messages m
    where lease_slot = ${slot} and lease_batch = ${batch} and status = 'RETRYING'
    order by id`
}
