// The cron jobs of the retriers: their next ticks, their executions, and a request to run one now.

import { writeAudit } from 'dlq-core/queries/change/audit.ts'
import {
  type CronJobView,
  type CronRun,
  listCronJobs,
  listCronRuns,
  requestCronRun,
} from 'dlq-core/queries/upkeep/cron-runs.ts'
import * as v from 'valibot'
import { ApiError } from '../../http/api-error.ts'
import { defineRoute } from '../../http/define-route.ts'
import { reason, wholeNumber } from '../../request/request-schemas.ts'

const instant = v.pipe(v.string(), v.metadata({ format: 'date-time' }))

const runSchema = v.pipe(
  v.strictObject({
    tick: instant,
    requested_by: v.nullable(v.string()),
    retrier: v.nullable(v.string()),
    attempts: v.number(),
    started_at: v.nullable(instant),
    finished_at: v.nullable(instant),
    duration_ms: v.nullable(v.number()),
    outcome: v.nullable(v.picklist(['done', 'failed'])),
    result: v.nullable(v.record(v.string(), v.unknown())),
    error: v.nullable(v.string()),
  }),
  v.title('CronRun'),
)

const jobSchema = v.pipe(
  v.strictObject({
    name: v.string(),
    schedule: v.nullable(v.string()),
    next_tick: v.nullable(instant),
    last: v.nullable(runSchema),
    current: v.nullable(runSchema),
  }),
  v.title('CronJob'),
)

const exampleRun = {
  tick: '2026-03-01T03:00:00.000Z',
  requested_by: null,
  retrier: 'retrier-0-7-1f2e3d4c',
  attempts: 1,
  started_at: '2026-03-01T03:00:00.412Z',
  finished_at: '2026-03-01T03:02:11.733Z',
  duration_ms: 131_321,
  outcome: 'done' as const,
  result: { archived: 512_004 },
  error: null,
}
const exampleJob = {
  name: 'archive',
  schedule: '0 3 * * *',
  next_tick: '2026-03-02T03:00:00.000Z',
  last: exampleRun,
  current: null,
}

function runJson({ result, ...run }: CronRun) {
  return { ...run, result: result === null ? null : (JSON.parse(result) as Record<string, unknown>) }
}

function jobJson({ last, current, ...job }: CronJobView) {
  return { ...job, last: last && runJson(last), current: current && runJson(current) }
}

function noSuchJob(job: string): ApiError {
  return new ApiError('SYS_DLQ_NOT_FOUND', `cron job not found: ${job}`)
}

const jobPath = v.object({
  job: v.pipe(
    v.string(),
    v.regex(/^[a-z_-]{1,64}$/, (issue) => `invalid name of a cron job: ${issue.input}`),
  ),
})

export const cronRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/api/v1/cron',
      summary: 'The cron jobs, with their last outcome and next tick',
      description: 'Times are in UTC. A job whose `schedule` is null is off, and runs only when somebody asks.',
      role: 'read',
      masks: 'none',
      allTopics: true,
      answers: {
        200: {
          description: 'Every job, by name.',
          schema: v.strictObject({ jobs: v.array(jobSchema) }),
          example: { jobs: [exampleJob] },
        },
      },
    },
    async ({ c, sql }) => c.json({ jobs: (await listCronJobs(sql)).map(jobJson) }),
  ),

  defineRoute(
    {
      method: 'get',
      path: '/api/v1/cron/:job/runs',
      summary: 'The executions of a cron job, the newest first',
      description: 'Executions are kept for a week, and the last one for ever.',
      role: 'read',
      masks: 'none',
      allTopics: true,
      params: jobPath,
      query: v.strictObject({ limit: v.optional(wholeNumber('limit', { min: 1, max: 1000 }), '100') }),
      answers: {
        200: {
          description: 'The executions.',
          schema: v.strictObject({ runs: v.array(runSchema) }),
          example: { runs: [exampleRun] },
        },
      },
      faults: ['SYS_DLQ_NOT_FOUND'],
    },
    async ({ c, sql, params: { job }, query: { limit } }) => {
      const runs = await listCronRuns(sql, { job, limit })
      if (runs.length === 0 && !(await listCronJobs(sql)).some(({ name }) => name === job)) throw noSuchJob(job)
      return c.json({ runs: runs.map(runJson) })
    },
  ),

  defineRoute(
    {
      method: 'post',
      path: '/api/v1/cron/:job/run',
      summary: 'Run a cron job now',
      description: [
        'A retrier runs it, after any execution of the same job that is under way. Its outcome has its `tick`',
        'in `GET /api/v1/cron/:job/runs`.',
      ].join(' '),
      role: 'write',
      masks: 'none',
      allTopics: true,
      params: jobPath,
      body: v.optional(v.strictObject({ reason }), {}),
      bodyExample: { reason: 'the disk is full' },
      answers: {
        202: {
          description: 'A retrier will run it.',
          schema: v.strictObject({ job: v.string(), tick: instant, message: v.string() }),
          example: { job: 'archive', tick: '2026-03-01T14:12:01.523Z', message: 'cron job requested' },
        },
      },
      faults: ['SYS_DLQ_NOT_FOUND'],
    },
    async ({ c, sql, params: { job }, body, by }) => {
      const tick = await sql.begin(async (sql) => {
        const tick = await requestCronRun(sql, { job, actor: by.actor, now: new Date() })
        if (tick === null) throw noSuchJob(job)
        const target = { target_type: 'cron', target_id: job }
        await writeAudit(sql, { ...by, action: 'cron.run', ...target, reason: body.reason, after: { tick } })
        return tick
      })
      return c.json({ job, tick, message: 'cron job requested' }, 202)
    },
  ),
]
