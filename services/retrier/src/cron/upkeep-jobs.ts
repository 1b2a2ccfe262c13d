// The cron jobs of the retrier, each a line. Another one is another entry, and a setting "cron.NAME".

import { deleteOldAudit, deleteOldIdempotencyKeys } from 'dlq-core/queries/audit.ts'
import { deleteOldCronRuns } from 'dlq-core/queries/cron-runs.ts'
import { releaseExpiredLeases } from 'dlq-core/queries/message-retry.ts'
import { makePartitionsAhead } from 'dlq-core/queries/partitions.ts'
import { forgetDeadRetriers } from 'dlq-core/queries/retriers.ts'
import { deleteOldRuns } from 'dlq-core/queries/runs.ts'
import { listAbandonedSlots } from 'dlq-core/queries/slots.ts'
import { foldSummary, getSummaryState, reconcileSummary } from 'dlq-core/queries/summary.ts'
import { deleteFailedJobs } from 'dlq-core/queries/workers.ts'
import type { Config } from 'dlq-core/runtime/config-schema.ts'
import type { Database } from 'dlq-core/runtime/database.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import type { PolicySource } from 'dlq-core/runtime/policy-source.ts'
import { deleteEndedSagas } from 'saga-core/saga-store.ts'
import { archiveSettled } from './archive-settled.ts'
import type { CronJob } from './cron-job.ts'
import { dropExpired } from './drop-expired.ts'
import { retryLocked } from './retry-locked.ts'

export type UpkeepDeps = {
  sql: Database
  log: Log
  policies: PolicySource
  schedules: Config['cron']
  retentions: Config['archive']
}

export const monthsAhead = 3
const dayMs = 86_400_000
const runsKeptMs = 7 * dayMs
const failedJobsKeptMs = 7 * dayMs
const sweepLimit = 1000
/** A report is repeated after a time-out, not after a week. */
const idempotencyKeysKeptMs = 7 * dayMs
const deleteLimit = 5000
const foldLimit = 10_000

/** How many were deleted, piece by piece, each its own transaction. */
async function untilNone(signal: AbortSignal, remove: () => Promise<number>): Promise<number> {
  for (let total = 0; ; ) {
    signal.throwIfAborted()
    const removed = await remove()
    total += removed
    if (removed === 0) return total
  }
}

export function upkeepJobs({ sql, log, policies, schedules, retentions }: UpkeepDeps): CronJob[] {
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
      async run(context) {
        const ago = (ms: number) => new Date(context.now.getTime() - ms)
        const inPieces = (before: Date, remove: typeof deleteOldAudit) =>
          untilNone(context.signal, () => remove(sql, { before, limit: deleteLimit }))
        return {
          ...(await dropExpired({ sql, archiveRetentionMs: retentions.retention }, context)),
          audit: await inPieces(ago(retentions.audit_retention), deleteOldAudit),
          idempotency_keys: await inPieces(ago(idempotencyKeysKeptMs), deleteOldIdempotencyKeys),
          runs: await inPieces(ago(retentions.audit_retention), deleteOldRuns),
          sagas: await inPieces(ago(retentions.audit_retention), deleteEndedSagas),
          cron_runs: await deleteOldCronRuns(sql, ago(runsKeptMs)),
          failed_jobs: await deleteFailedJobs(sql, ago(failedJobsKeptMs)),
        }
      },
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
      name: 'fold',
      schedule: schedules.fold,
      async run({ signal }) {
        // Rows from before there were counts: until they have been counted, no count is right.
        if ((await getSummaryState(sql)).counted_at === null) await sql.begin((sql) => reconcileSummary(sql))
        return { folded: await untilNone(signal, async () => (await foldSummary(sql, { limit: foldLimit })) ?? 0) }
      },
    },
    {
      name: 'reconcile',
      schedule: schedules.reconcile,
      async run() {
        const drift = await sql.begin((sql) => reconcileSummary(sql))
        if (drift === null) throw new Error('somebody else is counting')
        if (drift > 0) log.error({ drift }, 'summary_was_wrong')
        return { drift }
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
