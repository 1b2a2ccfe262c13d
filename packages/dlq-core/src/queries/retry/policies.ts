// dlq_policies: the policies that people set. Durations are intervals in the table and milliseconds here.

import type { TopicPolicy } from '../../domain/retry/effective-policy.ts'
import type { PolicySettings } from '../../domain/retry/policy-settings.ts'
import type { Sql } from '../sql.ts'
import { type TopicScope, topicInScope } from '../topic-scope.ts'

/** A row. A setting that is null leaves its value to the other origins. */
export type PolicyRow = TopicPolicy & { readonly updated_at: Date }

function columns(sql: Sql) {
  return sql`
    pattern, auto_retry, max_retries, backoff,
    (extract(epoch from initial_delay) * 1000)::float8 as initial_delay,
    multiplier::float8 as multiplier,
    (extract(epoch from max_delay) * 1000)::float8 as max_delay,
    array(select (extract(epoch from wait) * 1000)::float8
          from unnest(backoff_list) with ordinality as list (wait, number) order by number) as backoff_list,
    (extract(epoch from run_every) * 1000)::float8 as run_every,
    run_limit, rate_per_second::float8 as rate_per_second, max_in_flight, paused, redirect_topic,
    ordering, "timestamp", weight, payload, record, scrub, delivery, refailure_threshold,
    refailure_share::float8 as refailure_share,
    (extract(epoch from refailure_window) * 1000)::float8 as refailure_window,
    staleness, for_group_header, verdict_group,
    (extract(epoch from verdict_horizon) * 1000)::float8 as verdict_horizon,
    (extract(epoch from auto_resolve) * 1000)::float8 as auto_resolve,
    (extract(epoch from retention) * 1000)::float8 as retention,
    updated_at`
}

/** The query returns an empty array for a list that is null, because an array expression is never null. */
function toPolicyRow(row: PolicyRow): PolicyRow {
  return { ...row, backoff_list: row.backoff_list?.length ? row.backoff_list : null }
}

/** The policies whose patterns are in the scope, in the order of their patterns. */
export async function listPolicies(sql: Sql, { scope }: { scope: TopicScope }): Promise<PolicyRow[]> {
  const rows = await sql<PolicyRow[]>`
    select ${columns(sql)} from dlq.dlq_policies
    where ${topicInScope(sql, scope, 'pattern')}
    order by pattern collate "C"`
  return rows.map(toPolicyRow)
}

/** The policy of exactly this pattern, or null. */
export async function findPolicy(sql: Sql, pattern: string): Promise<PolicyRow | null> {
  const [row] = await sql<PolicyRow[]>`select ${columns(sql)} from dlq.dlq_policies where pattern = ${pattern}`
  return row === undefined ? null : toPolicyRow(row)
}

/** Makes other changes of policies wait until the transaction ends, so that the policies stay as they are read. */
export async function lockPolicies(sql: Sql): Promise<void> {
  await sql`select from dlq.dlq_policy_marker for update`
}

/** Creates the policy of a pattern, or replaces it. A setting that `settings` does not have becomes null. */
export async function upsertPolicy(sql: Sql, pattern: string, settings: PolicySettings): Promise<PolicyRow> {
  const s = settings
  const values = {
    pattern,
    auto_retry: s.auto_retry ?? null,
    max_retries: s.max_retries ?? null,
    backoff: s.backoff ?? null,
    initial_delay: toInterval(s.initial_delay),
    multiplier: s.multiplier ?? null,
    max_delay: toInterval(s.max_delay),
    backoff_list: s.backoff_list
      ? sql.array(
          s.backoff_list.map((wait) => toInterval(wait)!),
          intervalArray,
        )
      : null,
    run_every: toInterval(s.run_every),
    run_limit: s.run_limit ?? null,
    rate_per_second: s.rate_per_second ?? null,
    max_in_flight: s.max_in_flight ?? null,
    paused: s.paused ?? null,
    redirect_topic: s.redirect_topic ?? null,
    ordering: s.ordering ?? null,
    timestamp: s.timestamp ?? null,
    weight: s.weight ?? null,
    payload: s.payload ?? null,
    record: s.record ?? null,
    scrub: s.scrub ? sql.array([...s.scrub], textArray) : null,
    delivery: s.delivery ?? null,
    refailure_threshold: s.refailure_threshold ?? null,
    refailure_share: s.refailure_share ?? null,
    refailure_window: toInterval(s.refailure_window),
    staleness: s.staleness ?? null,
    for_group_header: s.for_group_header ?? null,
    verdict_group: s.verdict_group ?? null,
    verdict_horizon: toInterval(s.verdict_horizon),
    auto_resolve: toInterval(s.auto_resolve),
    retention: toInterval(s.retention),
  }
  const { pattern: _key, ...replaced } = values
  const [row] = await sql<[PolicyRow]>`
    insert into dlq.dlq_policies ${sql(values)}
    on conflict (pattern) do update set ${sql(replaced)}
    returning ${columns(sql)}`
  return toPolicyRow(row)
}

/** The object ids of PostgreSQL's types text[] and interval[]. */
const textArray = 1009
const intervalArray = 1187

/** In seconds, so that the table stays readable: 21600000 → "21600 seconds", which PostgreSQL shows as 06:00:00. */
function toInterval(milliseconds: number | null | undefined): string | null {
  return milliseconds === null || milliseconds === undefined ? null : `${milliseconds / 1000} seconds`
}

/** Deletes the policy of a pattern. False where there was none. */
export async function deletePolicy(sql: Sql, pattern: string): Promise<boolean> {
  const result = await sql`delete from dlq.dlq_policies where pattern = ${pattern}`
  return result.count > 0
}

/** The policies, and the marker by which the caller asks later whether they have changed. */
export type MarkedPolicies = { marker: string; policies: PolicyRow[] }

/** All policies if they changed since `marker`, else null. While they do not change, it reads one row of a small table. */
export async function readChangedPolicies(
  sql: Sql,
  { marker }: { marker: string | null },
): Promise<MarkedPolicies | null> {
  // One statement is one snapshot, so the policies are exactly those of the marker.
  const rows = await sql<({ marker: string } & (PolicyRow | { pattern: null }))[]>`
    select m.marker, p.*
    from dlq.dlq_policy_marker m
    left join lateral (select ${columns(sql)} from dlq.dlq_policies order by pattern collate "C") p on true
    where m.marker is distinct from ${marker}::uuid`
  if (rows.length === 0) return null
  const policies = rows.flatMap(({ marker: _marker, ...row }) => (row.pattern === null ? [] : [toPolicyRow(row)]))
  return { marker: rows[0]!.marker, policies }
}
