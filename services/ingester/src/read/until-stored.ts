// Waits for a batch to be stored, however long PostgreSQL is away, while the consumer goes on
// telling Kafka that it lives: kafkajs heartbeats only when the handler does.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from 'dlq-core/runtime/log.ts'
import type { EachBatchPayload } from 'kafkajs'

const heartbeatIntervalMs = 1000
const maxBackoffMs = 5000

type Session = Pick<EachBatchPayload, 'heartbeat' | 'isRunning' | 'isStale'>

/**
 * Runs `store` until it succeeds. Null where the consumer stops meanwhile.
 *
 * @throws what heartbeat() throws when the partition is taken away; a transaction that is still open
 *   then may commit later, which is harmless: its position moves with it.
 */
export async function untilStored<T>(store: () => Promise<T>, session: Session, log: Log): Promise<T | null> {
  for (let failures = 0; session.isRunning() && !session.isStale(); ) {
    let storeFailed = false
    const storing = store().catch((error) => {
      storeFailed = true
      throw error
    })
    try {
      return await withHeartbeats(storing, session)
    } catch (error) {
      // A heartbeat's fault is kafkajs's to handle; only the store's own is ours to wait out.
      if (!storeFailed) throw error
      failures += 1
      const backoffMs = Math.min(100 * 2 ** failures, maxBackoffMs)
      log[failures < 3 ? 'info' : 'warn']({ failures, backoffMs, error }, 'store_failed')
      await withHeartbeats(sleep(backoffMs), session)
    }
  }
  return null
}

async function withHeartbeats<T>(work: Promise<T>, { heartbeat }: Session): Promise<T> {
  // Observed below; this keeps a rejection during a heartbeat from counting as unhandled.
  work.catch(() => {})
  for (;;) {
    const timer = new AbortController()
    const tick = sleep(heartbeatIntervalMs, 'tick' as const, { signal: timer.signal }).catch(() => 'tick' as const)
    try {
      const first = await Promise.race([work.then((value) => ({ value })), tick])
      if (first !== 'tick') return first.value
    } finally {
      timer.abort()
    }
    await heartbeat()
  }
}
