// What there is to know about runs: the list, one run, its messages, and its progress as it happens.

import { setTimeout as sleep } from 'node:timers/promises'
import { runKinds, runStatuses } from 'dlq-core/domain/message/run.ts'
import { listRunItems, runOutcomes } from 'dlq-core/queries/runs/run-items.ts'
import { listRuns } from 'dlq-core/queries/runs/runs.ts'
import { type SSEStreamingApi, streamSSE } from 'hono/streaming'
import * as v from 'valibot'
import { actAs } from '../../access/access.ts'
import { type Call, defineRoute } from '../../http/define-route.ts'
import { idOf, pageQuery, wholeNumber } from '../../request/request-schemas.ts'
import { describeRun } from '../../runs/describe-run.ts'
import { findRun } from '../../runs/find-run.ts'
import { exampleRun, runJson, runSchema } from '../../runs/run-json.ts'

const runPath = v.object({ id: idOf('run') })
const count = v.pipe(v.number(), v.integer())

export const runReadRoutes = [
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
      answers: { 200: { description: 'The run as it is now.', schema: runSchema, example: exampleRun } },
      faults: ['SYS_DLQ_NOT_FOUND'],
    },
    async (call) => {
      const { c, sql, access, params } = call
      return c.json(await describeRun(call, await findRun(sql, { id: params.id, scope: access.topics })))
    },
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
]

const pollMs = 1000

function streamProgress(call: Call<typeof runPath>): Response {
  const close = call.eventStreams.open(call.access.actor)
  return streamSSE(call.c, (stream) => writeProgress(call, stream).finally(close))
}

/** Until the run or the sender's permission ends. */
async function writeProgress(call: Call<typeof runPath>, stream: SSEStreamingApi): Promise<void> {
  const { c, sql, access, signal } = call
  const { id } = call.params
  const permission = JSON.stringify(access)
  let sent = ''
  while (!stream.aborted && !signal.aborted) {
    const now = await c
      .get('identifyAgain')()
      .catch(() => null)
    if (JSON.stringify(now && actAs(now, 'read')) !== permission) return
    const run = await describeRun(call, await findRun(sql, { id, scope: access.topics }), { arrived: false })
    // Fields that change with time alone do not count as a change.
    const news = JSON.stringify({
      ...run,
      held_up_by: null,
      progress: { ...run.progress, rate: null, eta_seconds: null },
    })
    if (news !== sent) await stream.writeSSE({ event: 'progress', data: JSON.stringify(run) })
    sent = news
    if (run.ended_at !== null) return
    await sleep(pollMs, undefined, { signal }).catch(() => {})
  }
}
