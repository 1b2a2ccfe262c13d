// Watches, from every retrier, whether its clock and the database's agree. Leases go by the database's clock, and the
// ages of what is archived and deleted by the retrier's: whichever of them is wrong must not decide what is deleted
// (infra/docs/decisions/091-clocks-that-are-set.md).

import type { Sql } from 'dlq-core/queries/sql.ts'
import { mendFutureTimes, readDatabaseClock } from 'dlq-core/queries/upkeep/clock.ts'
import { monotonicNow } from 'dlq-core/runtime/clock/monotonic-now.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import { Gauge, type Registry } from 'prom-client'
import type { CronJob } from './cron-job.ts'

/** Clocks that are kept right differ by milliseconds. */
const noticedMs = 30_000
/** Nothing is deleted beyond this. */
const trustedMs = 5 * 60_000
/** More than leases last and looks wait for, unless they are set to. */
const leastBeyondMs = 15 * 60_000

/** By how much the database's clock is ahead of ours, in milliseconds. Exact to half the time of its answer. */
async function measureClock(sql: Sql, now: () => number): Promise<number> {
  const asked = monotonicNow()
  const theirs = await readDatabaseClock(sql)
  return theirs - (now() - (monotonicNow() - asked) / 2)
}

export type ClockMetrics = ReturnType<typeof createClockMetrics>

export function createClockMetrics(registry: Registry) {
  return new Gauge({
    name: 'dlq_database_clock_ahead_seconds',
    help: 'By how much the clock of PostgreSQL is ahead of the clock of this process; below zero where it is behind.',
    registers: [registry],
  })
}

export type ClockWatchDeps = {
  sql: Database
  log: Log
  ahead: ClockMetrics
  /** Our clock, in milliseconds since 1970. */
  now: () => number
  leaseMs: number
  lookMs: number
}

/** The passes of one retrier: says when the clocks differ and when they agree again, and mends times of a clock that was ahead. */
export function createClockWatch({ sql, log, ahead, now, leaseMs, lookMs }: ClockWatchDeps) {
  const beyondMs = Math.max(leastBeyondMs, 2 * leaseMs, 2 * lookMs)
  let differed = false
  return async function pass(): Promise<{ more: false }> {
    const aheadMs = await measureClock(sql, now)
    ahead.set(aheadMs / 1000)
    const differs = Math.abs(aheadMs) > noticedMs
    if (differs !== differed) {
      const seconds = Math.round(aheadMs / 1000)
      if (differs) log.warn({ databaseAheadSeconds: seconds }, 'clocks_differ')
      else log.info({ databaseAheadSeconds: seconds }, 'clocks_agree')
    }
    differed = differs
    const mended = await mendFutureTimes(sql, { beyondMs, leaseMs })
    if (Object.keys(mended).length > 0) log.warn({ mended }, 'database_clock_went_back')
    return { more: false }
  }
}

/** The job, which fails instead of deleting anything while the clocks differ. */
export function onlyByAgreedClock(job: CronJob, { sql, now }: { sql: Sql; now: () => number }): CronJob {
  return {
    ...job,
    async run(context) {
      const aheadMs = await measureClock(sql, now)
      if (Math.abs(aheadMs) > trustedMs) {
        const seconds = Math.round(Math.abs(aheadMs) / 1000)
        throw new Error(
          `the clock of PostgreSQL is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} this retrier's, so nobody knows what is old enough: set the wrong one right`,
        )
      }
      return job.run(context)
    },
  }
}
