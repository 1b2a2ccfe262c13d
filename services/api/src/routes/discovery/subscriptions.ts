// Which topics are ingested, as rows that people write; they decide over the patterns of the configuration.

import {
  backlogs,
  isGlob,
  type Subscription,
  subscriptionModes,
  subscriptionStarts,
  topicDecider,
} from 'dlq-core/domain/discovery/subscription.ts'
import { matchesTopicGlobs } from 'dlq-core/domain/failure/topic-globs.ts'
import { looksInternal, wildcardThatIsMissing } from 'dlq-core/domain/failure/topic-names.ts'
import { writeAudit } from 'dlq-core/queries/change/audit.ts'
import { listCandidates } from 'dlq-core/queries/discovery/candidates.ts'
import {
  addSubscription,
  deleteSubscription,
  listSubscriptions,
  maxSubscriptions,
} from 'dlq-core/queries/discovery/subscriptions.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import { listDlqTopics, listOriginalTopics } from 'dlq-core/queries/topic-lists/topic-list.ts'
import * as v from 'valibot'
import { ApiError, invalidField } from '../../http/api-error.ts'
import { defineRoute } from '../../http/define-route.ts'
import { count } from '../../messages/message-json.ts'
import { timestamp, timestampText } from '../../messages/timestamp.ts'
import { clusterId, idOf, instant, reason } from '../../request/request-schemas.ts'

const subscriptionSchema = v.pipe(
  v.strictObject({
    id: v.pipe(v.string(), v.uuid()),
    cluster: v.pipe(v.nullable(v.string()), v.description('Null: every cluster.')),
    pattern: v.string(),
    mode: v.picklist(subscriptionModes),
    original: v.nullable(v.string()),
    start: v.picklist(subscriptionStarts),
    start_at: v.nullable(timestampText),
    backlog: v.picklist(backlogs),
    created_at: timestampText,
    created_by: v.string(),
    reason: v.nullable(v.string()),
  }),
  v.title('Subscription'),
)

const exampleSubscription = {
  ...{ id: '0198f3a2-0000-7000-8000-000000000001', cluster: null, pattern: 'payments-dlt', mode: 'ingest' as const },
  ...{ original: null, start: 'earliest' as const, start_at: null, backlog: 'manual' as const },
  ...{ created_at: '2026-02-20T10:30:00.000+00:00', created_by: 'alice', reason: 'ours since the merger' },
}

const plannedSchema = v.pipe(
  v.strictObject({
    topics: v.pipe(
      v.array(
        v.strictObject({
          topic: v.string(),
          cluster: v.string(),
          ingested: v.pipe(v.boolean(), v.description('It is ingested already, so start and backlog change nothing.')),
          will_be_ingested: v.boolean(),
          records_at_most: v.nullable(v.string()),
        }),
      ),
      v.description(`Known topics that the pattern matches, 200 at most.`),
    ),
    estimate: v.pipe(
      v.strictObject({ records_at_most: v.string(), seconds: count, bytes: v.string() }),
      v.description('Of the topics that would begin: 3,500 records a second and 2.8 KB in PostgreSQL for each.'),
    ),
  }),
  v.title('PlannedSubscription'),
)
const examplePlan = {
  topics: [{ topic: 'payments-dlt', cluster: 'c', ingested: false, will_be_ingested: true, records_at_most: '48213' }],
  estimate: { records_at_most: '48213', seconds: 14, bytes: '134996400' },
}

const recordsPerSecond = 3500n
const bytesPerRecord = 2800n
const maxShown = 200

const pattern = v.pipe(
  v.string('must be text'),
  v.regex(
    /^[A-Za-z0-9._*?-]{1,249}$/,
    'must be a topic name, or a pattern with * and ?: letters, digits, ".", "_" and "-", at most 249',
  ),
  v.check((text) => /[A-Za-z0-9]/.test(text), 'must name more than wildcards, or every topic would be ingested'),
)

