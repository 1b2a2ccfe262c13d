// The messages of a run and their outcomes. dlq_attempts has the ones that it sent, dlq_messages those that it holds,
// dlq_run_skipped those that it left alone.

import { listedChars, listedKeyBytes } from '../../domain/message/listed-text.ts'
import { smallestId } from '../../domain/record/message-id.ts'
import type { Status } from '../../domain/retry/message-state.ts'
import type { Verdict } from '../readers/verdicts.ts'
import type { Sql } from '../sql.ts'
import { messageInScope, type TopicScope } from '../topic-scope.ts'

export const runOutcomes = ['waiting', 'resolved', 'failed', 'failed_again', 'skipped'] as const
export type RunOutcome = (typeof runOutcomes)[number]

export type RunItem = {
  id: string
  outcome: RunOutcome
  detail: string | null
  verdict?: Verdict
  verdict_reason?: string | null
}

/** The run's messages behind `after`, or the last ones before `before`, in the order of ids, with this outcome or with any. */
export async function listRunItems(
  sql: Sql,
  {
    runId,
    outcome,
    after,
    before = null,
    limit,
    scope,
  }: {
    runId: string
    outcome: RunOutcome | null
    after: string | null
    before?: string | null
    limit: number
    scope: TopicScope
  },
): Promise<RunItem[]> {
  const order = before === null ? sql`asc` : sql`desc`
  const inPage = (id: 'a.message_id' | 's.message_id' | 'id') =>
    before === null ? sql`${sql(id)} > ${after ?? smallestId}` : sql`${sql(id)} < ${before}`
  // A deleted message has no topic, so a scope cannot include it.
  const seen = (column: 'a.message_id' | 's.message_id') =>
    scope === null
      ? sql`true`
      : sql`exists (select from dlq.dlq_messages m where m.id = ${sql(column)} and ${messageInScope(sql, scope, 'm.')})`
  const attempted = (of: RunOutcome, which: ReturnType<Sql>) => sql`
    (select a.message_id as id, ${of}::text as outcome, left(coalesce(a.failed_again_message, a.error), ${listedChars}) as detail
     from dlq.dlq_attempts a
     where a.run_id = ${runId} and ${inPage('a.message_id')} and ${which} and ${seen('a.message_id')}
     order by a.message_id ${order} limit ${limit})`
  const arms = {
    waiting: sql`
      (select id, 'waiting' as outcome, lower(status) as detail from dlq.dlq_messages
       where run_id = ${runId} and ${inPage('id')} and ${messageInScope(sql, scope)} order by id ${order} limit ${limit})`,
    skipped: sql`
      (select s.message_id as id, 'skipped' as outcome, s.reason as detail from dlq.dlq_run_skipped s
       where s.run_id = ${runId} and ${inPage('s.message_id')} and ${seen('s.message_id')} order by s.message_id ${order} limit ${limit})`,
    resolved: attempted('resolved', sql`a.outcome = 'published' and a.failed_again_at is null`),
    failed: attempted('failed', sql`a.outcome = 'failed' and a.failed_again_at is null`),
    failed_again: attempted('failed_again', sql`a.failed_again_at is not null`),
  }
  const chosen = outcome === null ? Object.values(arms) : [arms[outcome]]
  const items = await sql<RunItem[]>`
    select id, outcome, detail from (${chosen.reduce((all, arm) => sql`${all} union all ${arm}`)}) items
    order by id ${order} limit ${limit}`
  return before === null ? [...items] : items.toReversed()
}

/** One statement judges at most this number of attempts: each costs some microseconds. */
const maxJudged = 20_000

/** `judgedTo`: the id to go on from where the page is not full, because there may be more behind what was judged. */
export type JudgedItems = { items: RunItem[]; judgedTo: string | null }

/**
 * The messages of the run whose last publishing in it has this verdict, behind `after` or before `before`, in the order
 * of ids.
 */
