// dlq_subscriptions: which topics are ingested, beside the configuration.

import type { Subscription } from '../../domain/discovery/subscription.ts'
import { matchesTopicGlobs } from '../../domain/failure/topic-globs.ts'
import type { Sql } from '../sql.ts'

/** More are refused when they are made: each ingester holds all of them against each topic. */
export const maxSubscriptions = 1000

function columns(sql: Sql) {
  return sql`id, cluster, pattern, mode, original, start, start_at, backlog, created_at, created_by, reason`
}

/** All of them, by pattern. */
export async function listSubscriptions(sql: Sql): Promise<Subscription[]> {
  return sql<Subscription[]>`
    select ${columns(sql)} from dlq.dlq_subscriptions
    order by pattern collate "C", cluster nulls first limit ${maxSubscriptions}`
}

/** Null where the pattern has one already, or there are too many. */
export async function addSubscription(
  sql: Sql,
  row: Omit<Subscription, 'id' | 'created_at'>,
): Promise<Subscription | null> {
  const [added] = await sql<Subscription[]>`
    insert into dlq.dlq_subscriptions (cluster, pattern, mode, original, start, start_at, backlog, created_by, reason)
    select ${row.cluster}, ${row.pattern}, ${row.mode}, ${row.original}, ${row.start}, ${row.start_at}::timestamptz,
           ${row.backlog}, ${row.created_by}, ${row.reason}
    where (select count(*) from dlq.dlq_subscriptions) < ${maxSubscriptions}
    on conflict (pattern, coalesce(cluster, '')) do nothing
    returning ${columns(sql)}`
  return added ?? null
}

/** Returns the row; null where there is none. */
export async function deleteSubscription(sql: Sql, id: string): Promise<Subscription | null> {
  const [row] = await sql<Subscription[]>`
    delete from dlq.dlq_subscriptions where id = ${id} returning ${columns(sql)}`
  return row ?? null
}

/** Those of the names that a subscription makes DLQ topics, also before an ingester has found them. */
export async function subscribedAmong(sql: Sql, topics: readonly string[]): Promise<string[]> {
  const rows = await sql<{ pattern: string }[]>`
    select pattern from dlq.dlq_subscriptions where mode = 'ingest' limit ${maxSubscriptions}`
  const patterns = rows.map(({ pattern }) => pattern)
  return topics.filter((topic) => matchesTopicGlobs(patterns, topic))
}
