// dlq_slots: which retrier may publish under which number. A statement that acts for a slot names its epoch and locks
// the slot's row, so a late statement of an earlier holder has no effect.

import { type Fragment, type Sql, toJson } from '../sql.ts'

/** A slot as its holder knows it. The epoch distinguishes this holder from every other. */
export type Slot = { readonly slot: number; readonly epoch: bigint }

export type TakenSlot = Slot & {
  /** The last number that was given out. */
  batch: bigint
  /** Whether the slot did not exist before. */
  fresh: boolean
}

type Taking = {
  owner: string
  leaseMs: number
  /** Slots that are left alone. */
  except?: readonly number[]
}

/** Takes a slot without a holder, or creates one. From then on no statement of its former holder has an effect. */
export async function takeSlot(sql: Sql, taking: Taking): Promise<TakenSlot> {
  for (;;) {
    const taken = await takeFree(sql, taking, hasNoHolder(sql))
    if (taken !== null) return taken
    // Two retriers may compute the same number. The second one inserts no row and looks again.
    const [made] = await sql<TakenSlot[]>`
      insert into dlq.dlq_slots (slot, epoch, owner, taken_at, owner_until)
      select coalesce(max(slot), 0) + 1, 1, ${taking.owner}, now(), now() + ${taking.leaseMs}::int * interval '1 ms'
      from dlq.dlq_slots
      on conflict (slot) do nothing
      returning slot, epoch, batch, true as fresh`
    if (made) return made
  }
}

/** How many batches were ever claimed. Between two looks it stands still only where nothing is sent. */
export async function countBatches(sql: Sql): Promise<bigint> {
  const [row] = await sql<[{ batches: bigint }]>`select coalesce(sum(batch), 0)::bigint as batches from dlq.dlq_slots`
  return row.batches
}

/** Takes a slot without a holder that still has claimed messages. Null where there is none. */
export async function takeAbandonedSlot(sql: Sql, taking: Taking): Promise<TakenSlot | null> {
  return takeFree(sql, taking, isAbandoned(sql))
}

/** The slots without a holder that still have claimed messages. */
export async function listAbandonedSlots(sql: Sql): Promise<number[]> {
  const rows = await sql<{ slot: number }[]>`select slot from dlq.dlq_slots s where ${isAbandoned(sql)} order by slot`
  return rows.map(({ slot }) => slot)
}

/** Of a slot `s`. */
function hasNoHolder(sql: Sql): Fragment {
  return sql`(s.owner_until is null or s.owner_until < now())`
}

/** Of a slot `s`. */
function isAbandoned(sql: Sql): Fragment {
  return sql`${hasNoHolder(sql)} and exists (select from dlq.dlq_messages m where m.lease_slot = s.slot)`
}

/** Takes the first slot `s` that meets the condition; null where none does. */
async function takeFree(
  sql: Sql,
  { owner, leaseMs, except = [] }: Taking,
  condition: Fragment,
): Promise<TakenSlot | null> {
  // "skip locked", because another retrier is taking a locked row, or its live holder is writing it.
  const [taken] = await sql<TakenSlot[]>`
    with free as materialized (
      select slot from dlq.dlq_slots s
      where ${condition} and slot <> all(${sql.array([...except])}::int[])
      order by slot limit 1
      for update skip locked
    )
    update dlq.dlq_slots s set
      epoch = s.epoch + 1, owner = ${owner}, taken_at = now(), owner_until = now() + ${leaseMs}::int * interval '1 ms'
    from free where s.slot = free.slot
    returning s.slot, s.epoch, s.batch, false as fresh`
  return taken ?? null
}

export type RenewedSlot = {
  /** The last number that was given out. */
  batch: bigint
  /** Messages of a batch up to `settled` are claimed. */
  holds_settled: boolean
}

/**
 * Extends the slot's lease by `leaseMs`. Null where another retrier has taken the slot.
 *
 * @param settled up to this number all batches are settled, as its holder knows
 */
export async function renewSlot(
  sql: Sql,
  { slot, epoch, settled, leaseMs }: Slot & { settled: bigint; leaseMs: number },
): Promise<RenewedSlot | null> {
  const [row] = await sql<RenewedSlot[]>`
    update dlq.dlq_slots set owner_until = now() + ${leaseMs}::int * interval '1 ms'
    where slot = ${slot} and epoch = ${epoch}
    returning batch, exists (
      select from dlq.dlq_messages m
      where m.lease_slot = ${slot} and m.lease_batch <= ${settled}::bigint and m.status = 'RETRYING') as holds_settled`
  return row ?? null
}

/** Ends the slot's lease, so that the next retrier may take it. */
export async function releaseSlot(sql: Sql, { slot, epoch }: Slot): Promise<void> {
  await sql`
    update dlq.dlq_slots set owner = null, owner_until = null
    where slot = ${slot} and epoch = ${epoch}`
}

/** The last number that the slot has given out. */
export async function lastBatchNumber(sql: Sql, slot: number): Promise<bigint> {
  const [row] = await sql<{ batch: bigint }[]>`select batch from dlq.dlq_slots where slot = ${slot}`
  return row?.batch ?? 0n
}

/**
 * Gives out `count` numbers above all that the slot has given out, and above `floor`, the number in Kafka's ledger: a
 * database that was restored from a backup is behind it. Returns the first one. Null where the slot was lost.
 */
export async function nextBatchNumbers(
  sql: Sql,
  { slot, epoch, floor = 0n, count = 1 }: Slot & { floor?: bigint; count?: number },
): Promise<bigint | null> {
  const [row] = await sql<{ first: bigint }[]>`
    update dlq.dlq_slots set batch = greatest(batch, ${floor}::bigint) + ${count}::int
    where slot = ${slot} and epoch = ${epoch}
    returning batch - ${count}::int + 1 as first`
  return row?.first ?? null
}

/** A record that was sent, and where it stands; `offset` null where Kafka did not say. */
export type Sent = { id: string; topic: string; partition: number; offset: bigint | null }

/** The records of a batch whose commit Kafka has not answered. */
export type Unanswered = { token: string; records: readonly Sent[] }

/** Stores where the records stand, for whoever recovers the slot, instead of those of an earlier batch. */
export async function noteUnanswered(sql: Sql, { slot, epoch, token, records }: Slot & Unanswered): Promise<void> {
  await sql`
    update dlq.dlq_slots set unanswered = ${toJson({ token, records })}::jsonb
    where slot = ${slot} and epoch = ${epoch}`
}

/** What was stored last, if anything. Its batch may have been settled since. */
export async function readUnanswered(sql: Sql, slot: number): Promise<Unanswered | null> {
  const [row] = await sql<{ unanswered: string | null }[]>`
    select unanswered::text from dlq.dlq_slots where slot = ${slot}`
  if (!row || row.unanswered === null) return null
  const { token, records } = JSON.parse(row.unanswered)
  const toSent = ({ offset, ...sent }: Omit<Sent, 'offset'> & { offset: string | null }): Sent => ({
    ...sent,
    offset: offset === null ? null : BigInt(offset),
  })
  return { token, records: records.map(toSent) }
}

/** Call it when all batches of the slot are settled. */
export async function forgetUnanswered(sql: Sql, { slot, epoch }: Slot): Promise<void> {
  await sql`update dlq.dlq_slots set unanswered = null where slot = ${slot} and epoch = ${epoch}`
}
