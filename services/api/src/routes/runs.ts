// Bulk runs: one operation on a frozen selection of dead letters, which the retriers carry out.

import { setTimeout as sleep } from 'node:timers/promises'
import {
  beyondScope,
  isSent,
  type RunKind,
  type RunSelection,
  runKinds,
  runStatuses,
} from 'dlq-core/domain/message/run.ts'
import { listRunItems, runOutcomes } from 'dlq-core/queries/runs/run-items.ts'
import { changeRate, listRuns } from 'dlq-core/queries/runs/runs.ts'
import { type SSEStreamingApi, streamSSE } from 'hono/streaming'
import * as v from 'valibot'
import { actAs, roleNames } from '../access/access.ts'
import { refuseTarget } from '../fleet/refuse-target.ts'
import { refuseWithoutKafka } from '../fleet/refuse-without-kafka.ts'
import { ApiError } from '../http/api-error.ts'
import { type Call, defineRoute } from '../http/define-route.ts'
import { idOf, pageQuery, reason, wholeNumber } from '../request/request-schemas.ts'
import { auditRun } from '../runs/audit-run.ts'
import { changeRun, type RunChange } from '../runs/change-run.ts'
import { createRun } from '../runs/create-run.ts'
import { findRun } from '../runs/find-run.ts'
import { previewPatch } from '../runs/preview-patch.ts'
import { exampleRun, runJson, runSchema } from '../runs/run-json.ts'
import { rateSchema, runBody } from '../runs/run-request.ts'
import { surveySelection, toSelection } from '../runs/run-selection.ts'

const runPath = v.object({ id: idOf('run') })
const count = v.pipe(v.number(), v.integer())
const counts = v.record(v.string(), count)

const surveySchema = v.pipe(
  v.strictObject({
    dry_run: v.literal(true),
    complete: v.boolean(),
    eligible: count,
    ineligible: counts,
    topics: counts,
    groups: counts,
    ages: counts,
    sample: v.array(v.string()),
    diff: v.exactOptional(
      v.pipe(
        v.array(
          v.strictObject({
            id: v.string(),
            before: v.unknown(),
            after: v.unknown(),
            problem: v.nullable(v.picklist(['no_json', 'patch_does_not_fit', 'unchanged'])),
          }),
        ),
        v.description('For runs of kind edit: sample messages before and after the edit.'),
      ),
    ),
  }),
  v.title('RunSurvey'),
)

const oneRun = { 200: { description: 'The run as it is now.', schema: runSchema, example: exampleRun } }
const changeFaults = ['SYS_DLQ_NOT_FOUND', 'SYS_DLQ_CONFLICT'] as const

function changeRoute(change: RunChange, { summary, description }: { summary: string; description: string }) {
  return defineRoute(
    {
      ...{ method: 'post', path: `/api/v1/runs/:id/${change}`, summary, description, role: 'write', params: runPath },
      body: v.optional(v.strictObject({ reason }), {}),
      bodyExample: { reason: 'the consumer is down' },
      answers: oneRun,
      faults: changeFaults,
    },
    async ({ c, sql, access, by, params: { id }, body, wakeRetriers }) => {
      const run = await changeRun(sql, { id, scope: access.topics, change, by, reason: body.reason ?? null })
      wakeRetriers()
      return c.json(runJson(run))
    },
  )
}

/** @throws {ApiError} where no retrier could send it. Messages that applications pull are only made due, without Kafka. */
async function refuseUnsendable(
  { sql, access, policies }: Pick<Call, 'sql' | 'access' | 'policies'>,
  kind: RunKind,
  selection: RunSelection,
): Promise<void> {
  try {
    await refuseWithoutKafka(sql)
  } catch (refusal) {
    if (kind !== 'retry') throw refusal
    await policies.refresh()
    const isPulled = (topic: string) =>
      policies.policyOf({ original_topic: topic, dlq_topic: null }).delivery === 'pull'
    const { complete, eligible, topics } = await surveySelection(sql, selection, { kind, scope: access.topics })
    // A survey names only the first of very many topics.
    const named = Object.values(topics).reduce((sum, count) => sum + count, 0)
    if (!complete || named < eligible || !Object.keys(topics).every(isPulled)) throw refusal
  }
}

