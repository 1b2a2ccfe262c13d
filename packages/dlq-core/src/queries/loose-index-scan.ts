// The distinct original topics of dlq_messages, or of another table, by a loose index scan: PostgreSQL steps along an index
// from one topic to the next. The cost grows with the number of topics and partitions, and not with that of messages.
// https://wiki.postgresql.org/wiki/Loose_indexscan

import { joinSql, type SqlText, sqlText, sqlWords } from './sql-text.ts'

export type TopicWalk = {
  /** The condition on a row m. It implies the condition of the index, and equates the columns before the topic. */
  where: SqlText
  /** Further columns of the row that represents its topic … */
  columns?: readonly string[]
  /** … which is the first one by these columns. They follow the topic in the index. */
  firstBy?: readonly string[]
  /** It has an index for this walk. */
  table?: 'dlq.dlq_messages' | 'dlq.dlq_messages_archive' | 'dlq.dlq_group_retries'
}

/** A query with one row for each topic, in the order of their names: the topic, and the further columns. */
export function looseIndexScan({ where, columns = [], firstBy = [], table = 'dlq.dlq_messages' }: TopicWalk): SqlText {
  const names = sqlWords(['original_topic', ...columns].join(', '))
  const selected = sqlWords(['original_topic', ...columns].map((name) => `m.${name}`).join(', '))
  const order = sqlWords(['original_topic', ...firstBy].map((name) => `m.${name}`).join(', '))
  const firstWhere = (conditions: readonly SqlText[]) =>
    sqlText`select ${selected} from ${sqlWords(table)} m where ${joinSql(conditions, ' and ')} order by ${order} limit 1`
  return sqlText`
    with recursive walk as (
      (${firstWhere([where])})
      union all
      select next.* from walk cross join lateral (${firstWhere([where, sqlText`m.original_topic > walk.original_topic`])}) next
    )
    select ${names} from walk`
}
