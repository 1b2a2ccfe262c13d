// dlq_attempts: the attempts of all messages that a filter finds, newest first. A filter with an index and few messages
// goes from these to their attempts, and finds all of them. Any other goes back along the time of the attempts, and
// tests the message of each one; it looks at a bounded number, and the caller learns how far it came.

import type { Status } from '../../domain/retry/message-state.ts'
import { exactTime } from '../exact-time.ts'
import { type MessageSearch, messageTests, scanMessages } from '../reading/message-scan.ts'
import { passes, rowsOf, tested } from '../reading/message-search.ts'
import { type Attempt, type AttemptOutcome, attemptColumns, withVerdict } from '../retry/attempts.ts'
import type { Fragment, Sql } from '../sql.ts'
import { messageInScope } from '../topic-scope.ts'

export type ListedAttempt = Attempt & {
  message_id: string
  original_topic: string
  dlq_topic: string | null
  consumer_group: string | null
  group_id: string | null
  /** The message's status now. */
  status: Status
  place: string
}

/** Of the last attempt that was shown, or looked at: its time with microseconds, its message and its number. */
export type AttemptPlace = { at: string; messageId: string; number: number }

export type AttemptPage = {
  attempts: ListedAttempt[]
  /** Where the search continues, if it ended at its bound before it had enough. Otherwise null. */
  examinedTo: AttemptPlace | null
  /** False: the caller may not see the message of the attempt at which it ended. */
  isEdgeInScope: boolean
}

/** So many messages are looked up one by one, with all of their attempts. */
const maxFewMessages = 500

/** The next `limit` attempts behind `after` that have an outcome, newest first. Looks at `examine` attempts at most. */
export async function searchAttempts(
  sql: Sql,
  {
    search,
    outcome,
    after,
    limit,
    examine,
  }: {
    search: Omit<MessageSearch, 'sort'>
    outcome: readonly AttemptOutcome['outcome'][] | null
    after: AttemptPlace | null
    limit: number
    examine: number
  },
): Promise<AttemptPage> {
  const scan = scanMessages(sql, { search: { ...search, sort: 'newest' }, alongIds: true })
  const isNarrow = search.topic !== null || Object.values(search.filter).some((value) => value !== undefined)
  const behind = settledBehind(sql, after)
  // In one snapshot with their number: messages come into the filter at any time.
  const ofFew = sql`(
    select a.message_id, a.number, a.settled_at, a.outcome
    from few_messages listed
    cross join lateral (select a.* from dlq.dlq_attempts a where a.message_id = listed.id and ${behind} offset 0) a
    where (select count(*) from few_messages) <= ${maxFewMessages})`
  const walked = sql`(
    select a.message_id, a.number, a.settled_at, a.outcome
    from dlq.dlq_attempts a
    where ${behind}
    order by ${newestFirst(sql)} limit ${examine})`
  const message = { table: sql`dlq.dlq_messages`, tests: messageTests(sql, { ...search, sort: 'newest' }) }
  const wanted = outcome === null ? sql`true` : sql`found.outcome = any(${sql.array([...outcome])}::text[])`
  const columns = sql`m.original_topic, m.dlq_topic, m.consumer_group, m.group_id, m.status`
  const first = sql`order by found.settled_at desc, found.id desc, found.number desc limit ${limit}`
  const listedOf = (attempts: Fragment) => sql`select message_id as id, number, settled_at, outcome from ${attempts} a`
  // A narrow filter that has many messages finds few of the newest attempts, so all of their messages are read together.
  // Otherwise they are looked up one by one, until there are enough.
  const oneByOne = (attempts: Fragment) => sql`
    select found.id, found.number, ${columns}
    from (${listedOf(attempts)}) found cross join lateral ${tested(sql, message)} m
    where ${wanted} ${first}`
  const together = (attempts: Fragment) => sql`
    with listed as materialized (${listedOf(attempts)})
    select found.id, found.number, ${columns}
    from listed found
    join ${rowsOf(sql, { table: message.table, ids: sql`select id from listed` })} m on m.id = found.id
    where ${passes(sql, message)} and ${wanted} ${first}`
  const pageOf = (found: Fragment) => sql`
    select a.message_id, ${attemptColumns(sql)}, a.original_topic, a.dlq_topic, a.consumer_group, a.group_id, a.status, ${exactTime(sql, sql`a.settled_at`)} as place
    from (
      select a.*, found.original_topic, found.dlq_topic, found.consumer_group, found.group_id, found.status
      from (${found}) found
      cross join lateral (
        select a.* from dlq.dlq_attempts a where a.message_id = found.id and a.number = found.number offset 0
      ) a
    ) a
    ${withVerdict(sql)}`
  if (isNarrow) {
    const rows = await sql<((ListedAttempt | { message_id: null }) & { messages: number })[]>`
      with few_messages as materialized (
        select listed.id from ${scan.ids({ after: null, limit: maxFewMessages + 1 })} listed),
      page as materialized (${pageOf(oneByOne(ofFew))})
      select (select count(*)::int from few_messages) as messages, a.*
      from (select) one left join page a on true
      order by ${newestFirst(sql)}`
    if (rows[0]!.messages <= maxFewMessages)
      return {
        attempts: rows.flatMap(({ messages: _, ...attempt }) =>
          attempt.message_id === null ? [] : [attempt as ListedAttempt],
        ),
        ...{ examinedTo: null, isEdgeInScope: true },
      }
  }
  const page = pageOf(isNarrow ? together(walked) : oneByOne(walked))
  const seen = tested(sql, { ...message, tests: [messageInScope(sql, search.scope, 'm.')] })
  return withEdge(sql, { page, walked, seen, limit, examine })
}

