// Which column a topic's name means, and which names a glob stands for.

import { isTopicGlob, topicColumn } from '../message-filter.ts'
import { matchesTopicGlobs } from '../topic-names.ts'
import type { Sql } from './sql.ts'
import { isDlqTopic } from './topics.ts'

export type TopicCondition = {
  column: 'dlq_topic' | 'original_topic'
  /** The names to look up; null where a glob stands for names that are not known to be few. */
  names: readonly string[] | null
  /** Set where `names` is null. */
  glob: string | null
}

/** So many topics are looked up one by one; a glob that stands for more tests each row. */
const maxNames = 16

/** `literally`: the name holds no wildcards, whatever it looks like. A known DLQ topic means what was read from it; any other name, what came from there. One index each, never an OR. */
export async function resolveTopic(sql: Sql, topic: string, { literally = false } = {}): Promise<TopicCondition> {
  if (literally || !isTopicGlob(topic)) {
    const column = (await isDlqTopic(sql, topic)) ? 'dlq_topic' : 'original_topic'
    return { column, names: [topic], glob: null }
  }
  const column = topicColumn(topic, false)
  // A row's DLQ topic may be one that was never found in Kafka (a message reported over HTTP), so only what is
  // stored in the messages themselves counts.
  const names = (await listStoredTopics(sql, column)).filter((name) => matchesTopicGlobs(topic, name))
  return names.length <= maxNames ? { column, names, glob: null } : { column, names: null, glob: topic }
}

/** The topics that messages have in the column: from name to name along its index, not row by row. */
export async function listStoredTopics(sql: Sql, column: TopicCondition['column']): Promise<string[]> {
  const name = sql(column)
  const rows = await sql<{ topic: string }[]>`
    with recursive stored as (
      (select ${name} as topic from dlq.dlq_messages where ${name} is not null order by ${name} limit 1)
      union all
      select (select m.${name} from dlq.dlq_messages m where m.${name} > s.topic order by m.${name} limit 1)
      from stored s where s.topic is not null
    )
    select topic from stored where topic is not null`
  return rows.map(({ topic }) => topic)
}
