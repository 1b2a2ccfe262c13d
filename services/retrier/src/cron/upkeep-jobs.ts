// The cron jobs of the retrier, each a line. Another one is another entry, and a setting "cron.NAME".

import { deleteOldCronRuns } from 'dlq-core/queries/cron-runs.ts'
import { releaseExpiredLeases } from 'dlq-core/queries/message-retry.ts'
import { makePartitionsAhead } from 'dlq-core/queries/partitions.ts'
import { forgetDeadRetriers } from 'dlq-core/queries/retriers.ts'
import { listAbandonedSlots } from 'dlq-core/queries/slots.ts'
import { deleteFailedJobs } from 'dlq-core/queries/workers.ts'
import type { Config } from 'dlq-core/runtime/config-schema.ts'
import type { Database } from 'dlq-core/runtime/database.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import type { PolicySource } from 'dlq-core/runtime/policy-source.ts'
import { archiveSettled } from './archive-settled.ts'
import type { CronJob } from './cron-job.ts'
import { dropExpired } from './drop-expired.ts'
import { retryLocked } from './retry-locked.ts'

export type UpkeepDeps = {
  sql: Database
  log: Log
  policies: PolicySource
  schedules: Config['cron']
  archiveRetentionMs: number
}

export const monthsAhead = 3
const dayMs = 86_400_000
const runsKeptMs = 7 * dayMs
const failedJobsKeptMs = 7 * dayMs
const sweepLimit = 1000

export function upkeepJobs({ sql, log, policies, schedules, archiveRetentionMs }: UpkeepDeps): CronJob[] {
  return [
    {
      name: 'archive',
      schedule: schedules.archive,
      async run(context) {
        await policies.refresh()
        return archiveSettled({ sql, policyOf: (topics) => policies.policyFor(topics).policy }, context)
      },
    },
    {
      name: 'purge',
      schedule: schedules.purge,
      run: async (context) => ({
        ...(await dropExpired({ sql, archiveRetentionMs }, context)),
        cron_runs: await deleteOldCronRuns(sql, new Date(context.now.getTime() - runsKeptMs)),
        failed_jobs: await deleteFailedJobs(sql, new Date(context.now.getTime() - failedJobsKeptMs)),
      }),
    },
    {
      name: 'partitions',
      schedule: schedules.partitions,
      async run({ now, signal }) {
        const made = await retryLocked(() => makePartitionsAhead(sql, { months: monthsAhead, now }), signal)
        if (made === null) throw new Error('no partition could be made: somebody holds a lock on the table')
        return made
      },
    },
    {
      name: 'sweep',
      schedule: schedules.sweep,
      async run() {
        const abandoned = await listAbandonedSlots(sql)
        // The retriers recover them within seconds, unless none of them reaches Kafka.
        if (abandoned.length > 0) log.warn({ slots: abandoned }, 'slots_abandoned')
        return {
          abandoned_slots: abandoned.length,
          expired_leases: await releaseExpiredLeases(sql, { limit: sweepLimit }),
          retriers_forgotten: await forgetDeadRetriers(sql),
        }
      },
    },
  ]
}
