// What a slot writes to the database after Kafka has answered, or should have: nobody else can write it.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from 'dlq-core/runtime/log.ts'
import type { HeldSlot } from './hold-slot.ts'

export type InsistDeps = {
  log: Log
  /** Aborts when the service stops. */
  signal: AbortSignal
}

/**
 * Writes, and where the database fails, tries again for as long as the slot is ours and the service runs.
 *
 * @param event in the log, for each failure
 * @throws the last error
 */
export async function insist(
  { log, signal }: InsistDeps,
  slot: Pick<HeldSlot, 'isLost'>,
  { event, write }: { event: string; write: () => Promise<void> },
): Promise<void> {
  for (let backoffMs = 50; ; backoffMs = Math.min(backoffMs * 2, 2000)) {
    try {
      return await write()
    } catch (error) {
      if (slot.isLost() || signal.aborted) throw error
      log.warn({ error, backoffMs }, event)
      await sleep(backoffMs)
    }
  }
}
