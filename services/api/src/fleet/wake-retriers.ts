// Telling the retriers that something is due: at once, and then at most so often however many ask,
// because every NOTIFY takes a lock that all of PostgreSQL's notifying commits share. A hint only: the
// retriers poll as well.

import { notifyDue } from 'dlq-core/queries/message-retry.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'

/** Returns the function that tells them. It never throws, and nobody waits for it. */
export function createWakeRetriers(sql: Sql, { intervalMs = 100 } = {}): () => void {
  let quietUntil = 0
  let waiting: NodeJS.Timeout | null = null

  function send(): void {
    waiting = null
    quietUntil = Date.now() + intervalMs
    notifyDue(sql).catch(() => {})
  }

  return () => {
    if (waiting !== null) return
    const ms = quietUntil - Date.now()
    if (ms <= 0) send()
    else waiting = setTimeout(send, ms).unref()
  }
}
