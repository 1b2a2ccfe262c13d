// One slot of this process. It takes a slot, connects and recovers it, then publishes batch after batch. After a fault
// the next pass starts again from the right place: with another slot where this one was lost, with a new producer where
// Kafka failed.

import { noteUnanswered, type TakenSlot, takeSlot } from 'dlq-core/queries/retry/slots.ts'
import { DlqError } from 'dlq-core/runtime/errors.ts'
import { type PassResult, runLoop, type Wake } from 'dlq-core/runtime/run-loop.ts'
import type { ClaimMemory } from '../claim/share-claims.ts'
import { CommitUnknownError, type NoteUnanswered, type SlotProducer } from '../publish/slot-producer.ts'
import type { Refusal } from '../refusal.ts'
import { type RetryDeps, retryDue } from '../retry-due.ts'
import type { Breaker } from './breaker.ts'
import { type HeldSlot, holdSlot } from './hold-slot.ts'
import { insist } from './insist.ts'
import type { PendingSlots } from './pending-slots.ts'
import { connectAndRecover } from './recover-slot.ts'

export type SlotDeps = RetryDeps & {
  breaker: Breaker
  refusal: Refusal
  /** Of all slots of this process, and of its sweep. */
  pendingSlots: PendingSlots
  createProducer: (slot: number, noteUnanswered: NoteUnanswered) => SlotProducer
  loadPolicies: () => Promise<void>
  /** This process, in dlq_retriers. */
  retrierId: string
  leaseMs: number
  pollMs: number
}

/** Works on one slot until the signal aborts, then gives it back. */
export async function runSlot(deps: SlotDeps, { name, wake }: { name: string; wake: Wake }): Promise<void> {
  const { log, signal, pollMs: intervalMs } = deps
  const worker = createSlotWorker(deps)
  try {
    const pass = () =>
      worker.pass().catch((error) => {
        // It was logged: by the breaker, which owns the wait, or when the slot was left aside.
        if (isKafkaFault(error) || isTransactionPending(error)) return { more: false }
        throw error
      })
    await runLoop(pass, { name, intervalMs, signal, log, wake })
  } finally {
    await worker.close()
  }
}

/** A slot that this process holds, and its producer. */
type Held = { slot: HeldSlot; producer: SlotProducer }

type Owned = Held & { isConnected: boolean }

/** A slot that had nothing to do for this long looks less often. A request still wakes it at once. */
const idleAfterMs = 60_000
const idleFactor = 4

/** The passes of one slot, and its end. */
export function createSlotWorker(deps: SlotDeps) {
  const { sql, breaker } = deps
  let busyAt = deps.now().getTime()
  const memory: ClaimMemory = {
    turn: Math.floor(deps.random() * 1000),
    runTurn: Math.floor(deps.random() * 1000),
    batchSize: deps.batchSize,
    appetite: new Map(),
    contested: new Map(),
  }
  let owned: Owned | null = null

  async function giveBack(): Promise<void> {
    const old = owned
    owned = null
    if (old !== null) await release(old)
  }

  async function ownSlot(): Promise<Owned> {
    if (owned?.slot.isLost()) await giveBack()
    if (owned !== null) return owned
    const { retrierId: owner, leaseMs, pendingSlots } = deps
    const taken = await takeSlot(sql, { owner, leaseMs, except: pendingSlots.list() })
    deps.log.info({ slot: taken.slot, epoch: String(taken.epoch), fresh: taken.fresh }, 'slot_taken')
    owned = { ...hold(deps, taken), isConnected: false }
    return owned
  }

  async function work(current: Owned) {
    if (!current.isConnected) {
      await connectAndRecover(deps, current)
      current.slot.settled()
      current.isConnected = true
      breaker.succeeded()
    }
    const counts = await retryDue(deps, { slot: current.slot, producer: current.producer, memory })
    current.slot.settled()
    const now = deps.now().getTime()
    if (counts.published + counts.refused + counts.released > 0) busyAt = now
    return now - busyAt < idleAfterMs ? counts : { ...counts, waitMs: deps.pollMs * idleFactor }
  }

  return {
    async pass(): Promise<PassResult> {
      const gate = breaker.enter()
      if (gate === 'open') return { more: false }
      let current: Owned | null = null
      try {
        await deps.loadPolicies()
        current = await ownSlot()
        // A probe connects again and commits a transaction without records, which harms no message.
        if (gate === 'probe') current.isConnected = false
        const counts = await work(current)
        deps.refusal.succeeded()
        return counts
      } catch (error) {
        deps.refusal.failed(error)
        if (current) afterFault(current, error)
        // Whatever failed, the probe must end here; otherwise no slot would ever probe again.
        if (gate === 'probe' && breaker.isProbing()) breaker.failed((error as Error).message)
        const isPending = isTransactionPending(error)
        if (current && isPending) leaveAside(deps, current.slot)
        if (isPending || (error instanceof DlqError && error.code === 'SLOT_LOST')) await giveBack()
        throw error
      }
    },
    close: giveBack,
  }

  function afterFault(current: Owned, error: unknown): void {
    // Also after a fault of the database: connecting again reads the ledger, which settles what is still claimed.
    current.isConnected = false
    if (isKafkaFault(error)) breaker.failed((error as Error).message)
  }
}

function isKafkaFault(error: unknown): boolean {
  if (error instanceof CommitUnknownError) return true
  return error instanceof DlqError && (error.code === 'KAFKA_UNAVAILABLE' || error.code === 'KAFKA_FORBIDDEN')
}

/** Kafka has not ended the slot's last transaction, and answers otherwise: another slot can send meanwhile. */
export function isTransactionPending(error: unknown): boolean {
  return error instanceof DlqError && error.code === 'TRANSACTION_PENDING'
}

export function leaveAside({ pendingSlots, log }: Pick<SlotDeps, 'pendingSlots' | 'log'>, { slot }: HeldSlot): void {
  pendingSlots.add(slot)
  log.warn({ slot }, 'transaction_pending')
}

/** Holds a slot that was just taken, with a producer that is not connected yet. */
export function hold(deps: SlotDeps, taken: TakenSlot): Held {
  const slot = holdSlot(taken, deps)
  const producer = deps.createProducer(slot.slot, ({ token }, records) =>
    insist(deps, slot, {
      write: () => noteUnanswered(deps.sql, { slot: slot.slot, epoch: slot.epoch, token, records }),
      onFailure: (failure) => deps.log.warn(failure, 'unanswered_not_noted'),
    }),
  )
  return { slot, producer }
}

/** Closes the producer, and gives the slot back. */
export async function release({ slot, producer }: Held): Promise<void> {
  await producer.close()
  await slot.release()
}
