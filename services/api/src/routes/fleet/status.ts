// The state of the whole fleet in one answer.

import { type IngestLag, listIngestLag } from 'dlq-core/queries/ingest/topic-partitions.ts'
import { countActivity, oldestWaiting } from 'dlq-core/queries/reading/activity.ts'
import { readFleetStatus } from 'dlq-core/queries/reading/status.ts'
import { countByConsumer } from 'dlq-core/queries/reading/summary.ts'
import { pausables } from 'dlq-core/queries/retry/topic-pauses.ts'
import * as v from 'valibot'
import { requireExactCounts } from '../../fleet/exact-counts.ts'
import { exampleLossClock, lossClockJson, lossClockSchema } from '../../fleet/loss-clock.ts'
import { exampleStatusCounts, statusCountsSchema } from '../../fleet/totals-json.ts'
import { defineRoute } from '../../http/define-route.ts'
import { count } from '../../messages/message-json.ts'
import { timestamp, timestampText } from '../../messages/timestamp.ts'
import { exampleTopicPause, shownPauseJson, topicPauseSchema } from '../../pauses/pause-json.ts'

const maxLines = 1000
/** Of the topics with most open messages, in which the oldest one is looked for. */
const maxLookedInto = 5000

const timeSchema = v.nullable(timestampText)

const statusSchema = v.pipe(
  v.strictObject({
    counts: statusCountsSchema,
    oldest_pending_at: timeSchema,
    topics: v.pipe(
      v.array(
        v.strictObject({
          original_topic: v.string(),
          consumer_group: v.nullable(v.string()),
          counts: statusCountsSchema,
          oldest_pending_at: timeSchema,
        }),
      ),
      v.description('The 1000 with the most open messages; `counts` of the answer are those of all.'),
    ),
    ingest: v.strictObject({ per_minute: count }),
    retry: v.strictObject({
      per_minute: v.number(),
      refused_per_minute: v.number(),
      success_rate: v.nullable(v.number()),
    }),
    summary: v.pipe(
      v.nullable(v.strictObject({ counted_at: timestampText, drift: count, unfolded: count })),
      v.description('Of all topics together, so null for a token that is limited to some.'),
    ),
    loss_clock: v.pipe(
      v.array(v.strictObject({ cluster: v.string(), topic: v.string(), ...lossClockSchema.entries })),
      v.description(
        'The DLQ topics whose records wait or are lost; first those that expire first, then those furthest behind.',
      ),
    ),
    dlq_topics: count,
    stored_at: v.pipe(timeSchema, v.description('When the last message was stored.')),
    takes_changes: v.pipe(
      v.boolean(),
      v.description('Whether PostgreSQL takes changes. Not where it is a standby, or was made read-only.'),
    ),
    paused_groups: v.pipe(count, v.description('Error groups whose automatic retries are paused.')),
    paused_topics: v.pipe(
      v.array(v.strictObject({ topic: v.string(), what: v.picklist(pausables), ...topicPauseSchema.entries })),
      v.description('Topics that somebody has paused; the thousand that have been paused longest.'),
    ),
    held_topics: v.pipe(
      v.array(v.strictObject({ topic: v.string(), reason: v.string(), since: timestampText })),
      v.description(
        'Topics that are only probed, because records for them are refused in a row, or Kafka cannot take them now.',
      ),
    ),
    ingesters: v.pipe(
      v.array(
        v.pipe(
          v.strictObject({
            id: v.string(),
            partitions: v.pipe(
              v.array(v.strictObject({ cluster: v.string(), topic: v.string(), partition: count, lag: count })),
              v.description('What Kafka has given it to read, 1000 at most; of the topics that the token may see.'),
            ),
            lag: v.pipe(count, v.description('The records of its partitions that are not stored yet.')),
            fault: v.pipe(v.nullable(v.string()), v.description('Why it does not read or store now.')),
            started_at: timestampText,
            seen_at: timestampText,
          }),
          v.title('Ingester'),
        ),
      ),
      v.description(
        'Seen within the last minute. A fault may name any topic: a token that is limited to some sees none.',
      ),
    ),
    retriers: v.pipe(
      v.array(
        v.strictObject({
          id: v.string(),
          publishes: v.picklist(['exactly-once', 'at-least-once', 'resolve', 'nothing']),
          fault: v.nullable(v.string()),
          started_at: timestampText,
          seen_at: timestampText,
        }),
      ),
      v.description('A fault may name any topic: a token that is limited to some sees none.'),
    ),
  }),
  v.title('Status'),
)

