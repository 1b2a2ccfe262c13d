// Topics that look like DLQ topics: a look at some of their records, and dismissing them.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Sample, SampledRecord } from 'dlq-core/domain/discovery/sample.ts'
import { matchesTopicGlobs } from 'dlq-core/domain/failure/topic-globs.ts'
import { writeAudit } from 'dlq-core/queries/change/audit.ts'
import { dismissCandidate, listCandidates } from 'dlq-core/queries/discovery/candidates.ts'
import { askForSample, forgetSample, takeSampleAnswer } from 'dlq-core/queries/discovery/samples.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import { listDlqTopics } from 'dlq-core/queries/topic-lists/topic-list.ts'
import { monotonicNow } from 'dlq-core/runtime/clock/monotonic-now.ts'
import * as v from 'valibot'
import { ApiError } from '../../http/api-error.ts'
import { type Call, defineRoute } from '../../http/define-route.ts'
import { createPlaces, type Places } from '../../http/places.ts'
import { hiddenEntries, shown } from '../../masks/shown.ts'
import type { Sight } from '../../masks/sight.ts'
import { count } from '../../messages/message-json.ts'
import { timestampText } from '../../messages/timestamp.ts'
import { preferHeader, reason, topicPath, waitMsOf } from '../../request/request-schemas.ts'
import { candidateJson, candidateSchema, exampleCandidate } from '../../topics/candidate-json.ts'

const text = v.nullable(v.string())

const sampledRecordSchema = v.pipe(
  v.strictObject({
    partition: count,
    offset: v.string(),
    timestamp: v.nullable(v.string()),
    key_bytes: v.nullable(count),
    value_bytes: v.nullable(count),
    family: text,
    original_topic: v.string(),
    original_topic_source: v.pipe(
      v.nullable(v.picklist(['header', 'mapping', 'guessed'])),
      v.description('How the original topic is known; null: it is not, and the topic takes its place.'),
    ),
    original_partition: v.nullable(v.pipe(v.number(), v.integer())),
    original_offset: text,
    consumer_group: text,
    error_class: text,
    error_message: text,
    header_names: v.array(v.string()),
    ...hiddenEntries,
  }),
  v.title('SampledRecord'),
)

const share = v.pipe(v.number(), v.minValue(0), v.maxValue(1))
const sampleSchema = v.pipe(
  v.strictObject({
    topic: v.string(),
    readable: v.pipe(v.boolean(), v.description('False: Kafka refused some of it; the ingester’s log says what.')),
    families: v.pipe(v.record(v.string(), count), v.description('Records by family; `none` without any headers.')),
    shares: v.strictObject({
      origin: v.pipe(share, v.description('Records whose headers name their original topic.')),
      group: share,
      key: share,
    }),
    newest: v.pipe(v.array(sampledRecordSchema), v.description('20 at most, the newest first.')),
    oldest: v.pipe(v.array(sampledRecordSchema), v.description('20 at most, the oldest first; none of `newest`.')),
  }),
  v.title('TopicSample'),
)

const exampleRecord = {
  ...{ partition: 0, offset: '48212', timestamp: '2026-02-20T10:29:00.000Z', key_bytes: 6, value_bytes: 812 },
  ...{ family: 'spring-dlt', original_topic: 'payments', original_topic_source: 'header' as const },
  ...{ original_partition: 2, original_offset: '9120033', consumer_group: 'billing' },
  ...{ error_class: 'java.net.SocketTimeoutException', error_message: 'Read timed out' },
  header_names: ['kafka_dlt-original-topic', 'kafka_dlt-exception-fqcn'],
}
const exampleSample = {
  ...{ topic: 'payments-dlt', readable: true, families: { 'spring-dlt': 1 } },
  ...{ shares: { origin: 1, group: 1, key: 1 }, newest: [exampleRecord], oldest: [] },
}

const maxWaitMs = 15_000
const pollMs = 100
/** Samples that wait: of all senders, and of one, who would keep the others from theirs. */
const maxWaiting = 20
const maxWaitingOfOne = 3

export function createSamplePlaces(): Places {
  return createPlaces({ perActor: maxWaitingOfOne, inAll: maxWaiting })
}

