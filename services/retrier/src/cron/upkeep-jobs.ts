// The scheduled jobs of the retrier. A new job is one more entry here, and a setting "cron.NAME".

import { smallestId } from 'dlq-core/domain/record/message-id.ts'
import { deleteOldAudit } from 'dlq-core/queries/change/audit.ts'
import { deleteOldIdempotencyKeys, idempotencyKeyDays } from 'dlq-core/queries/change/idempotency-keys.ts'
import { deleteOldReads } from 'dlq-core/queries/change/reads.ts'
import { forgetEmptyGroups } from 'dlq-core/queries/groups/empty-groups.ts'
import { sweepFrames } from 'dlq-core/queries/ingest/stack-frames.ts'
import { foldSummary, getSummaryState, reconcileSummary } from 'dlq-core/queries/reading/summary.ts'
import { releaseExpiredLeases } from 'dlq-core/queries/retry/expired-leases.ts'
import { deleteRunBuckets } from 'dlq-core/queries/retry/rate-limits.ts'
import { forgetDeadRetriers } from 'dlq-core/queries/retry/retriers.ts'
import { listAbandonedSlots } from 'dlq-core/queries/retry/slots.ts'
import { deleteOldRuns } from 'dlq-core/queries/runs/runs.ts'
import { deleteOldCronRuns } from 'dlq-core/queries/upkeep/cron-runs.ts'
import { makePartitionsAhead } from 'dlq-core/queries/upkeep/partitions.ts'
import { deleteFailedJobs } from 'dlq-core/queries/upkeep/workers.ts'
import type { Config } from 'dlq-core/runtime/config/config-schema.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import type { PolicySource } from 'dlq-core/runtime/policy-source.ts'
import type { PayloadReader } from 'dlq-core/runtime/schemas/payload-reader.ts'
import { deleteEndedSagas } from 'saga-core/store/saga-store.ts'
import { createQuietGroupsPass } from '../groups/resolve-quiet-groups.ts'
import { decodeWaiting } from '../schemas/decode-waiting.ts'
import { applyRoutes } from './apply-routes.ts'
import { archiveSettled } from './archive-settled.ts'
import type { CronJob } from './cron-job.ts'
import { dropExpired } from './drop-expired.ts'
import { fillPayloads } from './fill-payloads.ts'
import { foldEndedRuns } from './fold-ended-runs.ts'
import { retryLocked } from './retry-locked.ts'
import { onlyByAgreedClock } from './watch-clock.ts'

export type UpkeepDeps = {
  sql: Database
  log: Log
  policies: PolicySource
  /** Null where only JSON is read. */
  payloads: PayloadReader | null
  dlqPatterns: readonly string[]
  schedules: Config['cron']
  retentions: Config['archive']
  /** Our clock, in milliseconds since 1970. */
  now: () => number
  databaseNow: () => Date
}

export const monthsAhead = 3
const dayMs = 86_400_000
const runsKeptMs = 7 * dayMs
const failedJobsKeptMs = 7 * dayMs
const sweepLimit = 1000
const deleteLimit = 5000
const foldLimit = 10_000
const groupsLookedAt = 1000

/** Deletes piece by piece, each in a separate transaction. Returns how many rows. */
async function untilNone(signal: AbortSignal, remove: () => Promise<number>): Promise<number> {
  for (let total = 0; ; ) {
    signal.throwIfAborted()
    const removed = await remove()
    total += removed
    if (removed === 0) return total
  }
}

/** After the archive's old quarters are gone: groups without any message left forget their texts. Returns how many. */
async function forgetGroups(sql: Database, signal: AbortSignal): Promise<number> {
  let total = 0
  for (let after: string | null = smallestId; after !== null; ) {
    signal.throwIfAborted()
    const from: string = after
    const { forgotten, examinedTo } = await sql.begin((sql) =>
      forgetEmptyGroups(sql, { after: from, limit: groupsLookedAt }),
    )
    total += forgotten
    after = examinedTo
  }
  return total
}

function decodeJob({
  sql,
  policies,
  reader,
  schedule,
}: Pick<UpkeepDeps, 'sql' | 'policies'> & { reader: PayloadReader; schedule: string }): CronJob {
  return {
    name: 'decode',
    schedule,
    async run({ signal }) {
      await policies.refresh()
      return decodeWaiting({ sql, reader, policyOf: policies.policyOf }, signal)
    },
  }
}

