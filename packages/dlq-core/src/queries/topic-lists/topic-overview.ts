// dlq_positions and dlq_messages: the overview of topics for people. The list of topics: topic-list.ts.

import { lastFailedAt } from '../failed-at.ts'
import { scanMessages } from '../reading/message-scan.ts'
import { rowsOf } from '../reading/message-search.ts'
import { newestSeen } from '../reading/newest-seen.ts'
import { ofKind, pairsWith } from '../reading/topics-with.ts'
import { type Sql, toArray } from '../sql.ts'
import { sqlText, toQuery } from '../sql-text.ts'
import { messageInScope, passesRoute, type TopicScope, topicInScope } from '../topic-scope.ts'
import { topicWithin } from '../topic-within.ts'

/** The first message in the scope, and of the DLQ topic, is looked for among this number of a topic's messages. */
const maxLookedThrough = 10_000

/**
 * The time of the oldest record of each topic, in the scope, whose message is PENDING: as oldestWaiting() says it of
 * original topics, so that a backlog that was stored a moment ago is as old in one list as in the other. A topic is
 * missing where ten thousand older messages of the original topic are outside the scope, or of other DLQ topics;
 * claims of others that their route holds are not among these.
 */
export async function oldestPendingOf(
  sql: Sql,
  { column, topics, scope }: { column: 'dlq_topic' | 'original_topic'; topics: readonly string[]; scope: TopicScope },
): Promise<Map<string, Date>> {
  const ofOriginals = sqlText`
    select topic, topic as original_topic, 'PENDING' as status from unnest(${toArray(topics)}::text[]) topic`
  const kinds = column === 'dlq_topic' ? pairsWith({ status: 'PENDING', dlqTopics: topics }) : ofOriginals
  const limit = column === 'original_topic' && scope === null ? 1 : maxLookedThrough
  const ofTopic = column === 'dlq_topic' ? sql`m.dlq_topic = kind.topic` : sql`true`
  const passes = column === 'dlq_topic' ? sql`(not m.held_by_route or ${ofTopic})` : passesRoute(sql, scope)
  const rows = await sql<{ topic: string; since: Date }[]>`
    select distinct on (topic) topic, oldest.since
    from (${toQuery(sql, kinds)}) kind
    cross join lateral (
      -- The order of the index in both, so that it is read up to the first one that passes.
      select m.id, least(m.created_at, m.record_timestamp) as since from (
        select m.id, m.created_at, m.record_timestamp, m.original_topic, m.status, m.dlq_topic, m.held_by_route, m.record_source
        from dlq.dlq_messages m
        where ${toQuery(sql, ofKind)} and ${passes}
        order by m.original_topic, m.status, m.id limit ${limit}
      ) m
      where ${messageInScope(sql, scope, 'm.')} and ${ofTopic}
      order by m.original_topic, m.status, m.id limit 1
    ) oldest
    order by topic, oldest.id`
  return new Map(rows.map(({ topic, since }) => [topic, since]))
}

export type RecentFailures = { consumer_group: string | null; count: number; last_failed_at: Date }

/** The consumer groups in which the newest `examine` messages failed, of those that the caller may see. */
export async function countRecentFailures(
  sql: Sql,
  { scope, examine }: { scope: TopicScope; examine: number },
): Promise<RecentFailures[]> {
  const topic = await topicWithin(sql, { filter: {}, topic: null, scope })
  const scan = scanMessages(sql, { search: { filter: {}, topic, scope, sort: 'newest' } })
  const { ids } = newestSeen(sql, { scan, scope, examine })
  const rows = scope === null ? scan.rows(examine) : rowsOf(sql, { table: scan.table, ids })
  return sql<RecentFailures[]>`
    with newest as materialized (select m.consumer_group, ${lastFailedAt(sql)} as last_failed_at from ${rows} m)
    select consumer_group, count(*)::int as count, max(last_failed_at) as last_failed_at
    from newest
    group by consumer_group`
}

export type Position = {
  cluster: string
  topic: string
  partition: number
  generation: number
  next_offset: bigint
  updated_at: Date
}

/** The position of each partition, of one topic or of all. */
export async function listAllPositions(
  sql: Sql,
  {
    scope,
    topic,
    after,
    limit,
  }: {
    scope: TopicScope
    topic: string | undefined
    after: Pick<Position, 'cluster' | 'topic' | 'partition'> | null
    limit: number
  },
): Promise<Position[]> {
  return sql<Position[]>`
    select cluster, topic, partition, generation, next_offset, updated_at
    from dlq.dlq_positions
    where ${topicInScope(sql, scope, 'topic')}
      ${topic === undefined ? sql`` : sql`and topic = ${topic}`}
      ${after === null ? sql`` : sql`and (cluster, topic, partition) > (${after.cluster}, ${after.topic}, ${after.partition})`}
    order by cluster, topic, partition
    limit ${limit}`
}
