// Drops expired partitions: quarters of the archive that are older than its retention, and empty months of the messages.
// Deleting their rows would take hours, and vacuum as long.

import {
  deleteNamedOfQuarter,
  dropArchivedQuarter,
  oldestArchivedQuarter,
} from 'dlq-core/queries/upkeep/archived-quarters.ts'
import { dropEmptyMonth, listOldMonths, vacuumMonth } from 'dlq-core/queries/upkeep/partitions.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { CronContext } from './cron-job.ts'
import { retryLocked } from './retry-locked.ts'

export type DropDeps = { sql: Database; archiveRetentionMs: number }

export type Dropped = { quarters: string[]; months: string[] }

/** A late record would create its month again. */
const emptyMonthKeptMs = 90 * 86_400_000
const batchSize = 1000

/** @throws where readers held the lock each time; the job's next try continues */
export async function dropExpired({ sql, archiveRetentionMs }: DropDeps, context: CronContext): Promise<Dropped> {
  const { now, signal } = context
  const before = new Date(now.getTime() - archiveRetentionMs)
  const dropped: Dropped = { quarters: [], months: [] }
  for (;;) {
    const quarter = await oldestArchivedQuarter(sql, before)
    if (quarter === null) break
    await deleteNamedOfQuarter(sql, { quarter, batchSize, signal })
    // Its own end is the bound, so that this never drops the next quarter where somebody else has dropped this one.
    const drop = await retryLocked(async () => ({ name: await dropArchivedQuarter(sql, quarter.until) }), signal)
    if (drop === null)
      throw new Error('an expired quarter of the archive cannot be dropped: readers lock it all the time')
    if (drop.name !== null) dropped.quarters.push(drop.name)
  }
  for (const { name, is_empty, is_vacuumed } of await listOldMonths(sql, new Date(now.getTime() - emptyMonthKeptMs))) {
    if (!is_empty) continue
    if (!is_vacuumed) await vacuumMonth(sql, name)
    if (await retryLocked(() => dropEmptyMonth(sql, name), signal)) dropped.months.push(name)
  }
  return dropped
}
