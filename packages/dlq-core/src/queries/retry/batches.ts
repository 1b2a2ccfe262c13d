// dlq_messages: claiming what is due for a slot, and settling it. Claim and settle lock the slot's row
// and check its epoch in the same statement, and settling checks slot and batch besides: neither a
// zombie nor a dead process's last statement, landing late, finds anything.

import type postgres from 'postgres'
import type { Slot } from './slots.ts'
import { type Sql, toJson } from './sql.ts'

type Fragment = postgres.PendingQuery<postgres.Row[]>

export type ClaimedMessage = {
  id: string
  retry_count: number
  max_retries: number
  original_topic: string
  original_partition: number | null
  original_topic_source: string | null
  /** Where somebody wants it sent instead. */
  target_topic: string | null
  record_key: Buffer | null
  record_value: Buffer | null
  /** Stored headers as JSON text; null for a message that never was a Kafka record. */
  record_headers: string | null
  record_timestamp: Date | null
  original_timestamp: Date | null
  /** Only of a message that never was a record. */
  payload: string | null
  dlq_topic: string | null
  /** The run that it is sent by. */
  run_id: string | null
}

/** Where message m goes instead: its run says so, for as long as it is in the run, or else an edit. */
function targetTopicOf(sql: Sql) {
  return sql`
    coalesce(case when m.run_id is not null then (select r.target_topic from dlq.dlq_runs r where r.id = m.run_id) end, m.target_topic)`
}

/** How much of a topic may be claimed. */
export type TopicShare = {
  topic: string
  /** Of what this run holds of the topic; absent: of what is due by itself. */
  run?: string
  quota: number
  /** So many of the topic may be RETRYING at once; null: any number. */
  maxInFlight: number | null
  /** A message waits for earlier unresolved ones of its key. */
  ordered: boolean
  /** Error groups of which only what somebody asked for is claimed. */
  pausedGroups: readonly string[]
}

/** How many due messages of an ordered topic are looked through for some that need not wait. */
const orderedWindow = 20_000

/**
 * Locks topics against other claims that name them, until the transaction ends. For topics with
 * `maxInFlight`, so that what is in flight is counted when nobody else is adding to it: call it in the
 * transaction of the claim, before it.
 */
export async function lockTopicsInFlight(sql: Sql, topics: readonly string[]): Promise<void> {
  if (topics.length === 0) return
  // In one order, as everybody locks them.
  await sql`
    select pg_advisory_xact_lock(hashtextextended('dlq.in_flight:' || topic, 0))
    from (select topic from unnest(${sql.array([...topics])}::text[]) as capped (topic) order by topic) capped`
}

/** About what a message takes in memory; sizes are known without reading what is stored out of line. */
function bytesOf(sql: Sql) {
  return sql`
    coalesce(octet_length(m.record_value), pg_column_size(m.payload), 0) + coalesce(octet_length(m.record_key), 0) + coalesce(pg_column_size(m.record_headers), 0)`
}

/** Whether message m is none that the share s passes over. */
function notPaused(sql: Sql) {
  return sql`(s.paused = '{}' or m.retry_requested or m.group_id is null or m.group_id <> all (s.paused))`
}

/** Which messages of the share s there are to claim, and in which order: each along an index of its own. */
type Source = { shares: Fragment; due: Fragment; order: Fragment }

function sourcesOf(sql: Sql): Source[] {
  return [
    // What is due by itself, that is: in no run.
    {
      shares: sql`s.run is null`,
      due: sql`m.status = 'PENDING' and m.run_id is null and m.next_retry_at <= now() and m.retry_count < m.max_retries and ${notPaused(sql)}`,
      order: sql`m.next_retry_at, m.id`,
    },
    // What a run holds, whenever it would be due by itself. Somebody asked for it: no pause of its group counts.
    {
      shares: sql`s.run is not null`,
      due: sql`m.status = 'PENDING' and m.run_id = s.run and m.retry_count < m.max_retries`,
      order: sql`m.id`,
    },
  ]
}

/** The due messages of the shares whose topics have no order, locked. */
function dueOfFreeTopics(sql: Sql, { shares, due, order }: Source) {
  return sql`
    select oldest.id, oldest.bytes
    from owner
    cross join share s
    cross join lateral (
      select id, ${bytesOf(sql)} as bytes from dlq.dlq_messages m
      where m.original_topic = s.topic and ${due}
      order by ${order}
      limit s.quota
      for update skip locked
    ) oldest
    where not s.ordered and ${shares}`
}

