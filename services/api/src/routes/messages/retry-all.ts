// Retries all dead letters of a topic by a run. The answer waits a little for its end.

import { setTimeout as sleep } from 'node:timers/promises'
import type { RunSelection } from 'dlq-core/domain/message/run.ts'
import { isDlqTopic } from 'dlq-core/queries/ingest/topics.ts'
import type { RunView } from 'dlq-core/queries/runs/runs.ts'
import { monotonicNow } from 'dlq-core/runtime/clock/monotonic-now.ts'
import * as v from 'valibot'
import { refuseWithoutKafka } from '../../fleet/refuse-without-kafka.ts'
import { type Call, defineRoute } from '../../http/define-route.ts'
import { keyHeader, type Made, madeBefore, replayedHeader } from '../../request/make-once.ts'
import { preferHeader, topicPath, waitMsOf } from '../../request/request-schemas.ts'
import { createRun } from '../../runs/create-run.ts'
import { findRun } from '../../runs/find-run.ts'
import { countSelection } from '../../runs/run-selection.ts'

const schema = v.strictObject({ retried: v.pipe(v.number(), v.integer()), message: v.string() })

export const retryAllRoutes = [
  defineRoute(
    {
      method: 'post',
      path: '/api/v1/dlq/:topic/retry-all',
      summary: 'Retry every dead letter of a topic that may be retried',
      description: [
        'Creates a run (`/api/v1/runs`): the retriers send the messages that are stored now, by the topic’s policy. Skips DEAD, RESOLVED and',
        'spent budgets. Until the run has ended, a second request for the same topic answers 409 and names the run; with the same',
        '`Idempotency-Key`, it waits for that run.',
      ].join(' '),
      role: 'write',
      masks: 'none',
      params: topicPath,
      headers: v.object({ ...preferHeader, ...keyHeader }),
      waits: true,
      answers: {
        200: {
          description: 'The messages were retried.',
          schema,
          example: { retried: 15, message: '15 messages retried in topic orders.dlq.v1' },
        },
        202: {
          description: 'The run is still under way; `retried` is the number of messages accepted so far.',
          schema,
          example: { retried: 5000, message: '5000 messages of topic orders.dlq.v1 accepted so far; the run goes on' },
          headers: { Location: 'The run.', ...replayedHeader },
        },
      },
      faults: ['SYS_DLQ_KAFKA_UNAVAILABLE', 'SYS_DLQ_CONFLICT', 'SYS_DLQ_NOT_FOUND'],
    },
    async (call) => {
      const { c, sql, access, by, params, headers, policies, retryWaitMs } = call
      const { topic } = params
      const waitMs = waitMsOf(headers.prefer, retryWaitMs)
      const once = { actor: access.actor, key: headers['idempotency-key'], request: () => `retry all of ${topic}` }
      const before = await madeBefore(sql, once)
      if (before !== null) return sendRetried(call, before, waitMs)
      await policies.refresh()
      const policy = policies.policyOf({ original_topic: topic, dlq_topic: null })
      if (policy.delivery !== 'pull' || (await isDlqTopic(sql, topic))) await refuseWithoutKafka(sql)
      const selection: RunSelection = { filter: { topic } }
      const matched = await countSelection(sql, selection, {
        ...{ kind: 'retry', is_forced: false, scope: access.topics, literally: true },
      })
      // Where counting ended early, there may be some behind what was looked at.
      if (matched.value === 0 && matched.relation === 'eq') return c.json(retriedJson(topic, 0))
      const wanted = { ...plainRetry, selection, scope: access.topics, retry_all_topic: topic }
      return sendRetried(call, await createRun(sql, wanted, { by, once }), waitMs)
    },
  ),
]

const plainRetry = {
  kind: 'retry',
  is_forced: false,
  reason: null,
  expect: null,
  target_topic: null,
  rate_per_second: null,
  max_lag: null,
  staleness: null,
  canary: null,
  patch: null,
  erase_mode: null,
  adopts: false,
  on_refailure: 'continue',
  max_refailure: 0.05,
} as const

async function sendRetried(call: Call<typeof topicPath>, { id, replayed }: Made, waitMs: number): Promise<Response> {
  const { c } = call
  const { topic } = call.params
  const run = await untilEnded(call, id, waitMs)
  if (replayed) c.header('Idempotency-Replayed', 'true')
  if (run.ended_at !== null) return c.json(retriedJson(topic, run.taken + run.done - run.withdrawn - run.given_back))
  c.header('Location', `/api/v1/runs/${id}`)
  const message = `${run.taken} messages of topic ${topic} accepted so far; the run goes on`
  return c.json({ retried: run.taken, message }, 202)
}

function retriedJson(topic: string, retried: number) {
  return { retried, message: `${retried} messages retried in topic ${topic}` }
}

async function untilEnded(
  { sql, access, signal }: Call<typeof topicPath>,
  id: string,
  waitMs: number,
): Promise<RunView> {
  const deadline = monotonicNow() + waitMs
  for (let pollMs = 25; ; pollMs = Math.min(pollMs * 1.5, 250)) {
    const run = await findRun(sql, { id, scope: access.topics })
    if (run.ended_at !== null || monotonicNow() + pollMs > deadline || signal.aborted) return run
    await sleep(pollMs, undefined, { signal }).catch(() => {})
  }
}
