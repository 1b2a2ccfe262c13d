// The topics that a caller may see. Every query has this condition in its where-clause, because rows that are filtered
// afterwards have already been counted, paged and locked.

import { likePattern } from '../domain/message/message-filter.ts'
import { isClosed, isClosedNow } from './routes/closed-routes.ts'
import type { Sql } from './sql.ts'

/** Globs (`*` any text, `?` one character) that the original topic or the DLQ topic matches; null: every topic. */
export type TopicScope = readonly string[] | null

/** A condition on a row with original_topic and dlq_topic. `prefix` is "m." where the table's alias is m. */
export function inScope(sql: Sql, scope: TopicScope, prefix = '') {
  if (scope === null) return sql`true`
  const patterns = sql.array(scope.map(likePattern))
  return sql`(${sql(`${prefix}original_topic`)} like any(${patterns}::text[]) or ${sql(`${prefix}dlq_topic`)} like any(${patterns}::text[]))`
}

/**
 * A condition on a row of dlq_messages or its archive. A message belongs to its DLQ topic, and to its original topic
 * where the DLQ topic may speak for that. Bytes that were fetched from the original topic are for those who see both.
 */
export function messageInScope(sql: Sql, scope: TopicScope, prefix = '') {
  if (scope === null) return sql`true`
  const column = (name: string) => sql(`${prefix}${name}`)
  const patterns = sql.array(scope.map(likePattern))
  const sees = (name: string) => sql`${column(name)} like any(${patterns}::text[])`
  return sql`(
    (${sees('dlq_topic')} or (${sees('original_topic')} and not ${isClosedNow(sql, prefix)}))
    and (${column('record_source')} = 'dlq' or (${sees('dlq_topic')} and ${sees('original_topic')})))`
}

/**
 * A part of `messageInScope` for a walk that ends after so many rows: claims of others, whose number and times their
 * writer chooses, must not be what it ends among. Of a row m.
 */
export function passesRoute(sql: Sql, scope: TopicScope) {
  if (scope === null) return sql`true`
  return sql`(not m.held_by_route or m.dlq_topic like any(${sql.array(scope.map(likePattern))}::text[]))`
}

/** `messageInScope` of counts, of which only the topics are known; `line` is the alias of the row. */
export function countInScope(sql: Sql, scope: TopicScope, line: string) {
  if (scope === null) return sql`true`
  const patterns = sql.array(scope.map(likePattern))
  const column = (name: string) => sql(`${line}.${name}`)
  return sql`(
    ${column('dlq_topic')} like any(${patterns}::text[])
    or (${column('original_topic')} like any(${patterns}::text[])
      and not ${isClosed(sql, line)}))`
}

/** A condition on one column that holds a topic's name. */
export function topicInScope(sql: Sql, scope: TopicScope, column: string) {
  if (scope === null) return sql`true`
  return sql`${sql(column)} like any(${sql.array(scope.map(likePattern))}::text[])`
}
