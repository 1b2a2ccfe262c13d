// Tells the retriers that messages are due: at once, and then at most once per interval, because every NOTIFY
// takes a lock that all notifying commits of PostgreSQL share. It is only a hint: the retriers poll as well.

import { notifyDue } from 'dlq-core/queries/retry/due-topics.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import { monotonicNow } from 'dlq-core/runtime/clock/monotonic-now.ts'

const intervalMs = 100

/** Returns the function that tells them. It never throws, and returns before the notification is sent. */
export function createWakeRetriers(sql: Sql): () => void {
  let quietUntil = 0
  let waiting: NodeJS.Timeout | null = null

  function send(): void {
    waiting = null
    quietUntil = monotonicNow() + intervalMs
    notifyDue(sql).catch(() => {})
  }

  return () => {
    if (waiting !== null) return
    const ms = quietUntil - monotonicNow()
    if (ms <= 0) send()
    else waiting = setTimeout(send, ms).unref()
  }
}
