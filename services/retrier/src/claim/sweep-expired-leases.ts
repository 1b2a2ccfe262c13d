// Gives back what a retrier held when it died.

import { releaseExpiredLeases } from 'dlq-core/queries/message-retry.ts'
import type { Database } from 'dlq-core/runtime/database.ts'
import type { Log } from 'dlq-core/runtime/log.ts'

const sweepLimit = 1000

/** One bounded sweep. */
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