/** The due messages of the shares whose topics have an order, that need not wait for another of their key; locked. */
function dueOfOrderedTopics(sql: Sql, { shares, due, order }: Source) {
  return sql`
    select first.id, first.bytes
    from owner
    cross join share s
    cross join lateral (
      select m.id, ${bytesOf(sql)} as bytes
      from dlq.dlq_messages m
      -- Locked only now: what is looked through and passed over stays free.
      where m.id = any(array(
        select w.id
        from (
          select m.id, m.order_key, m.original_partition, m.original_offset from dlq.dlq_messages m
          where m.original_topic = s.topic and ${due}
          order by ${order}
          limit ${orderedWindow}
        ) w
        -- An earlier one that this snapshot sees unresolved may be resolved by now, never the other way round.
        where w.order_key is null or not exists (
          select from dlq.dlq_messages e
          where e.original_topic = s.topic and e.order_key = w.order_key and e.status in ('PENDING', 'RETRYING')
            and (coalesce(e.original_partition, -1), coalesce(e.original_offset, -1), e.id)
              < (coalesce(w.original_partition, -1), coalesce(w.original_offset, -1), w.id))
        limit s.quota
      ))
        and ${due}
      for update skip locked
    ) first
    where s.ordered and ${shares}`
}

/**
 * Claims due messages for the slot's next batch: of each topic up to its quota, oldest due first. Sets
 * RETRYING and counts the attempt. Nothing is claimed, and no number used up, where nothing is due or
 * the slot was lost. Returns the batch's number with the messages.
 *
 * @param maxBytes bound of what is read, apart from the first message, which is taken whatever its size
 * @param token tells this batch from every other, also from one of the same number in a restored database
 */
export async function claimBatch(
  sql: Sql,
  { slot, epoch, token, shares, maxBytes }: Slot & { token: string; shares: readonly TopicShare[]; maxBytes: number },
): Promise<{ batch: bigint; messages: ClaimedMessage[] } | null> {
  if (shares.length === 0) return null
  // "materialized" keeps limits and row locks in one place: in an IN (…) the planner may run the
  // subselect once per row and claim more than the limit.
  const rows = await sql<(ClaimedMessage & { lease_batch: bigint })[]>`
    with owner as materialized (
      select slot, batch + 1 as batch from dlq.dlq_slots where slot = ${slot} and epoch = ${epoch} for update
    ),
    share as materialized (
      select topic, run, ordered, "pausedGroups" as paused,
             case when "maxInFlight" is null then quota
                  else greatest(0, least(quota, "maxInFlight" - (
                    select count(*)::int from dlq.dlq_messages f
                    where f.lease_slot is not null and f.original_topic = topic))) end as quota
      from json_to_recordset(${toJson(shares)}::json) as s
        (topic text, run uuid, quota int, "maxInFlight" int, ordered boolean, "pausedGroups" uuid[])
      -- Here and not before, so that nothing of a run is claimed from the moment that it is paused or cancelled.
      where run is null or exists (select from dlq.dlq_runs r where r.id = run and r.status = 'running')
    ),
    due as materialized (
      ${sourcesOf(sql)
        .flatMap((source) => [dueOfFreeTopics(sql, source), dueOfOrderedTopics(sql, source)])
        .reduce((all, due) => sql`${all} union all ${due}`)}
    ),
    fitting as materialized (
      select id from (select id, bytes, sum(bytes) over (rows unbounded preceding) as total from due) summed
      where total <= ${maxBytes}::bigint or total = bytes
    ),
    numbered as (
      update dlq.dlq_slots s set batch = owner.batch from owner where s.slot = owner.slot and exists (select from due)
    )
    update dlq.dlq_messages m set
      status = 'RETRYING', retry_count = m.retry_count + 1, last_retry_at = now(),
      lease_token = ${token}, lease_until = null, lease_slot = owner.slot, lease_batch = owner.batch
    from owner
    -- As an array, because the planner has no idea how many there are: it takes a tenth of the topic, and would
    -- read all messages to join so many (a topic of 500,000 due messages held up all others for seconds).
    where m.id = any(array(select id from fitting))
    returning m.lease_batch, m.id, m.retry_count, m.max_retries, m.original_topic, m.original_partition,
      m.original_topic_source, ${targetTopicOf(sql)} as target_topic, m.record_key, m.record_value, m.record_headers, m.record_timestamp, m.original_timestamp,
      case when m.record_headers is null and m.record_value is null then m.payload end as payload,
      m.dlq_topic, m.run_id`
  if (rows.length === 0) return null
  // In the order of the records' times, so that they leave about as they came.
  return { batch: rows[0]!.lease_batch, messages: rows.toSorted((a, b) => (a.id < b.id ? -1 : 1)) }
}

