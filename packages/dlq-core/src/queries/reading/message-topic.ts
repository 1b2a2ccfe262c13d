// Finds the column that a topic's name refers to, and the names that a glob matches.

import { matchesTopicGlobs } from '../../domain/failure/topic-globs.ts'
import { isTopicGlob, topicColumn } from '../../domain/message/message-filter.ts'
import { isDlqTopic } from '../ingest/topics.ts'
import { looseIndexScan } from '../loose-index-scan.ts'
import type { Sql } from '../sql.ts'
import { sqlWords, toQuery } from '../sql-text.ts'
import type { TopicCondition } from '../topic-condition.ts'
import { lines } from './summary.ts'

/** This number of rows of other DLQ topics is passed over in ten milliseconds. */
const maxPassedOver = 5000

/** At most this number of topics is looked up one by one. A glob that matches more is tested on each row. */
const maxNames = 16

/**
 * The name of a known DLQ topic finds the messages that were read from it. Any other name finds the messages of that
 * original topic. Each uses one index, never an OR. `literally`: `*` and `?` in the name are no wildcards. `archived`: for
 * messages of the archive, which has topics that no live message has any more.
 */
export async function resolveTopic(
  sql: Sql,
  topic: string,
  { literally = false, archived = false }: { literally?: boolean; archived?: boolean | undefined } = {},
): Promise<TopicCondition> {
  if (literally || !isTopicGlob(topic)) {
    const column = (await isDlqTopic(sql, topic)) ? 'dlq_topic' : 'original_topic'
    return withMixed(sql, { column, names: [topic], glob: null })
  }
  const column = topicColumn(topic, false)
  // Nothing counts the archive, and no index of it begins with the DLQ topic, so each row is tested.
  if (archived && column === 'dlq_topic') return { column, names: null, glob: topic }
  // A message that was reported by HTTP may have a DLQ topic that was never found in Kafka, so the names come from
  // the messages themselves.
  const stored = archived
    ? await listOriginalTopics(sql, 'dlq.dlq_messages_archive')
    : await listStoredTopics(sql, column)
  const names = stored.filter((name) => matchesTopicGlobs(topic, name))
  return names.length <= maxNames ? withMixed(sql, { column, names, glob: null }) : { column, names: null, glob: topic }
}

/** Until the first full count has ended, nobody knows, so each row is tested. */
async function withMixed(sql: Sql, topic: TopicCondition & { names: readonly string[] }): Promise<TopicCondition> {
  if (topic.column === 'original_topic' || topic.names.length === 0) return topic
  const named = sql`dlq_topic = any(${sql.array([...topic.names])}::text[])`
  const [row] = await sql<[{ mixed: boolean }]>`
    select (select counted_at from dlq.dlq_summary_state) is null or coalesce(sum(count), 0) > ${maxPassedOver} as mixed
    from ${lines(sql)}
    where original_topic in (select original_topic from ${lines(sql)} where ${named}) and (${named}) is not true`
  return { ...topic, isMixed: row.mixed }
}

/** The topics in this column of the messages, in the order of their names. */
export async function listStoredTopics(sql: Sql, column: TopicCondition['column']): Promise<string[]> {
  return column === 'dlq_topic' ? listStoredDlqTopics(sql) : listOriginalTopics(sql, 'dlq.dlq_messages')
}

async function listOriginalTopics(sql: Sql, table: 'dlq.dlq_messages' | 'dlq.dlq_messages_archive'): Promise<string[]> {
  const stored = looseIndexScan({ where: sqlWords('true'), table })
  const rows = await sql<{ topic: string }[]>`select original_topic as topic from (${toQuery(sql, stored)}) stored`
  return rows.map(({ topic }) => topic)
}

/** No index begins with the DLQ topic. Until the first full count has ended, those that Kafka has, or had, come with them. */
async function listStoredDlqTopics(sql: Sql): Promise<string[]> {
  const rows = await sql<{ topic: string }[]>`
    select dlq_topic as topic from ${lines(sql)} where dlq_topic is not null group by dlq_topic having sum(count) > 0
    union
    select topic from dlq.dlq_topics where (select counted_at from dlq.dlq_summary_state) is null
    order by topic`
  return rows.map(({ topic }) => topic)
}
