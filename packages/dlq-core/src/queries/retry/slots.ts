// dlq_slots: who may publish under which number. A statement that acts for a slot names its epoch and
// holds the slot's row locked, so nothing that an earlier owner sends can take effect afterwards.

import type { Sql } from './sql.ts'

/** A slot as its owner knows it: the epoch tells this ownership from every other. */
export type Slot = { readonly slot: number; readonly epoch: bigint }

export type TakenSlot = Slot & {
  /** The number given out last. */
  batch: bigint
  /** It did not exist before. */
  fresh: boolean
}

/** Takes a slot that nobody owns, or makes one. From here on no statement of its former owner finds anything. */
export async function takeSlot(sql: Sql, { owner, leaseMs }: { owner: string; leaseMs: number }): Promise<TakenSlot> {
  for (;;) {
    // "skip locked": a row that is locked is being taken by somebody else, or written by an owner that lives.
    const [taken] = await sql<TakenSlot[]>`
      with free as materialized (
        select slot from dlq.dlq_slots
        where owner_until is null or owner_until < now()
        order by slot limit 1
        for update skip locked
      )
      update dlq.dlq_slots s set
        epoch = s.epoch + 1, owner = ${owner}, taken_at = now(), owner_until = now() + ${leaseMs}::int * interval '1 ms'
      from free where s.slot = free.slot
      returning s.slot, s.epoch, s.batch, false as fresh`
    if (taken) return taken
    // Two may compute the same number; the second one finds nothing inserted and looks again.
    const [made] = await sql<TakenSlot[]>`
      insert into dlq.dlq_slots (slot, epoch, owner, taken_at, owner_until)
      select coalesce(max(slot), 0) + 1, 1, ${owner}, now(), now() + ${leaseMs}::int * interval '1 ms' from dlq.dlq_slots
      on conflict (slot) do nothing
      returning slot, epoch, batch, true as fresh`
    if (made) return made
  }
}

/** Takes a slot that nobody owns and that still holds messages; null where there is none. */
export async function takeAbandonedSlot(
  sql: Sql,
  { owner, leaseMs }: { owner: string; leaseMs: number },
): Promise<TakenSlot | null> {
  const [taken] = await sql<TakenSlot[]>`
    with abandoned as materialized (
      select slot from dlq.dlq_slots s
      where (owner_until is null or owner_until < now())
        and exists (select from dlq.dlq_messages m where m.lease_slot = s.slot)
      order by slot limit 1
      for update skip locked
    )
    update dlq.dlq_slots s set
      epoch = s.epoch + 1, owner = ${owner}, taken_at = now(), owner_until = now() + ${leaseMs}::int * interval '1 ms'
    from abandoned where s.slot = abandoned.slot
    returning s.slot, s.epoch, s.batch, false as fresh`
  return taken ?? null
}

/** The slots that nobody owns though they still hold messages. */
export async function listAbandonedSlots(sql: Sql): Promise<number[]> {
  const rows = await sql<{ slot: number }[]>`
    select slot from dlq.dlq_slots s
    where (owner_until is null or owner_until < now())
      and exists (select from dlq.dlq_messages m where m.lease_slot = s.slot)
    order by slot`
  return rows.map(({ slot }) => slot)
}

/** Keeps the slot for another `leaseMs`. False where somebody has taken it over. */
export async function renewSlot(sql: Sql, { slot, epoch, leaseMs }: Slot & { leaseMs: number }): Promise<boolean> {
  const result = await sql`
    update dlq.dlq_slots set owner_until = now() + ${leaseMs}::int * interval '1 ms'
    where slot = ${slot} and epoch = ${epoch}`
  return result.count > 0
}

/** Gives the slot back, for the next one who takes any. */
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
 * Gives out `count` numbers above every one that the slot has given out and above `floor`, which is what
 * Kafka knows: a database restored from a backup is behind it. Returns the first; null where the slot was lost.
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
