// The topics of the dead letters, and the consumer groups that failed.

import { guessOriginalTopic } from 'dlq-core/domain/failure/topic-names.ts'
import { type Candidate, listCandidates } from 'dlq-core/queries/discovery/candidates.ts'
import { listTopicFaults } from 'dlq-core/queries/discovery/origins.ts'
import { type IngestLag, listIngestLag } from 'dlq-core/queries/ingest/topic-partitions.ts'
import { countByConsumerGroup, countByValue, listCounterparts } from 'dlq-core/queries/reading/summary.ts'
import { listTopicPauses } from 'dlq-core/queries/retry/topic-pauses.ts'
import { type DlqTopic, topicSorts } from 'dlq-core/queries/topic-lists/topic-list.ts'
import { countRecentFailures, oldestPendingOf } from 'dlq-core/queries/topic-lists/topic-overview.ts'
import * as v from 'valibot'
import { requireExactCounts } from '../../fleet/exact-counts.ts'
import { exampleLossClock, lossClockJson, lossClockSchema } from '../../fleet/loss-clock.ts'
import { effectivePolicyJson, effectivePolicySchema, exampleEffectivePolicy } from '../../fleet/policy-json.ts'
import { exampleStatusCounts, noMessages, statusCountsSchema } from '../../fleet/totals-json.ts'
import { ApiError, invalidField } from '../../http/api-error.ts'
import { type Call, defineRoute } from '../../http/define-route.ts'
import { bindingOf, decodeCursor, encodeCursor, keyParts } from '../../lists/cursor.ts'
import { count } from '../../messages/message-json.ts'
import { timestamp, timestampText } from '../../messages/timestamp.ts'
import { exampleTopicPause, pauseOf, topicPauseSchema } from '../../pauses/pause-json.ts'
import { topicPath, wholeNumber } from '../../request/request-schemas.ts'
import { candidateJson, candidateSchema } from '../../topics/candidate-json.ts'
import { type FoundTopic, findTopic, findTopics, type MessageTopicKind, topicKinds } from '../../topics/find-topics.ts'
import { namesOf } from '../../topics/names-of.ts'
import { exampleTopicFault, topicFaultJson, topicFaultSchema } from '../../topics/topic-faults.ts'
import { groupText } from '../groups.ts'

const time = v.nullable(timestampText)
const maxCounterparts = 20

const topicSchema = v.pipe(
  v.strictObject({
    topic: v.string(),
    display_name: v.pipe(v.nullable(v.string()), v.description('The name that people gave it.')),
    kind: v.picklist(topicKinds),
    counterparts: v.pipe(
      v.array(v.string()),
      v.description(
        `Original topics of a DLQ topic, DLQ topics of an original topic; those with the most messages first, ${maxCounterparts} at most.`,
      ),
    ),
    counts: statusCountsSchema,
    oldest_pending_at: v.pipe(time, v.description('The time of the oldest record of the topic that waits.')),
    found: v.pipe(
      v.nullable(
        v.strictObject({
          cluster: v.string(),
          display_name: v.nullable(v.string()),
          partitions: count,
          found_at: timestampText,
          gone_at: time,
        }),
      ),
      v.description('The topic as it was found in Kafka; null for an original topic.'),
    ),
    ingestion: v.pipe(
      v.nullable(
        v.strictObject({
          stored_at: time,
          read_to: v.nullable(v.string()),
          loss_clock: v.pipe(v.nullable(lossClockSchema), v.description('Null where the topic is gone from Kafka.')),
        }),
      ),
      v.description('The progress of a DLQ topic: read_to is the sum of its partitions’ positions.'),
    ),
    paused: v.pipe(v.nullable(topicPauseSchema), v.description('Somebody has paused its retries.')),
    ingestion_paused: v.pipe(v.nullable(topicPauseSchema), v.description('Somebody has paused its ingestion.')),
    faults: v.pipe(v.array(topicFaultSchema), v.description('What is wrong with a DLQ topic in Kafka.')),
    candidate: v.pipe(v.nullable(candidateSchema), v.description('Null unless the kind is candidate.')),
    policy: v.pipe(effectivePolicySchema, v.description('The policy in force, with the first counterpart.')),
  }),
  v.title('Topic'),
)