export async function listItemsByVerdict(
  sql: Sql,
  {
    runId,
    verdict,
    after,
    before = null,
    limit,
    scope,
  }: {
    runId: string
    verdict: Verdict
    after: string | null
    before?: string | null
    limit: number
    scope: TopicScope
  },
): Promise<JudgedItems> {
  const order = before === null ? sql`asc` : sql`desc`
  const rows = await sql<(RunItem & { judged: number; edge: string })[]>`
    with part as materialized (
      select * from dlq.dlq_attempts
      where run_id = ${runId} and (outcome = 'published' or failed_again_at is not null)
        and ${before === null ? sql`message_id > ${after ?? smallestId}` : sql`message_id < ${before}`}
      order by message_id ${order} limit ${maxJudged}
    ),
    seen as (
      select (select count(*) from part)::int as judged,
             (select message_id from part order by message_id ${before === null ? sql`desc` : sql`asc`} limit 1) as edge
    )
    select seen.judged, seen.edge, found.* from seen left join lateral (
      select a.message_id as id, left(coalesce(a.failed_again_message, a.error), ${listedChars}) as detail, v.verdict, v.verdict_reason,
             case when a.failed_again_at is null then 'resolved' else 'failed_again' end as outcome
      from part a
      left join dlq.dlq_messages m on m.id = a.message_id
      cross join lateral dlq.verdict(
        m.consumer_group, a.target_topic, a.target_partition, a.target_offset, a.settled_at, a.failed_again_at,
        a.confirmed_at) v
      where v.verdict = ${verdict}
        ${scope === null ? sql`` : sql`and ${messageInScope(sql, scope, 'm.')}`}
      order by a.message_id ${order} limit ${limit}
    ) found on true`
  const items = rows.flatMap(({ judged: _, edge: _edge, ...item }) =>
    (item.id as string | null) === null ? [] : [item],
  )
  const isPart = rows[0]!.judged === maxJudged && items.length < limit
  return { items: before === null ? items : items.toReversed(), judgedTo: isPart ? rows[0]!.edge : null }
}

/** What is shown of a live message beside its outcome: the beginnings of its key and of its error message. */
export type ItemMessage = {
  id: string
  original_topic: string
  dlq_topic: string | null
  consumer_group: string | null
  record_key: Buffer | null
  error_class: string | null
  error_message: string
  status: Status
  group_id: string | null
}

/** The live messages of these ids, by their ids. */
export async function readItemMessages(
  sql: Sql,
  { ids, scope }: { ids: readonly string[]; scope: TopicScope },
): Promise<Map<string, ItemMessage>> {
  const rows = await sql<ItemMessage[]>`
    select m.id, m.original_topic, m.dlq_topic, m.consumer_group, substring(m.record_key from 1 for ${listedKeyBytes}) as record_key,
           m.error_class, left(m.error_message, ${listedChars}) as error_message, m.status, m.group_id
    from unnest(${sql.array([...ids])}::uuid[]) as chosen (id)
    cross join lateral (
      select * from dlq.dlq_messages where id = chosen.id and ${messageInScope(sql, scope)}
    ) m`
  return new Map(rows.map((row) => [row.id, row]))
}

/** The ids of messages that failed again in a run, behind `after`. */
export async function listFailedAgain(
  sql: Sql,
  { runId, after, limit }: { runId: string; after: string | null; limit: number },
): Promise<string[]> {
  const rows = await sql<{ message_id: string }[]>`
    select message_id from dlq.dlq_attempts
    where run_id = ${runId} and failed_again_at is not null and message_id > ${after ?? smallestId}
    order by message_id limit ${limit}`
  return rows.map(({ message_id }) => message_id)
}

/** The caller must have checked that the run exists and is visible. */
export async function countFailedAgain(sql: Sql, runId: string): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from dlq.dlq_attempts where run_id = ${runId} and failed_again_at is not null`
  return row!.count
}

export type Skipped = { id: string; reason: string }

/** Bounds the stored ids, because a run over millions may leave millions alone. */
export const mostSkipped = 10_000

/** Stores which messages the run left alone. `before` is how many it left alone earlier. */
export async function noteSkipped(
  sql: Sql,
  { runId, skipped, before }: { runId: string; skipped: readonly Skipped[]; before: number },
): Promise<void> {
  const noted = skipped.slice(0, Math.max(0, mostSkipped - before))
  if (noted.length === 0) return
  await sql`
    insert into dlq.dlq_run_skipped (run_id, message_id, reason)
    select ${runId}, id, reason from json_to_recordset(${JSON.stringify(noted)}::json) as s (id uuid, reason text)
    on conflict (run_id, message_id) do nothing`
}