const subscriptionBody = v.strictObject({
  pattern,
  cluster: v.optional(v.nullable(clusterId), null),
  mode: v.optional(v.picklist(subscriptionModes, `must be one of ${subscriptionModes.join(', ')}`), 'ingest'),
  original: v.optional(
    v.nullable(
      v.pipe(
        v.string('must be text'),
        v.regex(/^[A-Za-z0-9._$-]{1,249}$/, 'must be a topic name, with $1, $2 … for what * stands for'),
      ),
    ),
    null,
  ),
  start: v.optional(v.picklist(subscriptionStarts, `must be one of ${subscriptionStarts.join(', ')}`), 'earliest'),
  start_at: v.optional(v.nullable(instant), null),
  backlog: v.optional(
    v.pipe(
      v.picklist(backlogs, `must be one of ${backlogs.join(', ')}`),
      v.description(
        'What becomes of records from before the subscription: `manual` ones are sent only when somebody asks, `auto` ones by the policy.',
      ),
    ),
    'manual',
  ),
  reason,
})

export const subscriptionRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/api/v1/subscriptions',
      masks: 'none',
      summary: 'Which topics are ingested, beside the configuration',
      role: 'read',
      allTopics: true,
      answers: {
        200: {
          description: 'By pattern.',
          schema: v.strictObject({ subscriptions: v.array(subscriptionSchema) }),
          example: { subscriptions: [exampleSubscription] },
        },
      },
    },
    async ({ c, sql }) => c.json({ subscriptions: (await listSubscriptions(sql)).map(subscriptionJson) }),
  ),

  defineRoute(
    {
      method: 'post',
      path: '/api/v1/subscriptions',
      masks: 'none',
      summary: 'Ingest a topic, or leave it alone',
      description: [
        'An exact name decides over a pattern, a pattern over `kafka.dlq_topic_pattern`, and among equals `ignore`. The',
        'ingesters follow within seconds. `dry_run` tells which known topics it concerns and what reading them costs, and',
        'changes nothing.',
      ].join(' '),
      role: 'admin',
      allTopics: true,
      query: v.strictObject({
        dry_run: v.exactOptional(v.pipe(v.picklist(['true', 'false'], 'must be true or false'))),
      }),
      body: subscriptionBody,
      bodyExample: { pattern: 'payments-dlt', reason: 'ours since the merger' },
      answers: {
        200: { description: 'Of a dry run: what would happen.', schema: plannedSchema, example: examplePlan },
        201: { description: 'The subscription.', schema: subscriptionSchema, example: exampleSubscription },
      },
      faults: ['SYS_DLQ_CONFLICT'],
    },
    async ({ c, sql, by, dlqPatterns, query, body }) => {
      const { reason = null, ...asked } = body
      await refuseWrong(sql, asked)
      if (query.dry_run === 'true') return c.json(await plan(sql, { asked, patterns: dlqPatterns }))
      const added = await sql.begin(async (sql) => {
        const row = await addSubscription(sql, { ...asked, created_by: by.actor, reason })
        if (row === null)
          throw new ApiError(
            'SYS_DLQ_CONFLICT',
            `there is a subscription to ${asked.pattern} already, or there are ${maxSubscriptions}: delete one first`,
          )
        const entry = { action: 'subscription.add', target_type: 'subscription', target_id: row.id }
        await writeAudit(sql, {
          ...{ ...by, ...entry, reason, after: subscriptionJson(row) },
          ...(isGlob(row.pattern) ? {} : { dlq_topic: row.pattern }),
        })
        return row
      })
      return c.json(subscriptionJson(added), 201)
    },
  ),

  defineRoute(
    {
      method: 'delete',
      path: '/api/v1/subscriptions/:id',
      masks: 'none',
      summary: 'End a subscription',
      description: 'What was ingested stays, and so does the position: a later subscription goes on there.',
      role: 'admin',
      allTopics: true,
      params: v.strictObject({ id: idOf('subscription') }),
      answers: { 200: { description: 'It as it was.', schema: subscriptionSchema, example: exampleSubscription } },
      faults: ['SYS_DLQ_NOT_FOUND'],
    },
    async ({ c, sql, by, params: { id } }) => {
      const deleted = await sql.begin(async (sql) => {
        const row = await deleteSubscription(sql, id)
        if (row === null) throw new ApiError('SYS_DLQ_NOT_FOUND', `subscription not found: ${id}`)
        await writeAudit(sql, {
          ...{ ...by, action: 'subscription.delete', target_type: 'subscription', target_id: id },
          ...{ before: subscriptionJson(row), ...(isGlob(row.pattern) ? {} : { dlq_topic: row.pattern }) },
        })
        return row
      })
      return c.json(subscriptionJson(deleted))
    },
  ),
]

