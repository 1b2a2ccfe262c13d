// Watches, from every retrier, whether the scheduled jobs run. If none ran at all, no job could report it.

import { endLostCronRuns, lastCronSuccesses, writeCronJobs } from 'dlq-core/queries/upkeep/cron-runs.ts'
import { makePartitionsAhead, readPartitionLead } from 'dlq-core/queries/upkeep/partitions.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import { Gauge, type Registry } from 'prom-client'
import { type CronJob, lastTick, nextTick } from './cron-job.ts'
import { monthsAhead } from './upkeep-jobs.ts'

export type UpkeepMetrics = ReturnType<typeof createUpkeepMetrics>

export function createUpkeepMetrics(registry: Registry) {
  const registers = [registry]
  return {
    lead: new Gauge({
      name: 'dlq_partition_lead_months',
      help: 'Months after this one for which the table has partitions; there should be three.',
      labelNames: ['table'],
      registers,
    }),
    // Not "job": Prometheus gives every series a label of that name.
    interval: new Gauge({
      name: 'dlq_cron_interval_seconds',
      help: 'The time between two ticks of the cron job, the longer one of the last and the present one; missing where it is off.',
      labelNames: ['cron'],
      registers,
    }),
    lastSuccess: new Gauge({
      name: 'dlq_cron_last_success_timestamp_seconds',
      help: 'When any retrier last executed the cron job successfully; where none has yet, its first tick.',
      labelNames: ['cron'],
      registers,
    }),
  }
}

export type WatchDeps = {
  sql: Database
  log: Log
  metrics: UpkeepMetrics
  jobs: readonly CronJob[]
  now: () => Date
}

/** Two, because at a tick after a weekend it is the one before that says how old the last success may be. */
function intervalMs(job: CronJob, next: Date): number | null {
  const last = lastTick(job, next)
  const before = last && lastTick(job, last)
  if (last === null || before === null) return null
  return Math.max(next.getTime() - last.getTime(), last.getTime() - before.getTime())
}

/** The passes of one retrier: writes the timetable, sets the gauges, and logs missing partitions. The first creates partitions. */
export function createUpkeepWatch({ sql, log, metrics, jobs, now }: WatchDeps) {
  const next = new Map<string, Date | null>()
  let isFirst = true

  function nextOf(job: CronJob, at: Date): Date | null {
    const known = next.get(job.name)
    if (known !== undefined && (known === null || known > at)) return known
    const tick = nextTick(job, at)
    next.set(job.name, tick)
    const interval = tick && intervalMs(job, tick)
    if (interval !== null) metrics.interval.set({ cron: job.name }, interval / 1000)
    return tick
  }

  return async function pass(): Promise<{ more: false }> {
    const at = now()
    const rows = jobs.map((job) => ({
      name: job.name,
      schedule: job.schedule === 'off' ? null : job.schedule,
      next_tick: nextOf(job, at),
    }))
    await writeCronJobs(sql, rows)
    // After months of standstill, ingestion need not wait for the scheduled job.
    if (isFirst) await makePartitionsAhead(sql, { months: monthsAhead, now: at })
    isFirst = false
    const lead = await readPartitionLead(sql, at)
    for (const [table, months] of Object.entries(lead)) {
      metrics.lead.set({ table }, months)
      if (months < 1) log.error({ table, months }, 'partitions_run_out')
    }
    for (const lost of await endLostCronRuns(sql)) log.error(lost, 'cron_job_failed')
    for (const { job, at } of await lastCronSuccesses(sql)) metrics.lastSuccess.set({ cron: job }, at)
    return { more: false }
  }
}