/** Attempts that have an outcome, and stand behind the place. */
function settledBehind(sql: Sql, after: AttemptPlace | null): Fragment {
  if (after === null) return sql`a.settled_at is not null`
  const { at, messageId, number } = after
  return sql`
    a.settled_at is not null and a.settled_at <= ${at}::text::timestamptz
    and (a.settled_at, a.message_id, a.number) < (${at}::text::timestamptz, ${messageId}::uuid, ${number}::int)`
}

/**
 * The page, and where the walk stopped at its bound, of one snapshot: where attempts are archived or deleted in between,
 * that place would be further on. `seen`: the message of `found`, if the scope shows it.
 */
async function withEdge(
  sql: Sql,
  {
    page,
    walked,
    seen,
    limit,
    examine,
  }: { page: Fragment; walked: Fragment; seen: Fragment; limit: number; examine: number },
): Promise<AttemptPage> {
  const rows = await sql<((ListedAttempt | { message_id: null }) & Edge)[]>`
    with page as materialized (${page}),
    edge as (
      select a.message_id, a.number, ${exactTime(sql, sql`a.settled_at`)} as place from ${walked} a
      where (select count(*) from page) < ${limit}
      order by ${newestFirst(sql)} offset ${examine - 1}
    )
    select edge.message_id as edge_id, edge.number as edge_number, edge.place as edge_place, edge.is_in_scope as edge_in_scope, a.*
    from (select) one
    left join (
      select edge.*, exists (
        select from (select edge.message_id as id) found cross join lateral ${seen} m
      ) as is_in_scope
      from edge
    ) edge on true
    left join page a on true
    order by ${newestFirst(sql)}`
  const { edge_id, edge_number: number, edge_place: at, edge_in_scope: isInScope } = rows[0]!
  return {
    attempts: rows.flatMap(({ edge_id: _, edge_number: __, edge_place: ___, edge_in_scope: ____, ...attempt }) =>
      attempt.message_id === null ? [] : [attempt as ListedAttempt],
    ),
    examinedTo: edge_id === null ? null : { messageId: edge_id, number: number!, at: at! },
    isEdgeInScope: isInScope ?? true,
  }
}

/** Where the search stopped at its bound. Null where it found enough attempts, or reached the end. */
type Edge = {
  edge_id: string | null
  edge_number: number | null
  edge_place: string | null
  edge_in_scope: boolean | null
}

export function placeOf({ place, message_id, number }: Pick<ListedAttempt, 'place' | 'message_id' | 'number'>) {
  return { at: place, messageId: message_id, number }
}

function newestFirst(sql: Sql) {
  return sql`a.settled_at desc, a.message_id desc, a.number desc`
}