export const statusRoutes = [
  defineRoute(
    {
      method: 'get',
      path: '/api/v1/status',
      summary: 'Counts by topic, consumer group and status; ages and rates',
      description: [
        `At most ${maxLines} topics and consumer groups, those with most open messages first. \`counts\` are those of all.`,
        '`oldest_pending_at` is the time of the oldest record of the topic that waits, whatever its consumer group; null where',
        'the consumer group has none that waits.',
        '`success_rate`: of the retries of the last five minutes, the share that was not refused and has not failed again',
        'so far. Rates look at 100,000 rows at most; for a token that is limited, at 10,000 of what applications handle themselves.',
      ].join(' '),
      role: 'read',
      masks: 'shown',
      revalidates: true,
      answers: {
        200: {
          description: 'The status.',
          schema: statusSchema,
          example: {
            counts: exampleStatusCounts,
            oldest_pending_at: '2026-02-20T10:30:00.000+00:00',
            topics: [
              {
                original_topic: 'orders',
                consumer_group: 'billing',
                counts: exampleStatusCounts,
                oldest_pending_at: '2026-02-20T10:30:00.000+00:00',
              },
            ],
            ingest: { per_minute: 240 },
            retry: { per_minute: 61.4, refused_per_minute: 0, success_rate: 0.93 },
            summary: { counted_at: '2026-02-20T02:00:00.000+00:00', drift: 0, unfolded: 12 },
            loss_clock: [{ cluster: 'bqzHLZgsR8ahKlMZHYcfLg', topic: 'orders.dlq.v1', ...exampleLossClock }],
            dlq_topics: 12,
            stored_at: '2026-02-20T10:30:01.000+00:00',
            takes_changes: true,
            paused_groups: 0,
            paused_topics: [{ topic: 'orders', what: 'retries', ...exampleTopicPause }],
            held_topics: [
              {
                topic: 'payments',
                reason: 'payments: the retrier may not write to the topic (ACL: Write on the topic)',
                since: '2026-02-20T10:29:00.000+00:00',
              },
            ],
            ingesters: [
              {
                id: 'ingester-0-7-1c9e5a3c',
                partitions: [{ cluster: 'bqzHLZgsR8ahKlMZHYcfLg', topic: 'orders.dlq.v1', partition: 0, lag: 3 }],
                lag: 3,
                fault: null,
                started_at: '2026-02-20T08:00:00.000+00:00',
                seen_at: '2026-02-20T10:30:01.000+00:00',
              },
            ],
            retriers: [
              {
                id: 'retrier-7f9c',
                publishes: 'exactly-once',
                fault: null,
                started_at: '2026-02-20T08:00:00.000+00:00',
                seen_at: '2026-02-20T10:30:02.000+00:00',
              },
            ],
          },
        },
      },
    },
    async (call) => {
      const { c, sql, access } = call
      const state = await requireExactCounts(call)
      const [
        { counts: lines, totals },
        activity,
        lags,
        { retriers, ingesters, stored_at, paused_topics, held_topics, ...fleet },
      ] = await Promise.all([
        countByConsumer(sql, { scope: access.topics, limit: maxLookedInto }),
        countActivity(sql, { scope: access.topics }),
        listIngestLag(sql, { scope: access.topics }),
        readFleetStatus(sql, { scope: access.topics }),
      ])
      const waiting = lines.filter(({ PENDING }) => PENDING > 0).map(({ original_topic }) => original_topic)
      const oldest = await oldestWaiting(sql, {
        status: 'PENDING',
        topics: [...new Set(waiting)],
        scope: access.topics,
      })
      const tried = activity.published + activity.resolved + activity.failed
      return c.json({
        counts: totals,
        oldest_pending_at: earliest([...oldest.values()]),
        topics: lines.slice(0, maxLines).map(({ original_topic, consumer_group, ...counts }) => ({
          original_topic,
          consumer_group,
          counts,
          oldest_pending_at: counts.PENDING === 0 ? null : earliest([oldest.get(original_topic) ?? []].flat()),
        })),
        ingest: { per_minute: activity.ingested },
        retry: {
          per_minute: (activity.published + activity.resolved) / 5,
          refused_per_minute: activity.failed / 5,
          success_rate: tried === 0 ? null : (tried - activity.failed - activity.failed_again) / tried,
        },
        summary:
          access.topics === null
            ? { counted_at: timestamp(state.counted_at!), drift: state.drift, unfolded: state.deltas }
            : null,
        loss_clock: lossClocks(lags, new Date()),
        ...fleet,
        stored_at: stored_at && timestamp(stored_at),
        paused_topics: paused_topics.map((pause) => ({
          ...{ topic: pause.topic, what: pause.what, ...shownPauseJson(pause, call.sight) },
        })),
        held_topics: held_topics.map((held) => ({ ...held, since: timestamp(held.since) })),
        ingesters: ingesters.map(({ started_at, seen_at, ...ingester }) => ({
          ...ingester,
          fault: access.topics === null ? ingester.fault : null,
          started_at: timestamp(started_at),
          seen_at: timestamp(seen_at),
        })),
        retriers: retriers.map(({ started_at, seen_at, ...retrier }) => ({
          ...retrier,
          fault: access.topics === null ? retrier.fault : null,
          started_at: timestamp(started_at),
          seen_at: timestamp(seen_at),
        })),
      })
    },
  ),
]

/** Far in the future, so that topics without expiry come last. */
const never = new Date(8.64e15)

function lossClocks(lags: readonly IngestLag[], now: Date) {
  return lags
    .filter(({ lag, lost }) => lag > 0n || lost > 0n)
    .toSorted((a, b) => +(a.expires_at ?? never) - +(b.expires_at ?? never) || Number(b.lag - a.lag))
    .slice(0, maxLines)
    .map((line) => ({ cluster: line.cluster, topic: line.topic, ...lossClockJson(line, now) }))
}

function earliest(times: readonly Date[]): string | null {
  if (times.length === 0) return null
  return timestamp(new Date(Math.min(...times.map((time) => time.getTime()))))
}
