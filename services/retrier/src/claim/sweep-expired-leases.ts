// Ends the leases of applications that claimed messages by SQL and never settled them. Messages that a retrier claimed
// have no such lease: recover-slot.ts settles those.

import { releaseExpiredLeases } from 'dlq-core/queries/retry/expired-leases.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { Log } from 'dlq-core/runtime/log.ts'

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
