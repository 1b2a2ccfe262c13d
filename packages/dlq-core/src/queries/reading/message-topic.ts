// Finds the column that a topic's name refers to, and the names that a glob matches.

import { matchesTopicGlobs } from '../../domain/failure/topic-globs.ts'
import { isTopicGlob, topicColumn } from '../../domain/message/message-filter.ts'
import { isDlqTopic } from '../ingest/topics.ts'
import { looseIndexScan } from '../loose-index-scan.ts'
import type { Sql } from '../sql.ts'
import { sqlWords, toQuery } from '../sql-text.ts'

export type TopicCondition = {
  column: 'dlq_topic' | 'original_topic'
  /** The names to look up. Null where a glob may match many names. */
  names: readonly string[] | null
  /** Set where `names` is null. */
  glob: string | null
}

/** At most this number of topics is looked up one by one. A glob that matches more is tested on each row. */
const maxNames = 16

/**
 * The name of a known DLQ topic finds the messages that were read from it. Any other name finds the messages of that
 * original topic. Each uses one index, never an OR. `literally`: `*` and `?` in the name are no wildcards.
 */
export async function resolveTopic(sql: Sql, topic: string, { literally = false } = {}): Promise<TopicCondition> {
  if (literally || !isTopicGlob(topic)) {
    const column = (await isDlqTopic(sql, topic)) ? 'dlq_topic' : 'original_topic'
    return { column, names: [topic], glob: null }
  }
  const column = topicColumn(topic, false)
  // A message that was reported by HTTP may have a DLQ topic that was never found in Kafka, so the names come from
  // the messages themselves.
  const names = (await listStoredTopics(sql, column)).filter((name) => matchesTopicGlobs(topic, name))
  return names.length <= maxNames ? { column, names, glob: null } : { column, names: null, glob: topic }
}

/** The topics in this column of the messages, in the order of their names. */
export async function listStoredTopics(sql: Sql, column: TopicCondition['column']): Promise<string[]> {
  const stored = looseIndexScan({ column, where: sqlWords('true') })
  const rows = await sql<{ topic: string }[]>`select ${sql(column)} as topic from (${toQuery(sql, stored)}) stored`
  return rows.map(({ topic }) => topic)
}
