// What a slot writes to the database after Kafka has answered, or should have: nobody else can write it.

import { setTimeout as sleep } from 'node:timers/promises'
import { createFaultNews } from 'dlq-core/runtime/log.ts'
import type { HeldSlot } from './hold-slot.ts'

export type InsistDeps = {
  /** Aborts when the service stops. */
  signal: AbortSignal
}

export type Insisting<Written> = {
  write: () => Promise<Written>
  /** Called before a further try, to log the failure; not each time where it stays the same. */
  onFailure: (failure: { error: unknown; backoffMs: number }) => void
}

/**
 * Writes, and where the database fails, tries again for as long as the slot is ours and the service runs.
 *
 * @throws the last error
 */
export async function insist<Written>(
  { signal }: InsistDeps,
  slot: Pick<HeldSlot, 'isLost'>,
  { write, onFailure }: Insisting<Written>,
): Promise<Written> {
  const isNews = createFaultNews()
  for (let backoffMs = 50; ; backoffMs = Math.min(backoffMs * 2, 2000)) {
    try {
      return await write()
    } catch (error) {
      if (slot.isLost() || signal.aborted) throw error
      if (isNews(error)) onFailure({ error, backoffMs })
      await sleep(backoffMs)
    }
  }
}