export function upkeepJobs(deps: UpkeepDeps): CronJob[] {
  const { sql, log, policies, payloads, dlqPatterns, schedules, retentions } = deps
  const byAgreedClock = (job: CronJob) => onlyByAgreedClock(job, deps)
  const resolveQuietGroups = createQuietGroupsPass({ sql, policies })
  return [
    byAgreedClock({
      name: 'archive',
      schedule: schedules.archive,
      async run(context) {
        await policies.refresh()
        return archiveSettled({ sql, policyOf: policies.policyOf }, context)
      },
    }),
    byAgreedClock({
      name: 'purge',
      schedule: schedules.purge,
      async run(context) {
        const ago = (ms: number) => new Date(context.now.getTime() - ms)
        const inPieces = (before: Date, remove: typeof deleteOldAudit) =>
          untilNone(context.signal, () => remove(sql, { before, limit: deleteLimit }))
        return {
          ...(await dropExpired({ sql, archiveRetentionMs: retentions.retention }, context)),
          groups_forgotten: await forgetGroups(sql, context.signal),
          stack_frames_swept: await sql.begin((sql) => sweepFrames(sql)),
          audit: await inPieces(ago(retentions.audit_retention), deleteOldAudit),
          reads: await inPieces(ago(retentions.audit_retention), deleteOldReads),
          idempotency_keys: await inPieces(ago(idempotencyKeyDays * dayMs), deleteOldIdempotencyKeys),
          runs: await inPieces(ago(retentions.audit_retention), deleteOldRuns),
          runs_folded: await foldEndedRuns(sql, context.signal),
          run_rates: await untilNone(context.signal, () => deleteRunBuckets(sql, { limit: deleteLimit })),
          sagas: await inPieces(ago(retentions.audit_retention), deleteEndedSagas),
          cron_runs: await deleteOldCronRuns(sql, ago(runsKeptMs)),
          failed_jobs: await deleteFailedJobs(sql, ago(failedJobsKeptMs)),
        }
      },
    }),
    {
      name: 'partitions',
      schedule: schedules.partitions,
      async run({ now, signal }) {
        const made = await retryLocked(() => makePartitionsAhead(sql, { months: monthsAhead, now }), signal)
        if (made === null) throw new Error('no partition could be created: another session holds a lock on the table')
        return made
      },
    },
    {
      name: 'fold',
      schedule: schedules.fold,
      async run({ signal }) {
        // No count is right until the rows from before the summary existed have been counted.
        if ((await getSummaryState(sql)).counted_at === null) await sql.begin((sql) => reconcileSummary(sql))
        return { folded: await untilNone(signal, async () => (await foldSummary(sql, { limit: foldLimit })) ?? 0) }
      },
    },
    {
      name: 'payloads',
      schedule: schedules.payloads,
      async run({ signal }) {
        await policies.refresh()
        return { stored: await fillPayloads({ sql, reader: payloads, policyOf: policies.policyOf }, signal) }
      },
    },
    {
      name: 'reconcile',
      schedule: schedules.reconcile,
      async run() {
        const drift = await sql.begin((sql) => reconcileSummary(sql))
        if (drift === null) throw new Error('another retrier is counting already')
        if (drift > 0) log.error({ drift }, 'summary_was_wrong')
        return { drift }
      },
    },
    {
      name: 'sweep',
      schedule: schedules.sweep,
      async run({ signal }) {
        const abandoned = await listAbandonedSlots(sql)
        // Retriers recover abandoned slots within seconds, unless none of them reaches Kafka.
        if (abandoned.length > 0) log.warn({ slots: abandoned }, 'slots_abandoned')
        return {
          abandoned_slots: abandoned.length,
          expired_leases: await releaseExpiredLeases(sql, { limit: sweepLimit }),
          retriers_forgotten: await forgetDeadRetriers(sql),
          routes_applied: await applyRoutes({ sql, policies, dlqPatterns, databaseNow: deps.databaseNow }, signal),
          groups_resolved: await resolveQuietGroups(signal),
        }
      },
    },
    ...(payloads === null ? [] : [decodeJob({ sql, policies, reader: payloads, schedule: schedules.decode })]),
  ]
}
