// Waits until a batch is stored, however long PostgreSQL is unavailable. Meanwhile it sends heartbeats to Kafka, because
// kafkajs sends them only when the handler asks.

import { setTimeout as sleep } from 'node:timers/promises'
import { createFaultNews, type Log } from 'dlq-core/runtime/log.ts'
import type { EachBatchPayload } from 'kafkajs'

const heartbeatIntervalMs = 1000
const maxBackoffMs = 5000

type Session = Pick<EachBatchPayload, 'heartbeat' | 'isRunning' | 'isStale'>

/** For the log: what is stored. */
type Place = { topic: string; partition: number }

/**
 * Runs `store` until it succeeds. Returns null where the consumer stops first.
 *
 * @throws the error of heartbeat() when the partition is revoked. A transaction that is still open then may commit
 *   later, which is harmless: its position moves with it.
 */
export async function untilStored<T>(
  store: () => Promise<T>,
  { topic, partition }: Place,
  session: Session,
  log: Log,
): Promise<T | null> {
  const isNews = createFaultNews()
  for (let failures = 0; session.isRunning() && !session.isStale(); ) {
    let storeFailed = false
    const storing = store().catch((error) => {
      storeFailed = true
      throw error
    })
    try {
      return await withHeartbeats(storing, session)
    } catch (error) {
      // kafkajs handles a fault of the heartbeat; only a fault of the store is waited out here.
      if (!storeFailed) throw error
      failures += 1
      const backoffMs = Math.min(100 * 2 ** failures, maxBackoffMs)
      const level = failures < 3 ? 'info' : 'warn'
      if (isNews(error)) log[level]({ topic, partition, failures, backoffMs, error }, 'store_failed')
      await withHeartbeats(sleep(backoffMs), session)
    }
  }
  return null
}

/** Plain timers, and no race: each second of many that wait would leave garbage that lives as long as `work`. */
async function withHeartbeats<T>(work: Promise<T>, { heartbeat }: Session): Promise<T> {
  let isOver = false
  let wake = () => {}
  const end = () => {
    isOver = true
    wake()
  }
  work.then(end, end)
  for (;;) {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, heartbeatIntervalMs)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    if (isOver) return work
    await heartbeat()
    if (isOver) return work
  }
}
