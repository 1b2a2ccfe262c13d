// Scheduled jobs as tasks of graphile-worker. dlq_cron_runs has one row per tick, with its result. graphile-worker hands
// a tick out twice where a retrier died between the work and the end of its job; by the row it runs once.

import { beginCronRun, cronTask, failCronRun, finishCronRun } from 'dlq-core/queries/upkeep/cron-runs.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import type { JobHelpers, TaskList } from 'graphile-worker'
import type { CronJob } from './cron-job.ts'

export type CronTaskDeps = { sql: Database; log: Log; retrierId: string }

type CronPayload = { tick?: string; _cron?: { ts: string } }

/** A task for each job. */
export function cronTasks(jobs: readonly CronJob[], deps: CronTaskDeps): TaskList {
  const entries = jobs.map((job): [string, TaskList[string]] => [
    cronTask(job.name),
    async (payload, helpers) => {
      const { tick, _cron } = payload as CronPayload
      await runCronJob(job, { ...deps, tick: new Date(tick ?? _cron!.ts), helpers })
    },
  ])
  return Object.fromEntries(entries)
}

type Run = CronTaskDeps & { tick: Date; helpers: Pick<JobHelpers, 'job' | 'abortSignal'> }

/** @throws where it failed and has another try. The last failure is only recorded: a failed job would stay in the queue. */
async function runCronJob(job: CronJob, { sql, log, retrierId, tick, helpers }: Run): Promise<void> {
  const key = { job: job.name, tick }
  if ((await beginCronRun(sql, { ...key, retrier: retrierId })) === null) return
  const startedAt = performance.now()
  try {
    const result = await job.run({ now: new Date(), signal: helpers.abortSignal })
    await finishCronRun(sql, { ...key, result })
    log.info({ ...key, result, ms: Math.round(performance.now() - startedAt) }, 'cron_job_done')
  } catch (error) {
    const isLast = helpers.job.attempts >= helpers.job.max_attempts
    await failCronRun(sql, { ...key, error: (error as Error).message, isLast })
    if (!isLast) throw error
    log.error({ ...key, error }, 'cron_job_failed')
  }
}
