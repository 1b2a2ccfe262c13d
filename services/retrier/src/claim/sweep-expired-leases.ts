// Ends the leases of applications that claimed messages by SQL and never settled them, and finds RETRYING messages that
// nobody holds. Messages that a retrier claimed have no such lease: recover-slot.ts settles those.

import { releaseExpiredLeases, releaseUnheld } from 'dlq-core/queries/retry/expired-leases.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import type { RetrierMetrics } from '../retrier-metrics.ts'

const sweepLimit = 1000

/** One sweep of at most `sweepLimit` leases. */
export async function sweepExpiredLeases({
  sql,
  log,
}: {
  sql: Database
  log: Log
}): Promise<{ more: boolean; released: number }> {
  const released = await releaseExpiredLeases(sql, { limit: sweepLimit })
  if (released > 0) log.warn({ released }, 'expired_leases_released')
  return { more: released === sweepLimit, released }
}

/** How long a RETRYING message may be held by nobody: the lease that `dlq.claim_messages` gives unless told otherwise. */
const unheldLeaseMs = 5 * 60_000

/** One sweep of at most `sweepLimit` RETRYING messages that nobody holds: plain SQL has set them, or an error has left them. */
export async function sweepUnheld({
  sql,
  log,
  metrics,
}: {
  sql: Database
  log: Log
  metrics: Pick<RetrierMetrics, 'unheld'>
}): Promise<{ more: boolean; released: number }> {
  const messages = await releaseUnheld(sql, { afterMs: unheldLeaseMs, limit: sweepLimit })
  if (messages.length > 0) {
    const topics = [...new Set(messages.map((message) => message.original_topic))].slice(0, 10)
    log.warn({ released: messages.length, topics, firstId: messages[0]!.id }, 'unheld_messages_released')
    for (const { status } of messages) metrics.unheld.inc({ status })
  }
  return { more: messages.length === sweepLimit, released: messages.length }
}
