// Dead letters reported by HTTP.

import { replayHazard } from 'dlq-core/domain/failure/topic-names.ts'
import { insertReport, maxReportedTopics, mayReportTopic } from 'dlq-core/queries/ingest/message-report.ts'
import { dlqTopicsAmong } from 'dlq-core/queries/ingest/topics.ts'
import { mayReportConsumer } from 'dlq-core/queries/readers/admit-consumers.ts'
import * as v from 'valibot'
import { refuseForeignTopic } from '../../fleet/refuse-target.ts'
import { ApiError, invalidField } from '../../http/api-error.ts'
import { type Call, defineRoute } from '../../http/define-route.ts'
import { refuseGuessedKey } from '../../masks/refuse-hidden.ts'
import { auditMessage } from '../../messages/change-message.ts'
import { bytesOf, contentInput, headersInput, headersOf, wellFormed } from '../../messages/message-content.ts'
import { exampleMessage } from '../../messages/message-json.ts'
import { decodeReport, groupOfReport, type Report, toReportedMessage } from '../../messages/report-message.ts'
import { keyHeader, type Made, madeBefore, makeOnce, replayedHeader } from '../../request/make-once.ts'
import { letOthers } from '../../request/read-request.ts'
import { instant, maxRetries, topicName } from '../../request/request-schemas.ts'

const maxInt32 = 2_147_483_647
const offsetForm = 'must be an offset; as text where it is beyond 2^53'

const reportBody = v.strictObject({
  original_topic: topicName,
  error_message: wellFormed(1_000_000),
  error_class: v.optional(wellFormed(1000)),
  error_stacktrace: v.optional(wellFormed(2_000_000)),
  consumer_group: v.optional(wellFormed(1000)),
  original_partition: v.optional(
    v.pipe(
      v.number('must be a number'),
      v.integer('must be a whole number'),
      v.minValue(0, 'must not be negative'),
      v.maxValue(maxInt32, `must be at most ${maxInt32}`),
    ),
  ),
  original_offset: v.optional(
    v.union(
      [
        v.pipe(v.number(), v.safeInteger(offsetForm), v.minValue(0, offsetForm)),
        v.pipe(v.string(), v.regex(/^[0-9]{1,18}$/, offsetForm)),
      ],
      offsetForm,
    ),
  ),
  original_timestamp: v.optional(instant),
  key: v.optional(contentInput, null),
  value: v.optional(contentInput, null),
  headers: v.optional(headersInput, []),
  max_retries: v.optional(maxRetries),
  next_retry_at: v.optional(v.nullable(instant)),
})

export const messageReportRoutes = [
  defineRoute(
    {
      method: 'post',
      path: '/api/v1/dlq/messages',
      summary: 'Dead-letter a record by HTTP',
      description: [
        'For consumers that have no DLQ topic to write to. The record is stored byte for byte and retried to',
        '`original_topic` by its policy; without a `value` it is a tombstone. With an `Idempotency-Key`, asking',
        'again within seven days makes no second message. Reports for a topic name a thousand consumer groups at most;',
        'a message that names a further one has none.',
      ].join(' '),
      role: 'write',
      masks: 'none',
      headers: v.object(keyHeader),
      body: reportBody,
      bodyExample: {
        original_topic: 'orders.events.v1',
        error_message: 'processing failed',
        error_class: 'OrderRejected',
        consumer_group: 'billing',
        original_partition: 0,
        original_offset: 42,
        key: { text: 'order-123' },
        value: { json: { order_id: '123' } },
        headers: [{ name: 'traceparent', value: { text: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' } }],
      },
      maxBodyBytes: 6 * 1024 * 1024,
      answers: {
        201: {
          description: 'It is stored, now or by an earlier request with the same `Idempotency-Key`.',
          schema: v.strictObject({ id: v.pipe(v.string(), v.uuid()), message: v.string() }),
          example: { id: exampleMessage.id, message: `dead letter ${exampleMessage.id} stored` },
          headers: {
            Location: 'The message’s path.',
            ...replayedHeader,
          },
        },
      },
      faults: ['SYS_DLQ_CONFLICT', 'SYS_DLQ_FORBIDDEN'],
    },
    async ({ c, sql, now, access, sight, by, policies, payloads, dlqPatterns, headers, body, exactJson }) => {
      const { original_topic: topic } = body
      refuseForeignTopic(access.topics, topic)
      if (body.key && access.payloads !== 'full')
        refuseGuessedKey(sight.maskOf({ original_topic: topic, dlq_topic: null }))
      const hazard = replayHazard(topic, { source: 'caller', dlqPatterns, partition: null })
      if (hazard === 'dlq-topic' || (await dlqTopicsAmong(sql, [topic])).has(topic))
        throw invalidField('original_topic', 'is a DLQ topic; name the topic that the record came from')
      const once = { actor: access.actor, key: headers['idempotency-key'], request: () => exactJson() }
      // Asked before the error group is touched: a report that comes again is no failure that happens again.
      const before = await madeBefore(sql, once)
      if (before !== null) return sendStored(c, before)
      const { topics: scope } = access
      if (scope !== null && !(await mayReportTopic(sql, { original_topic: topic, scope })))
        throw new ApiError(
          'SYS_DLQ_TOO_MANY_REQUESTS',
          `messages of ${maxReportedTopics} original topics were reported among the topics of this token, and it may begin no further one`,
        )
      const report: Report = {
        ...body,
        original_offset: body.original_offset === undefined ? undefined : BigInt(body.original_offset),
        key: bytesOf(body.key, () => exactJson('key', 'json')),
        value: bytesOf(body.value, () => exactJson('value', 'json')),
        headers: headersOf(body.headers),
      }
      await policies.refresh()
      const policy = policies.policyOf({ original_topic: topic, dlq_topic: null })
      await letOthers(report.value ?? [])
      const message = toReportedMessage(report, {
        policy,
        mayRetry: hazard === null,
        now: now(),
        random: Math.random(),
      })
      await decodeReport(message, { payloads, policy, sql })
      const { consumer_group } = message
      if (consumer_group !== null && !(await mayReportConsumer(sql, { original_topic: topic, consumer_group })))
        message.consumer_group = null
      message.group_id = await groupOfReport(sql, message)
      const stored = await sql.begin((sql) =>
        makeOnce(sql, once, async () => {
          const id = await insertReport(sql, message)
          const target = { id, original_topic: topic, dlq_topic: null }
          await auditMessage(sql, target, { action: 'message.report', asked: { by, reason: null } })
          return { message_id: id }
        }),
      )
      return sendStored(c, stored)
    },
  ),
]

function sendStored(c: Call['c'], { id, replayed }: Made): Response {
  c.header('Location', `/api/v1/dlq/messages/${id}`)
  if (replayed) c.header('Idempotency-Replayed', 'true')
  return c.json({ id, message: `dead letter ${id} stored` }, 201)
}