/** Part of a batch, to be published under a number of its own. */
export type BatchPart = { batch: bigint; token: string; ids: readonly string[] }

/**
 * Leases parts of the slot's batches again, under numbers that the slot has given out for them. Before
 * any of them is published, so that each Kafka transaction has a number of its own. False where the slot was lost.
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

/** What a statement must match of what it settles. */
export type BatchLease = Slot & { batch: bigint }

export type SettledMessage = {
  id: string
  /** RESOLVED: published. PENDING: refused, or to be tried again later. DEAD: refused, the budget spent. */
  status: 'RESOLVED' | 'PENDING' | 'DEAD'
  next_retry_at: Date | null
}

/** Writes what became of messages of the batch, where the lease still holds. Returns their ids. */
export async function settleMessages(
  sql: Sql,
  { slot, epoch, batch, messages }: BatchLease & { messages: readonly SettledMessage[] },
): Promise<string[]> {
  if (messages.length === 0) return []
  const rows = await sql<{ id: string }[]>`
    with owner as materialized (
      select slot from dlq.dlq_slots where slot = ${slot} and epoch = ${epoch} for update
    ),
    held as materialized (
      -- Joined to what the lease holds: "id = any (…)" beside the lease's index compares every row with the
      -- whole list (measured: 60 ms of the 80 that settling 500 messages took).
      select m.id, m.run_id, settled.status, settled.next_retry_at
      from json_to_recordset(${toJson(messages)}::json) as settled (id uuid, status text, next_retry_at timestamptz)
      join dlq.dlq_messages m on m.id = settled.id
      where m.lease_slot = (select slot from owner) and m.lease_batch = ${batch} and m.status = 'RETRYING'
      -- Locked in the order of ids, as every locker of several messages does.
      order by m.id
      for update of m
    ),
    updated as (
      update dlq.dlq_messages m set
        status = held.status, next_retry_at = held.next_retry_at, retry_requested = false, run_id = null,
        lease_token = null, lease_until = null, lease_slot = null, lease_batch = null
      from held
      where m.id = held.id
      returning m.id, held.run_id, m.status
    ),
    counted as (
      insert into dlq.dlq_run_deltas (run_id, outcome, n)
      select run_id, case status when 'RESOLVED' then 'resolved' else 'failed' end, count(*)
      from updated where run_id is not null
      group by 1, 2
    )
    select id from updated`
  return rows.map(({ id }) => id)
}

/**
 * Gives messages of the batch back as they were before the claim: due, the attempt not counted. For
 * what was certainly not published, or for what nobody knows: the next attempt then has the same id.
 * Returns how many.
 */
export async function releaseBatch(
  sql: Sql,
  { slot, epoch, batch, ids = null }: BatchLease & { ids?: readonly string[] | null },
): Promise<number> {
  const only =
    ids === null
      ? sql``
      : sql`join json_to_recordset(${toJson(ids.map((id) => ({ id })))}::json) as given (id uuid) using (id)`
  const result = await sql`
    with owner as materialized (
      select slot from dlq.dlq_slots where slot = ${slot} and epoch = ${epoch} for update
    ),
    held as materialized (
      select m.id from dlq.dlq_messages m ${only}
      where m.lease_slot = (select slot from owner) and m.lease_batch = ${batch} and m.status = 'RETRYING'
      order by m.id
      for update of m
    )
    update dlq.dlq_messages m set
      status = 'PENDING', retry_count = m.retry_count - 1,
      -- What a run holds is not due by itself.
      next_retry_at = case when m.run_id is null then coalesce(m.next_retry_at, now()) else m.next_retry_at end,
      lease_token = null, lease_until = null, lease_slot = null, lease_batch = null
    from held
    where m.id = held.id`
  return result.count
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
  'id' | 'retry_count' | 'original_topic' | 'dlq_topic' | 'target_topic' | 'run_id'
>

/** The messages of one outstanding batch. */
export async function listOutstandingMessages(
  sql: Sql,
  { slot, batch }: { slot: number; batch: bigint },
): Promise<OutstandingMessage[]> {
  return sql<OutstandingMessage[]>`
    select id, retry_count, original_topic, dlq_topic, ${targetTopicOf(sql)} as target_topic, run_id
    from dlq.dlq_messages m
    where lease_slot = ${slot} and lease_batch = ${batch} and status = 'RETRYING'
    order by id`
}
