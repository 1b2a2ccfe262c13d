// Who may see only some topics. The bound is part of every query's where-clause: what is filtered
// afterwards has been counted, paged and locked already.

import { likePattern } from '../message-filter.ts'
import type { Sql } from './sql.ts'

/** Globs (`*` any text, `?` one character) that the original topic or the DLQ topic matches; null: every topic. */
export type TopicScope = readonly string[] | null

/** A condition on a row that has original_topic and dlq_topic; `prefix` is "m." where the table is called m. */
export function inScope(sql: Sql, scope: TopicScope, prefix = '') {
  if (scope === null) return sql`true`
  const patterns = sql.array(scope.map(likePattern))
  return sql`(${sql(`${prefix}original_topic`)} like any(${patterns}::text[]) or ${sql(`${prefix}dlq_topic`)} like any(${patterns}::text[]))`
}

/** A condition on one column that holds a topic's name. */
export function topicInScope(sql: Sql, scope: TopicScope, column: string) {
  if (scope === null) return sql`true`
  return sql`${sql(column)} like any(${sql.array(scope.map(likePattern))}::text[])`
}