export const candidateRoutes = [
  defineRoute(
    {
      method: 'post',
      path: '/api/v1/topics/:topic/sample',
      masks: 'shown',
      summary: 'Look at some records of a candidate or a DLQ topic',
      description: [
        'An ingester reads the 20 newest and the 20 oldest records and says how they would be understood: family, origin,',
        'consumer group and error. Keys and values are not shown, and nothing is stored or sent.',
      ].join(' '),
      role: 'read',
      params: topicPath,
      headers: v.object(preferHeader),
      waits: true,
      answers: { 200: { description: 'The sample.', schema: sampleSchema, example: exampleSample } },
      faults: ['SYS_DLQ_NOT_FOUND', 'SYS_DLQ_TOO_MANY_REQUESTS', 'SYS_DLQ_KAFKA_UNAVAILABLE'],
    },
    async (call) => {
      const { c, sql, params, headers, sight } = call
      const cluster = await clusterOf(call, params.topic)
      const place = call.samples.take(call.access.actor)
      if (!place.isTaken)
        throw new ApiError('SYS_DLQ_TOO_MANY_REQUESTS', 'your other samples are being read; wait for them')
      try {
        const id = await askForSample(sql, { cluster, topic: params.topic, atMost: maxWaiting })
        if (id === null)
          throw new ApiError('SYS_DLQ_TOO_MANY_REQUESTS', 'other samples are being read; try again in some seconds')
        const answer = await untilAnswered(call, { id, waitMs: waitMsOf(headers.prefer, maxWaitMs) })
        return c.json(sampleJson(params.topic, answer, sight))
      } finally {
        place.giveBack()
      }
    },
  ),

  defineRoute(
    {
      method: 'post',
      path: '/api/v1/topics/:topic/dismiss',
      masks: 'none',
      summary: 'Say that a candidate is no DLQ topic',
      description: 'It is not listed and not told of any more. `dismissed: false` takes it back.',
      role: 'admin',
      params: topicPath,
      body: v.optional(v.strictObject({ dismissed: v.optional(v.boolean('must be true or false'), true), reason }), {}),
      bodyExample: { reason: 'the errors of a form, not of Kafka' },
      answers: {
        200: {
          description: 'The candidate as it is now.',
          schema: v.pipe(
            v.strictObject({ topic: v.string(), dismissed_at: v.nullable(timestampText), candidate: candidateSchema }),
            v.title('DismissedCandidate'),
          ),
          example: { topic: 'payments-dlt', dismissed_at: null, candidate: exampleCandidate },
        },
      },
      faults: ['SYS_DLQ_FORBIDDEN', 'SYS_DLQ_NOT_FOUND'],
    },
    async ({ c, sql, access, sight, by, params: { topic }, body: { dismissed, reason = null } }) => {
      if (access.topics !== null && !matchesTopicGlobs(access.topics, topic))
        throw new ApiError('SYS_DLQ_FORBIDDEN', `this token may not dismiss ${topic}`)
      const after = await sql.begin(async (sql) => {
        const before = await dismissCandidate(sql, { topic, dismissed, by: by.actor, reason })
        const [first] = before
        if (first === undefined) throw new ApiError('SYS_DLQ_NOT_FOUND', `candidate not found: ${topic}`)
        await writeAudit(sql, {
          ...by,
          ...{ action: dismissed ? 'candidate.dismiss' : 'candidate.restore', target_type: 'topic', target_id: topic },
          ...{ dlq_topic: topic, reason },
          ...{ before: { dismissed: first.dismissed_at !== null }, after: { dismissed } },
        })
        return (await listCandidates(sql, { scope: null, topics: [topic], limit: 1 }))[0]!
      })
      const candidate = candidateJson(after, sight)
      return c.json({ topic, dismissed_at: candidate.dismissed_at, candidate })
    },
  ),
]

/** Only topics that look like DLQ topics, or are: else anybody could look into any topic. */
async function clusterOf({ sql, access }: Pick<Call, 'sql' | 'access'>, topic: string): Promise<string> {
  const [candidate] = await listCandidates(sql, { scope: access.topics, topics: [topic], limit: 1 })
  if (candidate) return candidate.cluster
  const found = await listDlqTopics(sql, { scope: access.topics, topic, after: null, limit: 10 })
  const known = found.find(({ gone_at }) => gone_at === null)
  if (!known) throw new ApiError('SYS_DLQ_NOT_FOUND', `no candidate and no DLQ topic is known by the name ${topic}`)
  return known.cluster
}

async function untilAnswered(
  { sql, signal }: { sql: Sql; signal: AbortSignal },
  { id, waitMs }: { id: string; waitMs: number },
): Promise<Sample> {
  for (const until = monotonicNow() + waitMs; monotonicNow() < until && !signal.aborted; await sleep(pollMs)) {
    const answer = await takeSampleAnswer(sql, id)
    if (answer !== null) return JSON.parse(answer) as Sample
  }
  await forgetSample(sql, id)
  throw new ApiError('SYS_DLQ_KAFKA_UNAVAILABLE', 'no ingester has answered; is one running, and does Kafka answer it?')
}

function sampleJson(
  topic: string,
  { readable, oldest, newest }: Sample,
  sight: Sight,
): v.InferOutput<typeof sampleSchema> {
  const seen = (record: SampledRecord) => {
    const { hidden, ...rest } = shown(record, sight, { original_topic: record.original_topic, dlq_topic: topic })
    return { ...rest, ...(hidden && { hidden: [...hidden] }) }
  }
  const records = [...newest, ...oldest]
  const families: Record<string, number> = {}
  for (const { family } of records) families[family ?? 'none'] = (families[family ?? 'none'] ?? 0) + 1
  const shareOf = (has: (record: SampledRecord) => boolean) =>
    records.length === 0 ? 0 : records.filter(has).length / records.length
  return {
    ...{ topic, readable, families, newest: newest.map(seen), oldest: oldest.map(seen) },
    shares: {
      origin: shareOf(({ original_topic_source: source }) => source === 'header'),
      group: shareOf(({ consumer_group: group }) => group !== null),
      key: shareOf(({ key_bytes: bytes }) => bytes !== null),
    },
  }
}
