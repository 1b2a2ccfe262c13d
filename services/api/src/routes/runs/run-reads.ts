// What there is to know about runs: the list, one run, its messages, and its progress as it happens.

import { setTimeout as sleep } from 'node:timers/promises'
import { runStatuses } from 'dlq-core/domain/message/run.ts'
import { runKinds } from 'dlq-core/domain/message/run-kinds.ts'
import { beyondStorableText, isStorableText } from 'dlq-core/domain/record/text-for-postgres.ts'
import { readErasingRun } from 'dlq-core/queries/erase/erase-traces.ts'
import { verdicts } from 'dlq-core/queries/readers/verdicts.ts'
import { listItemsByVerdict, listRunItems, readItemMessages, runOutcomes } from 'dlq-core/queries/runs/run-items.ts'
import { listRuns } from 'dlq-core/queries/runs/runs.ts'
import type { SSEStreamingApi } from 'hono/streaming'
import * as v from 'valibot'
import { actAs } from '../../access/access.ts'
import { mapInSteps } from '../../answers/next-step.ts'
import { streamEvents } from '../../answers/stream-events.ts'
import { ApiError, invalidField } from '../../http/api-error.ts'
import { type Call, defineRoute } from '../../http/define-route.ts'
import { bindingOf, decodeCursor, encodeCursor, keyParts } from '../../lists/cursor.ts'
import { shown } from '../../masks/shown.ts'
import { sendJsonText } from '../../messages/message-json.ts'
import { idOf, listOf, pageQuery, wholeNumber } from '../../request/request-schemas.ts'
import { describeRun } from '../../runs/describe-run.ts'
import { findRun } from '../../runs/find-run.ts'
import { exampleRun, runJson, runSchema } from '../../runs/run-json.ts'
import { exampleRunItem, outcomeCounts, runItemJson, runItemSchema } from './run-item-json.ts'

const runPath = v.object({ id: idOf('run') })
const count = v.pipe(v.number(), v.integer())
type Counts = Record<(typeof runOutcomes)[number], typeof count>

const shortText = v.pipe(
  v.string('must be text, given once'),
  v.minLength(1, 'must not be empty'),
  v.maxLength(255, 'must be at most 255 characters'),
  v.metadata({ pattern: '^[^\\u0000]*$' }),
  v.check(isStorableText, beyondStorableText),
)

/** When a run was created, and its id. */
const runKey = v.strictTuple([keyParts.time, keyParts.uuid])

