// A slot that this process owns. A timer renews it, and it is given back at the end. Losing it does no harm: every
// statement checks the epoch, and Kafka fences the producer.

import { releaseSlot, renewSlot, type Slot, type TakenSlot } from 'dlq-core/queries/retry/slots.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { Log } from 'dlq-core/runtime/log.ts'

export type HeldSlot = Slot & {
  /** True once another retrier has taken it over, or the database has forgotten what this one did. */
  readonly isLost: () => boolean
  /** The database has given out this number, or `count` from it on. */
  used(batch: bigint, count?: number): void
  /** All batches are settled whose numbers were given out so far. */
  settled(): void
  /** Ends the renewing and gives the slot back. */
  release(): Promise<void>
}

const behind = 'the database is behind'

/** Keeps a slot that was just taken. */
export function holdSlot(
  taken: TakenSlot,
  { sql, leaseMs, log }: { sql: Database; leaseMs: number; log: Log },
): HeldSlot {
  const { slot, epoch } = taken
  let lost = false
  let highest = taken.batch
  /** Up to this number all batches are settled. None is, until the slot was recovered. */
  let settledTo = -1n
  let renewing: Promise<void> | null = null

  /** Whoever takes the slot next, this retrier too, asks Kafka's ledger about what the slot holds. */
  function lose(why: object): void {
    if (lost) return
    lost = true
    clearInterval(timer)
    log.warn({ slot, epoch: String(epoch), ...why }, 'slot_lost')
  }

  /** A number that falls: a standby that was behind has taken over, and batches that were settled may be claimed again. */
  function compare(batch: bigint, known: bigint): void {
    if (batch < known) lose({ batch: String(batch), known: String(known), cause: behind })
  }

  async function renew(): Promise<void> {
    try {
      const known = { highest, settledTo }
      const renewed = await renewSlot(sql, { slot, epoch, settled: settledTo, leaseMs })
      if (renewed === null) return lose({ cause: 'another retrier has taken it' })
      compare(renewed.batch, known.highest)
      // The number has not fallen where only the last settlement was lost.
      if (renewed.holds_settled) lose({ settled: String(known.settledTo), cause: behind })
    } catch (error) {
      // While the database is unavailable, no other retrier can take the slot either.
      log.debug({ error, slot }, 'slot_renewal_failed')
    }
  }

  const timer = setInterval(() => {
    renewing ??= renew().finally(() => {
      renewing = null
    })
  }, leaseMs / 3)

  return {
    slot,
    epoch,
    isLost: () => lost,
    used(batch, count = 1) {
      // What was claimed is published all the same: its token tells it from another batch of the same number.
      compare(batch, highest + 1n)
      const last = batch + BigInt(count - 1)
      if (last > highest) highest = last
    },
    settled() {
      settledTo = highest
    },
    async release() {
      clearInterval(timer)
      await renewing
      // Where the database is unavailable, the lease runs out by itself.
      await releaseSlot(sql, { slot, epoch }).catch((error) => log.debug({ error, slot }, 'slot_release_failed'))
    },
  }
}
