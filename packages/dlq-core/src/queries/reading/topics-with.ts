// The original topics that have messages of a status, or of a DLQ topic. No index begins with these: a statement takes
// the topics from the summary, and then goes along idx_dlq_messages_original_topic for each of them. Summary and
// messages are read in one statement, and so in one snapshot. Until the first full count has ended, the topics are found
// along the index itself.

import type { Status } from '../../domain/retry/message-state.ts'
import { looseIndexScan } from '../loose-index-scan.ts'
import { toArray } from '../sql.ts'
import { type SqlText, sqlText, sqlWords } from '../sql-text.ts'

const isCounted = sqlWords('(select counted_at from dlq.dlq_summary_state) is not null')
const stored = looseIndexScan({ where: sqlWords('true') })

/**
 * A query of each original topic with each of these statuses that it has messages in, of these DLQ topics where they
 * are given. `isWanted`: a further condition on original_topic. Until the first full count has ended, it may also return
 * some without messages.
 */
export function topicsWith({
  statuses,
  dlqTopics = null,
  isWanted = sqlWords('true'),
}: {
  statuses: readonly Status[]
  dlqTopics?: readonly string[] | null
  isWanted?: SqlText
}): SqlText {
  const wanted = sqlText`${toArray(statuses)}::text[]`
  const ofDlqTopics = dlqTopics === null ? sqlWords('') : sqlText`and dlq_topic = any(${toArray(dlqTopics)}::text[])`
  return sqlText`
    ${counted('original_topic, status', sqlText`status = any(${wanted}) and ${isWanted} ${ofDlqTopics}`)}
    union all
    ${uncounted(wanted, isWanted)}`
}

/**
 * As `topicsWith`, of these DLQ topics. `isShared`: only original topics that have messages of other DLQ topics, too, so
 * that each row has to be tested; all original topics until the first full count has ended. Otherwise only those that
 * have none of other DLQ topics, so that no row has to be read.
 */
export function topicsOfDlqTopics({
  statuses,
  dlqTopics,
  isShared,
}: {
  statuses: readonly Status[]
  dlqTopics: readonly string[]
  isShared: boolean
}): SqlText {
  const wanted = sqlText`${toArray(statuses)}::text[]`
  const isOurs = sqlText`dlq_topic = any(${toArray(dlqTopics)}::text[])`
  const found = counted(
    'original_topic, status',
    sqlText`status = any(${wanted}) and original_topic in (select original_topic from (${linesWith(isOurs)}) line)`,
    sqlText`
      sum(count) filter (where ${isOurs}) > 0
      and coalesce(sum(count) filter (where (${isOurs}) is not true), 0) ${sqlWords(isShared ? '>' : '<=')} 0`,
  )
  return isShared ? sqlText`${found} union all ${uncounted(wanted)}` : found
}

/** As `topicsWith`, of one status: a row for each DLQ topic, named "topic", and original topic that have messages in common. */
export function pairsWith({ status, dlqTopics }: { status: Status; dlqTopics: readonly string[] }): SqlText {
  const wanted = sqlText`${toArray(dlqTopics)}::text[]`
  return sqlText`
    ${counted('dlq_topic as topic, original_topic, status', sqlText`status = ${status} and dlq_topic = any(${wanted})`)}
    union all
    select each.topic, stored.original_topic, ${status}::text
    from (${stored}) stored cross join unnest(${wanted}) as each (topic)
    where not ${isCounted}`
}

/** The kinds that have messages by the summary. */
function counted(columns: string, where: SqlText, having = sqlWords('sum(count) > 0')): SqlText {
  return sqlText`
    select ${sqlWords(columns)}
    from (${linesWith(where)}) line
    where ${isCounted}
    group by ${sqlWords(columns.replaceAll(/ as \w+/g, ''))}
    having ${having}`
}

/** Lines of the summary. The condition stands in both tables, as near to their rows as can be. */
function linesWith(where: SqlText): SqlText {
  return sqlText`
    select dlq_topic, original_topic, status, count from dlq.dlq_summary_totals where ${where}
    union all
    select dlq_topic, original_topic, status, change from dlq.dlq_summary_deltas where ${where}`
}

/** Each stored original topic with each status, until the first full count has ended. */
function uncounted(statuses: SqlText, isWanted = sqlWords('true')): SqlText {
  return sqlText`
    select stored.original_topic, each.status
    from (${stored}) stored cross join unnest(${statuses}) as each (status)
    where not ${isCounted} and ${isWanted}`
}

/** The condition on a row m that it has the topic and the status of `kind`. message-scan.ts says why "any(array[…])". */
export const ofKind = sqlWords(
  'm.original_topic = any(array[kind.original_topic]) and m.status = any(array[kind.status])',
)
