// What a filter's topic means to a caller who sees only some. Scans go along the topics that have messages for them, so
// they neither pass over the messages of others nor tell how many these are.

import type { MessageFilter } from '../domain/message/message-filter.ts'
import { lines } from './reading/summary.ts'
import type { Sql } from './sql.ts'
import type { TopicCondition } from './topic-condition.ts'
import { inScope, type TopicScope } from './topic-scope.ts'

/** A scan along more topics costs more than it saves. */
const maxOwnTopics = 16

/** Fields that a scan goes along, rather than along the caller's topics. */
const narrow = ['key', 'group_id', 'from', 'to', 'archived'] as const satisfies readonly (keyof MessageFilter)[]

/**
 * The condition with those of its names that have messages in the scope. Without one: the original topics that have some,
 * where they are few. Until the first full count has ended, nobody knows, and nothing is left out.
 */
export async function topicWithin(
  sql: Sql,
  { filter, topic, scope }: { filter: MessageFilter; topic: TopicCondition | null; scope: TopicScope },
): Promise<TopicCondition | null> {
  if (scope === null || filter.archived) return topic
  if (topic !== null) {
    if (topic.names === null || topic.names.length === 0) return topic
    const names = await namesWithin(sql, { column: topic.column, among: topic.names, scope })
    return names === null ? topic : { ...topic, names }
  }
  if (narrow.some((field) => filter[field] !== undefined)) return null
  const names = await namesWithin(sql, { column: 'original_topic', among: null, scope })
  return names === null || names.length > maxOwnTopics ? null : { column: 'original_topic', names, glob: null }
}

async function namesWithin(
  sql: Sql,
  { column, among, scope }: Pick<TopicCondition, 'column'> & { among: readonly string[] | null; scope: TopicScope },
): Promise<string[] | null> {
  const rows = await sql<{ counted: boolean; name: string | null }[]>`
    select state.counted_at is not null as counted, found.name
    from (select max(counted_at) as counted_at from dlq.dlq_summary_state) state
    left join (
      select ${sql(column)} as name
      from ${lines(sql)}
      where ${inScope(sql, scope)} ${among === null ? sql`` : sql`and ${sql(column)} = any(${sql.array([...among])}::text[])`}
      group by ${sql(column)}
      having sum(count) > 0
      order by ${sql(column)}
      limit ${among?.length ?? maxOwnTopics + 1}
    ) found on true`
  return rows[0]!.counted ? rows.flatMap(({ name }) => name ?? []) : null
}
