// Hosts graphile-worker, in sessions. A session ends when graphile-worker gives up (it does when it cannot write the end
// of a job), when a heartbeat came too late, or when the clock was set. The next session has new connections and a new id. So a job runs at
// least once, and after a freeze of this process even twice at the same time: its transactions must check rows of
// their own.

import { EventEmitter, once } from 'node:events'
import { forgetWorker, releaseDeadWorkers, workerSchemaMissing } from 'dlq-core/queries/upkeep/workers.ts'
import type { Config, DatabaseConfig } from 'dlq-core/runtime/config/config-schema.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { DatabaseLogin } from 'dlq-core/runtime/database/database-login.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import { runLoop } from 'dlq-core/runtime/run-loop.ts'
import { Logger, type ParsedCronItem, type Runner, run, type TaskList, type WorkerEvents } from 'graphile-worker'
import { hasJobQueue } from 'saga-core/store/saga-jobs.ts'
import { withTimeout } from '../with-timeout.ts'
import { clockSet } from './clock-set.ts'
import { createHeartbeat, type Heartbeat } from './heartbeat.ts'
import { gaugeJobs, observeJobs, type WorkerMetrics } from './worker-metrics.ts'
import { openWorkerPool } from './worker-pool.ts'

export type WorkerDeps = {
  sql: Database
  database: DatabaseConfig
  login: DatabaseLogin
  settings: Config['worker']
  /** Names this process in dlq_workers. */
  retrierId: string
  tasks: TaskList
  /** Asked for each session: they say which missed tick is made up for. */
  cronItems: () => ParsedCronItem[]
  metrics: WorkerMetrics
  log: Log
  signal: AbortSignal
}

const pollMs = 1000
const gaugeIntervalMs = 10_000
/** Applies after a fault; when the service stops, its own time limit applies. */
const windUpMs = 5000

/** Runs jobs until the signal aborts and the running jobs have ended. */
export async function runWorker(deps: WorkerDeps): Promise<void> {
  const { settings, signal, log, metrics } = deps
  // As count-from-zero.ts says.
  for (const task of Object.keys(deps.tasks))
    for (const outcome of ['done', 'failed']) metrics.jobs.inc({ task, outcome }, 0)
  await Promise.all([
    runLoop(() => workSession(deps), { name: 'worker', intervalMs: pollMs, signal, log }),
    runLoop(() => sweepDeadWorkers(deps), { name: 'sweep-workers', intervalMs: settings.lease / 3, signal, log }),
    runLoop(() => gaugeJobs(deps), { name: 'gauge-jobs', intervalMs: gaugeIntervalMs, signal, log }),
  ])
}

/** Gives back the jobs of workers that died. */
async function sweepDeadWorkers({
  sql,
  settings,
  metrics,
  log,
}: Pick<WorkerDeps, 'sql' | 'settings' | 'metrics' | 'log'>): Promise<{ more: false; released: number }> {
  const jobs = await releaseDeadWorkers(sql, { leaseMs: settings.lease })
  metrics.released.inc(jobs.length)
  for (const { id, task, is_spent } of jobs)
    log[is_spent ? 'error' : 'warn']({ job: String(id), task }, is_spent ? 'job_failed_for_good' : 'job_released')
  return { more: false, released: jobs.length }
}

/** Runs jobs until the signal aborts, or until a new session is necessary. */
async function workSession(deps: WorkerDeps): Promise<{ more: false }> {
  const { sql, login, settings, retrierId, metrics, log, signal } = deps
  if (!(await hasJobQueue(sql))) throw new Error(workerSchemaMissing)
  const heartbeat = createHeartbeat({ sql, retrierId, leaseMs: settings.lease, now: () => performance.now(), log })
  await using stack = new AsyncDisposableStack()
  const pool = stack.adopt(await openWorkerPool(deps), (pool) => bounded(pool.end(), windUpMs))
  const events = new EventEmitter() as WorkerEvents
  observeJobs(events, { metrics, log })
  const created = once(events, 'pool:create')
  const released = once(events, 'pool:release')
  // graphile-worker emits this when it begins to give up. It may never finish: the end of a job cannot be written.
  const givesUp = once(events, 'pool:gracefulShutdown').then(() => 'gave up')
  const newClock = clockSet(events)
  const runner = await run(optionsOf(deps, { pool, events, heartbeat }))
  const [{ workerPool }] = await created
  const { id } = workerPool
  stack.defer(() => bounded(forgetWorker(sql, id), windUpMs))
  log.info({ worker: id, tasks: Object.keys(deps.tasks) }, 'worker_started')

  const session = new AbortController()
  stack.defer(() => session.abort())
  const either = AbortSignal.any([signal, session.signal])
  const newLogin = new Promise<string>((resolve) => stack.defer(login.onChange(() => resolve('another login'))))
  const reason = await Promise.race([heartbeat.run(id, either), endOf(runner), givesUp, newLogin, newClock])
  // Does not await stop(): it also waits for cron, which may sleep for a minute before its next try.
  runner.stop().catch((error) => log.debug({ error, worker: id }, 'worker_stop_failed'))
  await bounded(released, signal.aborted ? Number.POSITIVE_INFINITY : windUpMs)
  log[signal.aborted ? 'info' : 'warn']({ worker: id, reason }, 'worker_stopped')
  return { more: false }
}

type Session = { pool: Awaited<ReturnType<typeof openWorkerPool>>; events: WorkerEvents; heartbeat: Heartbeat }

function optionsOf({ tasks, cronItems, database, settings, log }: WorkerDeps, { pool, events, heartbeat }: Session) {
  return {
    ...{ pgPool: pool, events, taskList: tasks, parsedCronItems: cronItems() },
    concurrency: settings.concurrency,
    pollInterval: pollMs,
    noHandleSignals: true,
    // Jobs stop at their next step when the service does.
    gracefulShutdownAbortTimeout: 0,
    // Called before each look for a job; an error here counts as a failed look.
    forbiddenFlags: () => {
      heartbeat.requireFresh()
      return null
    },
    // Without a delay graphile-worker does not wait until a job's end is written, and a failure becomes an unhandled
    // rejection. With a delay, even of 0, a failure ends the session.
    preset: { worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0, preparedStatements: database.prepare } },
    logger: toLogger(log),
  }
}

async function endOf(runner: Runner): Promise<string> {
  return runner.promise.then(
    () => 'ended',
    (error: Error) => error.message,
  )
}

/** Waits for the work's end, or for the time limit. Never throws, because no caller could handle the error. */
async function bounded(work: Promise<unknown>, ms: number): Promise<void> {
  const end = work.then(
    () => {},
    () => {},
  )
  await (Number.isFinite(ms) ? withTimeout(end, ms).catch(() => {}) : end)
}

/** graphile-worker's own log. Only its faults matter: observeJobs counts and logs each job's end. */
function toLogger(log: Log): Logger {
  return new Logger(() => (level, message) => {
    log[level === 'error' || level === 'warning' ? 'info' : 'trace']({ message }, 'graphile_worker')
  })
}
