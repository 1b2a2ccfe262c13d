// Metrics and log lines of graphile-worker's jobs.

import { countJobs } from 'dlq-core/queries/upkeep/workers.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import type { WorkerEvents } from 'graphile-worker'
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

export type WorkerMetrics = ReturnType<typeof createWorkerMetrics>

export function createWorkerMetrics(registry: Registry) {
  const registers = [registry]
  return {
    jobs: new Counter({
      name: 'dlq_jobs_total',
      help: 'Jobs that this retrier has performed, by outcome; a job that failed gets another try.',
      labelNames: ['task', 'outcome'],
      registers,
    }),
    jobSeconds: new Histogram({
      name: 'dlq_job_seconds',
      help: 'Time to perform a job.',
      labelNames: ['task'],
      buckets: [0.01, 0.05, 0.25, 1, 5, 30, 120, 600, 3600],
      registers,
    }),
    queued: new Gauge({
      name: 'dlq_jobs',
      help: 'Jobs in the database: waiting (due), running, scheduled (due later), failed (no try is left).',
      labelNames: ['state'],
      registers,
    }),
    released: new Counter({
      name: 'dlq_jobs_released_total',
      help: 'Jobs that were given back because their retrier died.',
      registers,
    }),
  }
}

/** Counts and logs the events of each job. */
export function observeJobs(events: WorkerEvents, { metrics, log }: { metrics: WorkerMetrics; log: Log }): void {
  const startedAt = new Map<string, number>()
  events.on('job:start', ({ job }) => startedAt.set(job.id, performance.now()))
  events.on('job:error', ({ job, error }) => {
    const { id, task_identifier: task, attempts, max_attempts } = job
    const isLast = attempts >= max_attempts
    log[isLast ? 'error' : 'warn']({ job: id, task, attempts, error }, isLast ? 'job_failed_for_good' : 'job_failed')
  })
  events.on('job:complete', ({ job, error }) => {
    const { id, task_identifier: task } = job
    metrics.jobs.inc({ task, outcome: error ? 'failed' : 'done' })
    metrics.jobSeconds.observe({ task }, (performance.now() - (startedAt.get(id) ?? performance.now())) / 1000)
    startedAt.delete(id)
  })
}

/** Reads the queue once and sets the gauges. */
export async function gaugeJobs({ sql, metrics }: { sql: Database; metrics: WorkerMetrics }): Promise<{ more: false }> {
  for (const [state, count] of Object.entries(await countJobs(sql))) metrics.queued.set({ state }, count)
  return { more: false }
}
