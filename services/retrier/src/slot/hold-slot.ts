// A slot that this process owns: taken, renewed by a timer, given back at the end. Losing it needs no
// care: every statement checks the epoch, and Kafka fences the producer.

import { releaseSlot, renewSlot, type Slot, type TakenSlot } from 'dlq-core/queries/slots.ts'
import type { Database } from 'dlq-core/runtime/database.ts'
import type { Log } from 'dlq-core/runtime/log.ts'

export type HeldSlot = Slot & {
  /** True once somebody else has taken it over. */
  readonly isLost: () => boolean
  /** Ends the renewing and gives the slot back. */
  release(): Promise<void>
}

/** Keeps a slot that was just taken. */
export function holdSlot(
  taken: TakenSlot,
  { sql, leaseMs, log }: { sql: Database; leaseMs: number; log: Log },
): HeldSlot {
  const { slot, epoch } = taken
  let lost = false
  let renewing: Promise<void> | null = null

  async function renew(): Promise<void> {
    try {
      if (await renewSlot(sql, { slot, epoch, leaseMs })) return
      lost = true
      clearInterval(timer)
      log.warn({ slot, epoch: String(epoch) }, 'slot_lost')
    } catch (error) {
      // While the database is away nobody can take the slot either.
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
    async release() {
      clearInterval(timer)
      await renewing
      // The lease runs out by itself where the database is away.
      await releaseSlot(sql, { slot, epoch }).catch((error) => log.debug({ error, slot }, 'slot_release_failed'))
    },
  }
}
