// All dead letters of a topic at once: a run, for which the answer waits a little.

import { setTimeout as sleep } from 'node:timers/promises'
import type { RunView } from 'dlq-core/queries/runs.ts'
import { isDlqTopic } from 'dlq-core/queries/topics.ts'
import type { RunSelection } from 'dlq-core/run.ts'
import * as v from 'valibot'
import { createRun, findRun } from '../create-run.ts'
import { type Call, defineRoute } from '../define-route.ts'
import { refuseWithoutKafka } from '../refuse-without-kafka.ts'
import { preferHeader, topicPath, waitMsOf } from '../request-schemas.ts'
import { countSelection } from '../run-selection.ts'

const schema = v.strictObject({ retried: v.pipe(v.number(), v.integer()), message: v.string() })

export const topicMessageRoutes = [
  defineRoute(
    {
      method: 'post',
      path: '/api/v1/dlq/:topic/retry-all',
      summary: 'Retry every dead letter of a topic that may be retried',
      description: [
        'A run (`/api/v1/runs`): the retriers send what is there now, within the topic’s policy. Skips DEAD, RESOLVED and',
        'spent budgets. While it goes on, a second one of the same topic answers 409 and names it.',
      ].join(' '),
      role: 'write',
      params: topicPath,
      headers: v.object(preferHeader),
      waits: true,
      answers: {
        200: {
          description: 'They were retried.',
          schema,
          example: { retried: 15, message: '15 messages retried in topic orders.dlq.v1' },
        },
        202: {
          description: 'The run goes on; how many it has accepted so far.',
          schema,
          example: { retried: 5000, message: '5000 messages of topic orders.dlq.v1 accepted so far; the run goes on' },
          headers: { Location: 'The run.' },
        },
      },
      faults: ['SYS_DLQ_KAFKA_UNAVAILABLE', 'SYS_DLQ_CONFLICT', 'SYS_DLQ_NOT_FOUND'],
    },
    async (call) => {
      const { c, sql, access, by, params, headers, policies, retryWaitMs } = call
      const { topic } = params
      await policies.refresh()
      const { policy } = policies.policyFor({ originalTopic: topic, dlqTopic: null })
      if (policy.delivery !== 'pull' || (await isDlqTopic(sql, topic))) await refuseWithoutKafka(sql)
      const selection: RunSelection = { filter: { topic } }
      const { value } = await countSelection(sql, selection, { kind: 'retry', scope: access.topics })
      if (value === 0) return c.json(retriedJson(topic, 0))
      const id = await createRun(sql, { ...plainRetry, selection, scope: access.topics, retryAllTopic: topic }, by)
      const run = await untilEnded(call, id, waitMsOf(headers.prefer, retryWaitMs))
      if (run.ended_at !== null) return c.json(retriedJson(topic, run.taken + run.done - run.withdrawn - run.givenBack))
      c.header('Location', `/api/v1/runs/${id}`)
      const message = `${run.taken} messages of topic ${topic} accepted so far; the run goes on`
      return c.json({ retried: run.taken, message }, 202)
    },
  ),
]

const plainRetry = {
  kind: 'retry',
  reason: null,
  expect: null,
  targetTopic: null,
  ratePerSecond: null,
  canary: null,
  patch: null,
  onRefailure: 'continue',
  maxRefailure: 0.05,
} as const

function retriedJson(topic: string, retried: number) {
  return { retried, message: `${retried} messages retried in topic ${topic}` }
}

async function untilEnded(
  { sql, access, signal }: Call<typeof topicPath>,
  id: string,
  waitMs: number,
): Promise<RunView> {
  const deadline = Date.now() + waitMs
  for (let pollMs = 25; ; pollMs = Math.min(pollMs * 1.5, 250)) {
    const run = await findRun(sql, { id, scope: access.topics })
    if (run.ended_at !== null || Date.now() + pollMs > deadline || signal.aborted) return run
    await sleep(pollMs, undefined, { signal }).catch(() => {})
  }
}