const exampleTopic = {
  topic: 'orders.dlq.v1',
  display_name: 'Order Events',
  kind: 'dlq',
  counterparts: ['orders.events.v1'],
  counts: exampleStatusCounts,
  oldest_pending_at: '2026-02-20T10:30:00.000+00:00',
  found: {
    cluster: 'bqzHLZgsR8ahKlMZHYcfLg',
    display_name: null,
    partitions: 8,
    found_at: '2026-01-01T00:00:00.000+00:00',
    gone_at: null,
  },
  ingestion: { stored_at: '2026-02-20T10:30:01.000+00:00', read_to: '4712', loss_clock: exampleLossClock },
  paused: exampleTopicPause,
  ingestion_paused: null,
  faults: [exampleTopicFault],
  candidate: null,
  policy: exampleEffectivePolicy,
}

/** The number of newest messages that are examined for the groups that failed lately. */
const examinedForGroups = 5000
const maxGroups = 1000
const maxTopicsPerGroup = 100

const kind = v.pipe(
  v.picklist(topicKinds, `must be one of ${topicKinds.join(', ')}`),
  v.description(
    'DLQ topics that were found in Kafka, original topics of the messages, or candidates: topics that look like DLQ topics and that nobody ingests.',
  ),
)

/** What the list is sorted by, topic and cluster; the cluster is empty for original topics. */
const topicKey = v.strictTuple([
  v.pipe(
    v.string(),
    v.regex(/^(-?\d+(\.\d+)?(e\+\d+)?|Infinity)$/),
    // PostgreSQL refuses numbers that a float8 cannot hold.
    v.check((rank) => rank === 'Infinity' || Number.isFinite(Number(rank))),
  ),
  keyParts.text,
  keyParts.text,
])