type Asked = Omit<v.InferOutput<typeof subscriptionBody>, 'reason'>

async function refuseWrong(sql: Sql, { pattern, mode, original, start, start_at }: Asked): Promise<void> {
  if ((start === 'time') !== (start_at !== null))
    throw invalidField('start_at', start === 'time' ? 'must say from when' : 'is only for start: time')
  if (start_at !== null && start_at.getTime() > Date.now()) throw invalidField('start_at', 'must not be in the future')
  const missing = original === null ? null : wildcardThatIsMissing({ dlq: pattern, original })
  if (missing !== null) throw invalidField('original', `uses ${missing}, and the pattern has no * for it`)
  if (mode === 'ignore') return
  if (!isGlob(pattern) && looksInternal(pattern)) throw invalidField('pattern', 'is an internal topic of the cluster')
  // Each record of such a topic would be stored as a dead letter, also what a retry sends there.
  const originals = await listOriginalTopics(sql, { scope: null, after: null, limit: 10_000 })
  const dlqTopics = new Set(
    (await listDlqTopics(sql, { scope: null, after: null, limit: 10_000 })).map((of) => of.topic),
  )
  const parent = originals.find(({ topic }) => !dlqTopics.has(topic) && matchesTopicGlobs(pattern, topic))
  if (parent) throw invalidField('pattern', `matches ${parent.topic}, which messages are sent back to: no DLQ topic`)
}

async function plan(sql: Sql, { asked, patterns }: { asked: Asked; patterns: readonly string[] }) {
  const row: Subscription = { ...asked, id: '', created_at: new Date(), created_by: '', reason: null }
  const rows = [...(await listSubscriptions(sql)), row]
  const candidates = await listCandidates(sql, { scope: null, limit: 10_000 })
  const known = await listDlqTopics(sql, { scope: null, after: null, limit: 10_000 })
  const all = [
    ...known
      .filter(({ gone_at }) => gone_at === null)
      .map(({ topic, cluster }) => ({ topic, cluster, ingested: true, records: null })),
    ...candidates.map(({ topic, cluster, records_at_most: records }) => ({ topic, cluster, ingested: false, records })),
  ]
  const matching = all.filter(({ topic }) => matchesTopicGlobs(asked.pattern, topic))
  const planned = matching.map((of) => ({
    ...of,
    will_be_ingested: topicDecider({ rows, patterns, cluster: of.cluster })(of.topic).isIngested,
  }))
  const records = planned
    .filter((of) => of.will_be_ingested && !of.ingested)
    .reduce((sum, of) => sum + (of.records ?? 0n), 0n)
  return {
    topics: planned.slice(0, maxShown).map(({ records, ...of }) => ({
      ...of,
      records_at_most: records === null ? null : String(records),
    })),
    estimate: {
      records_at_most: String(records),
      seconds: Number((records + recordsPerSecond - 1n) / recordsPerSecond),
      bytes: String(records * bytesPerRecord),
    },
  }
}

function subscriptionJson({ start_at, created_at, ...row }: Subscription): v.InferOutput<typeof subscriptionSchema> {
  return { ...row, start_at: start_at && timestamp(start_at), created_at: timestamp(created_at) }
}
