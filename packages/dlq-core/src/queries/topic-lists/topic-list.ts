// dlq_topics, dlq_positions and the summary: the list of topics for people, by name, by messages, or by what expires first.

import { escapeLike } from '../../domain/message/message-filter.ts'
import { ingestLags } from '../ingest/topic-partitions.ts'
import { lines } from '../reading/summary.ts'
import type { Sql } from '../sql.ts'
import { countInScope, type TopicScope, topicInScope } from '../topic-scope.ts'

export type DlqTopic = {
  cluster: string
  topic: string
  partitions: number
  found_at: Date
  gone_at: Date | null
  /** When a message was last stored. Null before the first one. */
  stored_at: Date | null
  /** The sum of the positions of all partitions. Null before the first one. */
  read_to: bigint | null
}

export const topicSorts = ['name', 'dead', 'pending', 'expires'] as const
export type TopicSort = (typeof topicSorts)[number]

/** A topic's place in the list: its rank as text, its name and its cluster, which is empty for an original topic. */
export type TopicPlace = readonly [rank: string, topic: string, cluster: string]

type Asked = {
  scope: TopicScope
  /** Text within the name, in any case. */
  q?: string | undefined
  /** Exactly this one. */
  topic?: string | undefined
  sort?: TopicSort
  after: TopicPlace | null
  limit: number
}

/** The DLQ topics behind `after`. `losing`: only those with records that wait and may expire, or are lost. */
export async function listDlqTopics(
  sql: Sql,
  { scope, q, topic, sort = 'name', losing = false, after, limit }: Asked & { losing?: boolean },
): Promise<(DlqTopic & { rank: string })[]> {
  const lags = losing || sort === 'expires'
  const rank =
    sort === 'expires' ? sql`coalesce(extract(epoch from lags.expires_at)::float8, 'Infinity')` : rankOf(sql, sort)
  return sql<(DlqTopic & { rank: string })[]>`
    with ranked as materialized (
      select t.*, ${rank} as rank
      from dlq.dlq_topics t
      ${isCount(sort) ? countsJoin(sql, scope) : sql``}
      ${lags ? sql`left join (${ingestLags(sql, { scope })}) lags on lags.cluster = t.cluster and lags.topic = t.topic` : sql``}
      where ${topicInScope(sql, scope, 't.topic')} and ${named(sql, sql`t.topic`, { q, topic })}
        ${losing ? sql`and (lags.lost > 0 or (lags.lag > 0 and lags.expires_at is not null))` : sql``}
    )
    select t.cluster, t.topic, t.partitions, t.found_at, t.gone_at, p.stored_at, p.read_to, t.rank::text as rank
    from ranked t
    left join lateral (
      select max(updated_at) as stored_at, sum(next_offset)::bigint as read_to
      from dlq.dlq_positions p where p.cluster = t.cluster and p.topic = t.topic
    ) p on true
    ${after === null ? sql`` : sql`where (t.rank, t.topic, t.cluster) > (${after[0]}::text::float8, ${after[1]}, ${after[2]})`}
    order by t.rank, t.topic, t.cluster
    limit ${limit}`
}

/** The original topics behind `after` that have messages. */
export async function listOriginalTopics(
  sql: Sql,
  { scope, q, topic, sort = 'name', after, limit }: Asked,
): Promise<{ topic: string; rank: string }[]> {
  return sql<{ topic: string; rank: string }[]>`
    with ranked as materialized (
      select t.topic, ${rankOf(sql, sort)} as rank
      from (select original_topic as topic, ${byRank(sql)}
            from ${lines(sql)}
            where ${countInScope(sql, scope, 'line')} and ${named(sql, sql`original_topic`, { q, topic })}
            group by original_topic having sum(count) > 0) t
    )
    select topic, rank::text as rank from ranked t
    ${after === null ? sql`` : sql`where (t.rank, t.topic) > (${after[0]}::text::float8, ${after[1]})`}
    order by t.rank, t.topic
    limit ${limit}`
}

function isCount(sort: TopicSort): sort is 'dead' | 'pending' {
  return sort === 'dead' || sort === 'pending'
}

/** Ascending: the greatest count comes first. */
function rankOf(sql: Sql, sort: TopicSort) {
  return isCount(sort) ? sql`-coalesce(${sql(sort)}, 0)` : sql`0::float8`
}

function byRank(sql: Sql) {
  return sql`
    coalesce(sum(count) filter (where status = 'DEAD'), 0)::float8 as dead,
    coalesce(sum(count) filter (where status = 'PENDING'), 0)::float8 as pending`
}

/** The counts of the DLQ topics `t`. */
function countsJoin(sql: Sql, scope: TopicScope) {
  return sql`
    left join (
      select dlq_topic, ${byRank(sql)} from ${lines(sql)}
      where ${countInScope(sql, scope, 'line')} group by dlq_topic
    ) counts on counts.dlq_topic = t.topic`
}

function named(sql: Sql, column: ReturnType<Sql>, { q, topic }: Pick<Asked, 'q' | 'topic'>) {
  return sql`
    ${q === undefined ? sql`true` : sql`${column} ilike ${`%${escapeLike(q)}%`}`}
    ${topic === undefined ? sql`` : sql`and ${column} = ${topic}`}`
}