export const topicRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/api/v1/topics',
      summary: 'The topics of the dead letters',
      role: 'read',
      masks: 'shown',
      revalidates: true,
      query: v.strictObject({
        kind: v.optional(kind, 'dlq'),
        q: v.exactOptional(v.pipe(groupText(200), v.description('Text within the name, in any case.'))),
        sort: v.optional(
          v.pipe(
            v.picklist(topicSorts, `must be one of ${topicSorts.join(', ')}`),
            v.description('By name; by the number of messages, the most first; or what Kafka deletes unread first.'),
          ),
          'name',
        ),
        only: v.exactOptional(
          v.pipe(
            v.picklist(['losing', 'dismissed'], 'must be losing or dismissed'),
            v.description(
              'DLQ topics with records that are not stored and may expire, or that are lost; or candidates that somebody has dismissed, which are left out otherwise.',
            ),
          ),
        ),
        limit: v.optional(wholeNumber('limit', { min: 1, max: 200 }), '50'),
        cursor: v.exactOptional(v.string('must be given once')),
      }),
      answers: {
        200: {
          description: 'One page.',
          schema: v.strictObject({ topics: v.array(topicSchema), next_cursor: v.nullable(v.string()) }),
          example: { topics: [exampleTopic], next_cursor: null },
        },
      },
    },
    async (call) => {
      const { c, sql, access, query } = call
      const { kind, q, sort, only, limit, cursor } = query
      if ((only === 'dismissed') !== (kind === 'candidate') && only !== undefined)
        throw invalidField(
          'only',
          kind === 'candidate' ? 'candidates can be dismissed' : 'only candidates are dismissed',
        )
      if (kind === 'candidate' && sort !== 'name') throw invalidField('sort', 'candidates are sorted by name')
      if (kind === 'original' && sort === 'expires')
        throw invalidField('sort', 'only records of DLQ topics expire unread')
      if (kind === 'original' && only !== undefined) throw invalidField('only', 'only DLQ topics lose records')
      const binding = bindingOf('topics', kind, q, sort, only)
      const after = cursor === undefined ? null : decodeCursor(cursor, binding, topicKey)
      // One more than is shown, to know whether there are more.
      if (kind === 'candidate') {
        const place = after && { topic: after[1], cluster: after[2] }
        const asked = { scope: access.topics, q, dismissed: only === 'dismissed', after: place, limit: limit + 1 }
        const found = await listCandidates(sql, asked)
        const shown = found.slice(0, limit)
        const last = found.length > limit ? shown.at(-1)! : null
        return c.json({
          topics: await describeCandidates(call, shown),
          next_cursor: last && encodeCursor(['0', last.topic, last.cluster], binding),
        })
      }
      const asked = { scope: access.topics, q, sort, losing: only !== undefined, after, limit: limit + 1 }
      const found = await findTopics(sql, kind, asked)
      const shown = found.slice(0, limit)
      const last = found.length > limit ? shown.at(-1)! : null
      return c.json({
        topics: await describeTopics(call, kind, shown),
        next_cursor: last && encodeCursor([last.rank, last.topic, last.cluster ?? ''], binding),
      })
    },
  ),

  defineRoute(
    {
      method: 'get',
      path: '/api/v1/topics/:topic',
      summary: 'One topic',
      description: 'Without `kind`, the name of a known DLQ topic means that, and any other name an original topic.',
      role: 'read',
      masks: 'shown',
      params: topicPath,
      query: v.strictObject({ kind: v.exactOptional(kind) }),
      answers: { 200: { description: 'The topic.', schema: topicSchema, example: exampleTopic } },
      faults: ['SYS_DLQ_NOT_FOUND'],
    },
    async (call) => {
      const { c, sql, access, params, query } = call
      if (query.kind === 'candidate') {
        const found = await listCandidates(sql, { scope: access.topics, topics: [params.topic], limit: 1 })
        if (found.length === 0) throw new ApiError('SYS_DLQ_NOT_FOUND', `candidate not found: ${params.topic}`)
        return c.json((await describeCandidates(call, found))[0]!)
      }
      const one = await findTopic(sql, { ...params, kind: query.kind, scope: access.topics })
      if (!one) throw new ApiError('SYS_DLQ_NOT_FOUND', `topic not found: ${params.topic}`)
      return c.json((await describeTopics(call, one.kind, [one.found]))[0]!)
    },
  ),

  defineRoute(
    {
      method: 'get',
      path: '/api/v1/consumer-groups',
      summary: 'The consumer groups that failed',
      description: `Groups with the most open messages first, ${maxGroups} at most.`,
      role: 'read',
      masks: 'none',
      answers: {
        200: {
          description: 'The consumer groups; null stands for messages that do not name theirs.',
          schema: v.strictObject({
            consumer_groups: v.array(
              v.pipe(
                v.strictObject({
                  consumer_group: v.nullable(v.string()),
                  display_name: v.pipe(v.nullable(v.string()), v.description('The name that people gave it.')),
                  original_topics: v.pipe(v.array(v.string()), v.description(`${maxTopicsPerGroup} at most.`)),
                  counts: statusCountsSchema,
                  recent: v.pipe(count, v.description(`Of the newest ${examinedForGroups} messages.`)),
                  last_failed_at: v.pipe(
                    time,
                    v.description('The last failure among these messages; null where the group has none of them.'),
                  ),
                }),
                v.title('ConsumerGroup'),
              ),
            ),
          }),
          example: {
            consumer_groups: [
              {
                consumer_group: 'billing',
                display_name: 'Billing',
                original_topics: ['orders.events.v1'],
                counts: exampleStatusCounts,
                recent: 12,
                last_failed_at: '2026-02-20T10:30:00.000+00:00',
              },
            ],
          },
        },
      },
    },
    async ({ c, sql, log, names, access: { topics: scope } }) => {
      const [groups, recent] = await Promise.all([
        countByConsumerGroup(sql, { scope, limit: maxGroups }),
        countRecentFailures(sql, { scope, examine: examinedForGroups }),
        requireExactCounts({ sql, log }),
      ])
      const known = groups.flatMap(({ consumer_group: group }) => (group === null ? [] : [group]))
      const nameOf = await namesOf({ sql, names }, 'consumer_group', known)
      const recentOf = new Map(recent.map(({ consumer_group, ...rest }) => [consumer_group, rest]))
      return c.json({
        consumer_groups: groups.map(({ consumer_group, original_topics, ...counts }) => ({
          consumer_group,
          display_name: consumer_group === null ? null : nameOf(consumer_group),
          original_topics: original_topics.slice(0, maxTopicsPerGroup),
          counts,
          recent: recentOf.get(consumer_group)?.count ?? 0,
          last_failed_at: timestampOrNull(recentOf.get(consumer_group)?.last_failed_at),
        })),
      })
    },
  ),
]

