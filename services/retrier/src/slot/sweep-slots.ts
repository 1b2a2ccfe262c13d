// Takes over abandoned slots that still hold messages, recovers them and gives them back.

import { takeAbandonedSlot } from 'dlq-core/queries/retry/slots.ts'
import { connectAndRecover } from './recover-slot.ts'
import { hold, release, type SlotDeps } from './run-slot.ts'

/** Recovers at most one slot. @throws as `connectAndRecover` does; the slot is abandoned again then */
export async function sweepSlots(deps: SlotDeps): Promise<{ more: boolean }> {
  const { sql, log, breaker, retrierId, leaseMs } = deps
  if (breaker.fault() !== null) return { more: false }
  await deps.loadPolicies()
  const taken = await takeAbandonedSlot(sql, { owner: retrierId, leaseMs })
  if (taken === null) return { more: false }
  log.warn({ slot: taken.slot }, 'abandoned_slot_taken')
  const held = hold(deps, taken)
  try {
    // Where nothing was settled, the slot would be found again at once.
    return { more: (await connectAndRecover(deps, held)) > 0 }
  } finally {
    await release(held)
  }
}
