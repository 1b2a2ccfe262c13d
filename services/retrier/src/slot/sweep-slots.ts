// Takes over abandoned slots that still hold messages, recovers them and gives them back.

import { takeAbandonedSlot } from 'dlq-core/queries/retry/slots.ts'
import { connectAndRecover } from './recover-slot.ts'
import { hold, isTransactionPending, leaveAside, release, type SlotDeps } from './run-slot.ts'

/** Recovers at most one slot. @throws as `connectAndRecover` does; the slot is abandoned again then */
export async function sweepSlots(deps: SlotDeps): Promise<{ more: boolean }> {
  const { sql, log, breaker, pendingSlots, retrierId, leaseMs } = deps
  if (breaker.fault() !== null) return { more: false }
  await deps.loadPolicies()
  const taken = await takeAbandonedSlot(sql, { owner: retrierId, leaseMs, except: pendingSlots.list() })
  if (taken === null) return { more: false }
  log.warn({ slot: taken.slot }, 'abandoned_slot_taken')
  const held = hold(deps, taken)
  try {
    // Where nothing was settled, the slot would be found again at once.
    return { more: (await connectAndRecover(deps, held)) > 0 }
  } catch (error) {
    if (!isTransactionPending(error)) throw error
    leaveAside(deps, held.slot)
    return { more: true }
  } finally {
    await release(held)
  }
}