type Describing = Pick<Call, 'sql' | 'log' | 'names' | 'policies' | 'access' | 'sight'>

async function describeCandidates({ sql, names, policies, sight }: Describing, found: readonly Candidate[]) {
  const topics = found.map(({ topic }) => topic)
  const [nameOf] = await Promise.all([namesOf({ sql, names }, 'topic', topics), policies.refresh()])
  return found.map((candidate) => {
    const { cluster, topic, partitions, found_at } = candidate
    const original = guessOriginalTopic(topic)
    return {
      ...{ topic, display_name: nameOf(topic), kind: 'candidate' as const, counterparts: [], counts: noMessages },
      ...{ oldest_pending_at: null, ingestion: null, paused: null, ingestion_paused: null, faults: [] },
      found: {
        ...{ cluster, display_name: nameOf(topic), partitions: partitions ?? 0 },
        ...{ found_at: timestamp(found_at), gone_at: null },
      },
      candidate: candidateJson(candidate, sight),
      policy: effectivePolicyJson(policies.effectivePolicyOf({ original_topic: original ?? topic, dlq_topic: topic })),
    }
  })
}

async function describeTopics(
  { sql, log, names, policies, access: { topics: scope }, sight }: Describing,
  kind: MessageTopicKind,
  found: readonly FoundTopic[],
) {
  const column = kind === 'dlq' ? 'dlq_topic' : 'original_topic'
  const topics = [...new Set(found.map(({ topic }) => topic))]
  const [counts, counterparts, oldest, lags, faults, pauses, nameOf] = await Promise.all([
    countByValue(sql, { column, values: topics, scope }),
    listCounterparts(sql, { column, topics, scope }),
    oldestPendingOf(sql, { column, topics, scope }),
    kind === 'dlq' ? listIngestLag(sql, { topics }) : [],
    kind === 'dlq' ? listTopicFaults(sql, { topics, scope }) : [],
    listTopicPauses(sql, { scope, topics }),
    namesOf({ sql, names }, 'topic', topics),
    requireExactCounts({ sql, log }),
    policies.refresh(),
  ])
  const lagOf = new Map(lags.map((lag) => [`${lag.cluster} ${lag.topic}`, lag]))
  const now = new Date()
  return found.map((entry) => {
    const { topic } = entry
    const others = counterparts.get(topic) ?? []
    const other = others[0] ?? null
    const policy = policies.effectivePolicyOf(
      kind === 'dlq'
        ? { original_topic: other ?? topic, dlq_topic: topic }
        : { original_topic: topic, dlq_topic: other },
    )
    return {
      topic,
      display_name: nameOf(topic),
      kind,
      counterparts: others.slice(0, maxCounterparts),
      counts: counts.get(topic) ?? noMessages,
      oldest_pending_at: timestampOrNull(oldest.get(topic)),
      ...(entry.cluster === null
        ? { found: null, ingestion: null }
        : foundJson(entry, { lag: lagOf.get(`${entry.cluster} ${topic}`), name: nameOf(topic), now })),
      paused: pauseOf(pauses, topic, { what: 'retries', sight }),
      ingestion_paused: pauseOf(pauses, topic, { what: 'ingestion', sight }),
      faults: faults.filter((of) => of.topic === topic && of.cluster === entry.cluster).map(topicFaultJson),
      candidate: null,
      policy: effectivePolicyJson(policy),
    }
  })
}

function foundJson(
  topic: DlqTopic,
  { lag, name, now }: { lag: IngestLag | undefined; name: string | null; now: Date },
) {
  const { cluster, partitions, found_at, gone_at, stored_at, read_to } = topic
  return {
    found: {
      cluster,
      display_name: name,
      partitions,
      found_at: timestamp(found_at),
      gone_at: timestampOrNull(gone_at),
    },
    ingestion: {
      stored_at: timestampOrNull(stored_at),
      read_to: read_to === null ? null : String(read_to),
      loss_clock: lag ? lossClockJson(lag, now) : null,
    },
  }
}

/** Null also for a time that a Date cannot hold, because a record may have any. */
function timestampOrNull(time: Date | null | undefined): string | null {
  return time && !Number.isNaN(time.getTime()) ? timestamp(time) : null
}
