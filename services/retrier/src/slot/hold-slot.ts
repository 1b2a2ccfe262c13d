// A slot that this process owns. A timer renews it, and it is given back at the end. Losing it does no harm: every
// statement checks the epoch, and Kafka fences the producer.

import { releaseSlot, renewSlot, type Slot, type TakenSlot } from 'dlq-core/queries/retry/slots.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { Log } from 'dlq-core/runtime/log.ts'

export type HeldSlot = Slot & {
  /** True once another retrier has taken it over. */
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
    async release() {
      clearInterval(timer)
      await renewing
      // Where the database is unavailable, the lease runs out by itself.
      await releaseSlot(sql, { slot, epoch }).catch((error) => log.debug({ error, slot }, 'slot_release_failed'))
    },
  }
}
