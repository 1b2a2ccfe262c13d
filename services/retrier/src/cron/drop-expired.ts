// Drops what has expired: quarters of the archive that are older than its retention, and months of the messages in which
// nothing is left. Deleting their rows would take hours, and vacuum as long.

import { dropArchivedQuarter, dropEmptyMonth, listOldMonths, vacuumMonth } from 'dlq-core/queries/partitions.ts'
import type { Database } from 'dlq-core/runtime/database.ts'
import type { CronContext } from './cron-job.ts'
import { retryLocked } from './retry-locked.ts'

export type DropDeps = { sql: Database; archiveRetentionMs: number }

export type Dropped = { quarters: string[]; months: string[] }

/** Records come late, and each then makes its month anew. */
const emptyMonthKeptMs = 90 * 86_400_000

/** @throws where a reader kept the lock from it in every try; the next attempt goes on */
export async function dropExpired({ sql, archiveRetentionMs }: DropDeps, context: CronContext): Promise<Dropped> {
  const { now, signal } = context
  const before = new Date(now.getTime() - archiveRetentionMs)
  const dropped: Dropped = { quarters: [], months: [] }
  for (;;) {
    const quarter = await retryLocked(async () => ({ name: await dropArchivedQuarter(sql, before) }), signal)
    if (quarter === null) throw new Error('the expired quarter of the archive is being read without a pause')
    if (quarter.name === null) break
    dropped.quarters.push(quarter.name)
  }
  for (const { name, is_empty, is_vacuumed } of await listOldMonths(sql, new Date(now.getTime() - emptyMonthKeptMs))) {
    if (!is_empty) continue
    if (!is_vacuumed) await vacuumMonth(sql, name)
    if (await retryLocked(() => dropEmptyMonth(sql, name), signal)) dropped.months.push(name)
  }
  return dropped
}