export const runRoutes = [
  defineRoute(
    {
      method: 'post',
      path: '/api/v1/runs',
      summary: 'Create a run over many dead letters',
      description: [
        'The selection is frozen: messages that arrive later are not touched. With `expect_count`, the run is refused where',
        'more or fewer messages match. `dry_run` changes nothing and shows what the run would do. A canary sends the first messages,',
        'waits to see whether they fail again, sends a share, waits again, and sends the rest.',
      ].join(' '),
      role: 'write',
      // The dry run of an edit does.
      showsPayloads: true,
      body: runBody,
      bodyExample: {
        kind: 'retry',
        selection: { filter: { topic: 'orders.dlq.v1', from: '2026-02-20' } },
        expect_count: 3000,
        rate_per_second: 100,
        // biome-ignore lint/suspicious/noThenProperty: the name that people write; nobody awaits it
        canary: { first: 1, then: '1%', wait: '60s', max_refailure: '5%' },
        reason: 'the consumer is fixed',
      },
      answers: {
        200: {
          description: 'The preview of a dry run.',
          schema: surveySchema,
          example: {
            ...{ dry_run: true, complete: true, eligible: 3000, ineligible: { dead: 12 }, topics: { orders: 3000 } },
            ...{ groups: { none: 3000 }, ages: { 'under 1d': 3000 }, sample: [exampleRun.id] },
          },
        },
        202: {
          description: 'The run.',
          schema: runSchema,
          example: exampleRun,
          headers: { Location: 'Where to look after it.' },
        },
      },
      faults: ['SYS_DLQ_NOT_FOUND', 'SYS_DLQ_CONFLICT', 'SYS_DLQ_KAFKA_UNAVAILABLE'],
    },
    async (call) => {
      const { c, sql, access, by, body } = call
      const { kind, expect_count: expected, expect_tolerance: tolerance } = body
      const scope = access.topics
      // As an admin: who is one of some topics, and a writer of all, purges nothing.
      const purging = actAs(c.get('access'), 'admin')
      if (kind === 'purge' && purging === null)
        throw new ApiError('SYS_DLQ_FORBIDDEN', `this needs the role ${roleNames.admin}`)
      const fault = beyondScope(body, kind === 'purge' ? purging!.topics : scope)
      if (fault !== null) throw new ApiError('SYS_DLQ_FORBIDDEN', fault)
      const selection = toSelection(body.selection, { kind, all: body.all })
      if ('failed_again_in' in selection) await findRun(sql, { id: selection.failed_again_in, scope })
      if (body.target_topic !== null) await refuseTarget(call, body.target_topic)
      const patch = body.patch === undefined ? null : call.exactJson('patch')
      if (body.dry_run) {
        const survey = await surveySelection(sql, selection, { kind, scope })
        const diff = patch === null ? {} : { diff: await previewPatch(sql, { ids: survey.sample, patch, scope }) }
        return c.json({ dry_run: true, ...survey, ...diff })
      }
      if (isSent(kind)) await refuseUnsendable(call, kind, selection)
      const id = await createRun(
        sql,
        {
          ...{ kind, selection, scope, reason: body.reason ?? null, retry_all_topic: null, patch },
          expect: expected === undefined ? null : { expected, tolerance },
          target_topic: body.target_topic,
          rate_per_second: body.rate_per_second,
          canary: body.canary === null ? null : JSON.stringify(body.canary),
          on_refailure: body.on_refailure,
          max_refailure: body.max_refailure,
        },
        by,
      )
      c.header('Location', `/api/v1/runs/${id}`)
      return c.json(runJson(await findRun(sql, { id, scope })), 202)
    },
  ),

  defineRoute(
    {
      method: 'get',
      path: '/api/v1/runs',
      summary: 'Runs, newest first',
      role: 'read',
      query: v.strictObject({
        ...pageQuery.entries,
        status: v.optional(v.picklist(runStatuses)),
        kind: v.optional(v.picklist(runKinds)),
      }),
      answers: {
        200: {
          description: 'One page.',
          schema: v.strictObject({ runs: v.array(runSchema), total_count: count }),
          example: { runs: [exampleRun], total_count: 1 },
        },
      },
    },
    async ({ c, sql, access, query: { page, page_size: limit, status, kind } }) => {
      const { runs, total } = await listRuns(sql, {
        scope: access.topics,
        status,
        kind,
        limit,
        offset: (page - 1) * limit,
      })
      return c.json({ runs: runs.map((run) => runJson(run)), total_count: total })
    },
  ),

  defineRoute(
    {
      ...{
        method: 'get',
        path: '/api/v1/runs/:id',
        summary: 'One run with its progress',
        role: 'read',
        params: runPath,
      },
      description: 'The counts are always exact: `taken` is the sum of `waiting` and of all outcomes.',
      answers: oneRun,
      faults: ['SYS_DLQ_NOT_FOUND'],
    },
    async ({ c, sql, access, params: { id } }) => c.json(runJson(await findRun(sql, { id, scope: access.topics }))),
  ),

  defineRoute(
    {
      method: 'get',
      path: '/api/v1/runs/:id/items',
      summary: 'The messages of a run, by their outcome',
      description:
        'In the order of ids; the next page begins `after` the last one. Of the skipped messages, the first ten thousand.',
      role: 'read',
      params: runPath,
      query: v.strictObject({
        outcome: v.optional(v.picklist(runOutcomes, `must be one of ${runOutcomes.join(', ')}`)),
        after: v.optional(idOf('message')),
        limit: v.optional(wholeNumber('limit', { min: 1, max: 1000 }), '100'),
      }),
      answers: {
        200: {
          description: 'One page.',
          schema: v.strictObject({
            items: v.array(
              v.strictObject({ id: v.string(), outcome: v.picklist(runOutcomes), detail: v.nullable(v.string()) }),
            ),
          }),
          example: { items: [{ id: exampleRun.id, outcome: 'failed_again', detail: 'no such customer' }] },
        },
      },
      faults: ['SYS_DLQ_NOT_FOUND'],
    },
    async ({ c, sql, access: { topics: scope }, params: { id }, query: { outcome = null, after = null, limit } }) => {
      await findRun(sql, { id, scope })
      return c.json({ items: [...(await listRunItems(sql, { runId: id, outcome, after, limit, scope }))] })
    },
  ),

  defineRoute(
    {
      method: 'get',
      path: '/api/v1/runs/:id/events',
      summary: 'The progress of a run as a stream of events',
      description:
        'An event "progress" with the run whenever it has changed, at most one a second; the last one is its end. The stream also ends when the token does. A token holds ten streams at most, and the service 200.',
      role: 'read',
      params: runPath,
      answers: { 200: { description: 'Server-sent events.', types: ['text/event-stream'] } },
      faults: ['SYS_DLQ_NOT_FOUND'],
    },
    async (call) => {
      await findRun(call.sql, { id: call.params.id, scope: call.access.topics })
      return streamProgress(call)
    },
  ),

  changeRoute('pause', {
    summary: 'Pause a run',
    description:
      'From this answer on, no further message is claimed for the run. Retriers finish the batches that they hold.',
  }),
  changeRoute('resume', {
    summary: 'Resume a paused run',
    description: 'Also resumes a run that its canary paused.',
  }),
  changeRoute('cancel', {
    summary: 'Cancel a run',
    description:
      'From this answer on, no further message is claimed for the run. Messages that were not sent become as they were before it.',
  }),

  defineRoute(
    {
      method: 'patch',
      path: '/api/v1/runs/:id',
      summary: 'Change how fast a run sends',
      role: 'write',
      params: runPath,
      body: v.strictObject({ rate_per_second: v.nullable(rateSchema), reason }),
      bodyExample: { rate_per_second: 10 },
      answers: oneRun,
      faults: changeFaults,
    },
    async ({
      c,
      sql,
      access: { topics: scope },
      by,
      params: { id },
      body: { rate_per_second: ratePerSecond, reason },
      wakeRetriers,
    }) => {
      const run = await sql.begin(async (sql) => {
        const before = await findRun(sql, { id, scope })
        if (!(await changeRate(sql, { id, ratePerSecond })))
          throw new ApiError('SYS_DLQ_CONFLICT', `run ${id} is ${before.status}: it sends nothing any more`)
        await auditRun(
          sql,
          { ...before, reason: reason ?? null },
          {
            ...{ action: 'run.rate', by, before: { rate_per_second: before.rate_per_second } },
            after: { rate_per_second: ratePerSecond },
          },
        )
        return findRun(sql, { id, scope })
      })
      wakeRetriers()
      return c.json(runJson(run))
    },
  ),
]

const pollMs = 1000

function streamProgress(call: Call<typeof runPath>): Response {
  const close = call.eventStreams.open(call.access.actor)
  return streamSSE(call.c, (stream) => writeProgress(call, stream).finally(close))
}

/** Until the run or the sender's permission ends. */
async function writeProgress(
  { c, sql, access, params: { id }, signal }: Call<typeof runPath>,
  stream: SSEStreamingApi,
): Promise<void> {
  const permission = JSON.stringify(access)
  let sent = ''
  while (!stream.aborted && !signal.aborted) {
    const now = await c
      .get('identifyAgain')()
      .catch(() => null)
    if (JSON.stringify(now && actAs(now, 'read')) !== permission) return
    const run = runJson(await findRun(sql, { id, scope: access.topics }))
    // Fields that change with time alone do not count as a change.
    const news = JSON.stringify({ ...run, progress: { ...run.progress, rate: null, eta_seconds: null } })
    if (news !== sent) await stream.writeSSE({ event: 'progress', data: JSON.stringify(run) })
    sent = news
    if (run.ended_at !== null) return
    await sleep(pollMs, undefined, { signal }).catch(() => {})
  }
}