export const runReadRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/api/v1/runs',
      summary: 'Runs, newest first',
      role: 'read',
      masks: 'shown',
      description: 'By pages, or from one page to the next along `next_cursor`, which newer runs do not shift.',
      revalidates: true,
      query: v.strictObject({
        ...pageQuery.entries,
        status: v.exactOptional(v.pipe(listOf(runStatuses), v.description('One or more, repeated or with commas.'))),
        kind: v.exactOptional(v.picklist(runKinds)),
        actor: v.exactOptional(v.pipe(shortText, v.description('Who created it.'))),
        target_topic: v.exactOptional(shortText),
        group_id: v.exactOptional(v.pipe(idOf('group'), v.description('Runs over this error group.'))),
        cursor: v.exactOptional(v.string('must be given once')),
      }),
      answers: {
        200: {
          description: 'One page.',
          schema: v.strictObject({
            runs: v.array(runSchema),
            total_count: count,
            next_cursor: v.nullable(v.string()),
          }),
          example: { runs: [exampleRun], total_count: 1, next_cursor: null },
        },
      },
    },
    async ({ c, sql, access, sight, query: { page, page_size: limit, cursor, ...filter } }) => {
      if (cursor !== undefined && page !== 1) throw invalidField('page', 'goes without a cursor')
      const binding = bindingOf('runs', Object.entries(filter).sort())
      const key = cursor === undefined ? null : decodeCursor(cursor, binding, runKey)
      const { runs, total } = await listRuns(sql, {
        ...{ scope: access.topics, filter, after: key && { at: key[0], id: key[1] } },
        // One more than is shown, to know whether there are more.
        ...{ limit: limit + 1, offset: (page - 1) * limit },
      })
      const listed = runs.slice(0, limit)
      const last = runs.length > limit ? listed.at(-1)! : null
      return c.json({
        runs: await mapInSteps(listed, (run) => runJson(shown(run, sight, 'anywhere'))),
        total_count: total,
        next_cursor: last && encodeCursor([last.place, last.id], binding),
      })
    },
  ),

  defineRoute(
    {
      ...{
        method: 'get',
        path: '/api/v1/runs/:id',
        summary: 'One run with its progress',
        role: 'read',
        masks: 'shown',
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
      path: '/api/v1/runs/:id/proof',
      summary: 'The proof of a run that erased',
      description: [
        'Who, why and when, HMACs in place of keys, ids, rows by table, what a second search found, and where copies remain',
        'in Kafka. It holds no key and no text of a message. Keep it outside of the database: db/erase-again.ts needs it',
        'after a restore.',
      ].join(' '),
      role: 'admin',
      masks: 'none',
      allTopics: true,
      params: runPath,
      answers: { 200: { description: 'The proof.', types: ['application/json'] } },
      faults: ['SYS_DLQ_NOT_FOUND', 'SYS_DLQ_CONFLICT'],
    },
    async ({ c, sql, params: { id } }) => {
      const run = await readErasingRun(sql, id)
      if (run === null) throw new ApiError('SYS_DLQ_NOT_FOUND', `there is no run ${id} that erases`)
      if (run.status !== 'completed' || run.proof === null)
        throw new ApiError('SYS_DLQ_CONFLICT', `run ${id} is ${run.status}: it has no proof yet`)
      return sendJsonText(c, run.proof)
    },
  ),

  defineRoute(
    {
      method: 'get',
      path: '/api/v1/runs/:id/items',
      summary: 'The messages of a run, by their outcome',
      description: [
        'In the order of ids; the next page begins `after` the last one, the one before ends `before` the first. With',
        '`show=message` each item has what a list of messages shows. Of the skipped messages, the first ten thousand.',
        'With `verdict` instead of `outcome`: the messages that were sent and have this verdict now. Such a page may have',
        'few items, or none, and go on all the same: only a null `next_after` is the end.',
      ].join(' '),
      role: 'read',
      masks: 'shown',
      showsPayloads: true,
      params: runPath,
      query: v.strictObject({
        outcome: v.optional(v.picklist(runOutcomes, `must be one of ${runOutcomes.join(', ')}`)),
        verdict: v.exactOptional(v.picklist(verdicts, `must be one of ${verdicts.join(', ')}`)),
        after: v.optional(idOf('message')),
        before: v.optional(idOf('message')),
        show: v.exactOptional(v.picklist(['message'], 'must be message')),
        limit: v.optional(wholeNumber('limit', { min: 1, max: 1000 }), '100'),
      }),
      answers: {
        200: {
          description: 'One page.',
          schema: v.strictObject({
            items: v.array(runItemSchema),
            counts: v.pipe(
              v.strictObject(Object.fromEntries(runOutcomes.map((outcome) => [outcome, count])) as Counts),
              v.description('Of the whole run.'),
            ),
            next_after: v.pipe(v.nullable(v.string()), v.description('The next page’s `after`; null at the end.')),
            previous_before: v.pipe(
              v.nullable(v.string()),
              v.description('The `before` of the page before; null at the beginning.'),
            ),
          }),
          example: {
            items: [exampleRunItem],
            counts: { waiting: 0, resolved: 2989, failed: 0, failed_again: 11, skipped: 2 },
            ...{ next_after: null, previous_before: null },
          },
        },
      },
      faults: ['SYS_DLQ_NOT_FOUND'],
    },
    async ({ c, sql, access: { topics: scope }, sight, params: { id }, query }) => {
      const { outcome = null, verdict, after = null, before = null, show, limit } = query
      if (verdict !== undefined && outcome !== null) throw invalidField('verdict', 'goes without outcome')
      if (after !== null && before !== null) throw invalidField('before', 'goes without after')
      const run = await findRun(sql, { id, scope })
      // One more than is shown, to know whether there are more.
      const page = { runId: id, after, before, limit: limit + 1, scope }
      const { items: found, judgedTo } =
        verdict === undefined
          ? { items: await listRunItems(sql, { ...page, outcome }), judgedTo: null }
          : await listItemsByVerdict(sql, { ...page, verdict })
      const hasMore = found.length > limit
      const items = before === null ? found.slice(0, limit) : found.slice(-limit)
      const messages =
        show === undefined ? null : await readItemMessages(sql, { ids: items.map(({ id }) => id), scope })
      const [first, last] = [items[0]?.id ?? null, items.at(-1)?.id ?? null]
      return c.json({
        items: await mapInSteps(items, (item) => runItemJson(item, messages, sight)),
        counts: outcomeCounts(run),
        next_after: before !== null || hasMore ? last : judgedTo,
        previous_before: before === null ? (after === null ? null : first) : hasMore ? first : judgedTo,
      })
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
      masks: 'shown',
      params: runPath,
      answers: { 200: { description: 'Server-sent events.', types: ['text/event-stream'] } },
      faults: ['SYS_DLQ_NOT_FOUND'],
    },
    async (call) => {
      await findRun(call.sql, { id: call.params.id, scope: call.access.topics })
      return streamEvents(call, (stream) => writeProgress(call, stream))
    },
  ),
]

const pollMs = 1000

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
