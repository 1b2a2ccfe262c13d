// Which counts are of messages whose DLQ topic may not speak for their original topic. Of a message itself, its column
// held_by_route says so.

import type { Fragment, Sql } from '../sql.ts'

/** A DLQ topic whose records claim ever new topics must not fill the table. Further ones wait without a row. */
export const maxRoutesPerDlqTopic = 1000

/**
 * A DLQ topic's name opens the topic that it names, and this many retry topics and versions of it. The sender chooses the
 * number in their names, and each is a topic with counts, turns and labels of its own.
 */
export const maxNamedPerDlqTopic = 100

/** A condition on a row with original_topic and dlq_topic; `line` is its alias. It is never null where both are known. */
export function isClosed(sql: Sql, line: string) {
  const [dlqTopic, originalTopic] = [sql(`${line}.dlq_topic`), sql(`${line}.original_topic`)]
  const known = sql`known.dlq_topic = ${dlqTopic} and known.original_topic = ${originalTopic}`
  return sql`(
    exists (select from dlq.dlq_routes known where ${known} and known.state in ('waiting', 'blocked'))
    or (${dlqTopic} is not null and ${dlqTopic} <> ${originalTopic}
      -- An open route always has a row. Where the table takes any, so has one that waits.
      and ${dlqTopic} in (
        select dlq_topic from dlq.dlq_routes group by dlq_topic having count(*) >= ${maxRoutesPerDlqTopic})
      and not exists (select from dlq.dlq_routes known where ${known})))`
}

/**
 * `isClosed` of a row of dlq_messages or its archive, whose column says what held when the row last waited: what was sent
 * does not follow a later decision. `prefix` is "m." where the row's alias is m; the columns of dlq_routes are renamed, so
 * that a row needs none.
 */
export function isClosedNow(sql: Sql, prefix: string) {
  const has = (state: Fragment) => sql`exists (
    select from dlq.dlq_routes as known (known_dlq_topic, known_original_topic, known_state)
    where known_dlq_topic = ${sql(`${prefix}dlq_topic`)} and known_original_topic = ${sql(`${prefix}original_topic`)}
      and known_state ${state})`
  return sql`(
    case when ${sql(`${prefix}held_by_route`)} then not ${has(sql`not in ('waiting', 'blocked')`)}
         else ${has(sql`in ('waiting', 'blocked')`)} end)`
}
