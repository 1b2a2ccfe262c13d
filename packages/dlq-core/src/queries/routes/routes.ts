// dlq_routes, as people see them and decide about them; and their messages, which follow the decision.

import type { Route, RouteState } from '../../domain/failure/topic-routes.ts'
import { undecodableClass } from '../../domain/message/new-message.ts'
import { isFromBefore } from '../ingest/positions.ts'
import { heldForOrigin } from '../origin/held-for-origin.ts'
import { lines } from '../reading/summary.ts'
import { keyed } from '../retry/order-keys.ts'
import type { Sql } from '../sql.ts'
import { inScope, type TopicScope } from '../topic-scope.ts'

export type RouteRow = Route & {
  state: RouteState
  first_seen_at: Date
  decided_at: Date | null
  decided_by: string | null
  reason: string | null
  /** Messages that were stored before the state changed may not follow it yet. */
  is_applying: boolean
}

function columns(sql: Sql) {
  return sql`
    dlq_topic, original_topic, state, first_seen_at, decided_at, decided_by, reason, applying_since is not null as is_applying`
}

export type RouteFilter = {
  state?: RouteState | undefined
  dlq_topic?: string | undefined
  original_topic?: string | undefined
}

/** The routes behind `after`, in the order of their DLQ topics. One of the two topics must be in the scope. */
export async function listRoutes(
  sql: Sql,
  { filter, scope, after, limit }: { filter: RouteFilter; scope: TopicScope; after: Route | null; limit: number },
): Promise<RouteRow[]> {
  const { state, dlq_topic: dlqTopic, original_topic: originalTopic } = filter
  return sql<RouteRow[]>`
    select ${columns(sql)} from dlq.dlq_routes
    where ${inScope(sql, scope)}
      ${state === undefined ? sql`` : sql`and state = ${state}`}
      ${dlqTopic === undefined ? sql`` : sql`and dlq_topic = ${dlqTopic}`}
      ${originalTopic === undefined ? sql`` : sql`and original_topic = ${originalTopic}`}
      ${after === null ? sql`` : sql`and (dlq_topic, original_topic) > (${after.dlq_topic}, ${after.original_topic})`}
    order by dlq_topic, original_topic
    limit ${limit}`
}

/** How many messages of each route are PENDING. Routes without any are missing. */
export async function countPending(sql: Sql, routes: readonly Route[]): Promise<(Route & { pending: number })[]> {
  if (routes.length === 0) return []
  return sql<(Route & { pending: number })[]>`
    select dlq_topic, original_topic, sum(count)::float8 as pending
    from ${lines(sql)}
    join unnest(
      ${sql.array(routes.map(({ dlq_topic }) => dlq_topic))}::text[],
      ${sql.array(routes.map(({ original_topic }) => original_topic))}::text[]) as wanted (dlq_topic, original_topic)
      using (dlq_topic, original_topic)
    where status = 'PENDING'
    group by dlq_topic, original_topic
    having sum(count) > 0`
}

/** Locks the route until the transaction ends; null where it is not known. */
export async function holdRoute(sql: Sql, { dlq_topic, original_topic }: Route): Promise<RouteRow | null> {
  const [row] = await sql<RouteRow[]>`
    select ${columns(sql)} from dlq.dlq_routes
    where dlq_topic = ${dlq_topic} and original_topic = ${original_topic}
    for update`
  return row ?? null
}

export type Decision = Route & { state: 'approved' | 'blocked'; actor: string; reason: string | null }

/** Writes a decision down, about a route that is known or not. */
export async function decideRoute(
  sql: Sql,
  { dlq_topic, original_topic, state, actor, reason }: Decision,
): Promise<RouteRow> {
  const [row] = await sql<[RouteRow]>`
    insert into dlq.dlq_routes (dlq_topic, original_topic, state, decided_at, decided_by, reason, applying_since)
    values (${dlq_topic}, ${original_topic}, ${state}, now(), ${actor}, ${reason}, now())
    on conflict (dlq_topic, original_topic) do update set
      state = excluded.state, decided_at = excluded.decided_at, decided_by = excluded.decided_by, reason = excluded.reason,
      applying_since = excluded.applying_since
    returning ${columns(sql)}`
  return row
}

/** The routes whose messages may not follow them yet. */
export async function listApplying(sql: Sql, { limit }: { limit: number }): Promise<(Route & { state: RouteState })[]> {
  return sql<(Route & { state: RouteState })[]>`
    select dlq_topic, original_topic, state from dlq.dlq_routes
    where applying_since is not null
    order by applying_since
    limit ${limit}`
}

/**
 * Says that all messages follow the route. Only a minute after its state changed: until then an ingester may store
 * messages under the state before.
 */
export async function noteApplied(
  sql: Sql,
  { dlq_topic, original_topic, state }: Route & { state: RouteState },
): Promise<void> {
  await sql`
    update dlq.dlq_routes set applying_since = null
    where dlq_topic = ${dlq_topic} and original_topic = ${original_topic} and state = ${state}
      and applying_since < now() - interval '1 minute'`
}

export type RouteChunk = {
  /** With the state that its messages are to follow. */
  route: Route & { state: RouteState }
  status: 'PENDING' | 'RETRYING' | 'DEAD'
  afterId: string
  limit: number
}

/**
 * Two parts of a "with". The first locks the route until the transaction ends: where its state is another one by now,
 * because somebody has decided while a process walked, or was frozen, the chunk is empty. The second goes along
 * idx_dlq_messages_original_topic; "offset 0" keeps the walk along it, and the look-up of each id, apart.
 */
function chunkOf(sql: Sql, { route, status, afterId, limit }: RouteChunk, isHeld: boolean) {
  return sql`
    followed as materialized (
      select from dlq.dlq_routes
      where dlq_topic = ${route.dlq_topic} and original_topic = ${route.original_topic} and state = ${route.state}
      for share
    ),
    chunk as materialized (
      select m.id
      from (
        select m.id from dlq.dlq_messages m
        where m.original_topic = any(array[${route.original_topic}::text]) and m.status = any(array[${status}::text])
          and m.id > ${afterId} and m.dlq_topic = ${route.dlq_topic} and exists (select from followed)
        order by m.original_topic, m.status, m.id
        offset 0
      ) found
      cross join lateral (
        select m.id from dlq.dlq_messages m
        where m.id = found.id and m.status = ${status} and m.held_by_route = ${isHeld}
        offset 0
        for update
      ) m
      limit ${limit}
    )`
}

/**
 * Holds the next messages of a route that is not open: they are not due by themselves any more. Returns the last one's
 * id, or null where there was none.
 */
export async function holdMessages(sql: Sql, chunk: RouteChunk): Promise<{ count: number; lastId: string | null }> {
  const [row] = await sql<[{ count: number; last_id: string | null }]>`
    with ${chunkOf(sql, chunk, false)},
    held as (
      update dlq.dlq_messages m set
        held_by_route = true,
        -- What somebody has asked for is sent.
        next_retry_at = case when m.retry_requested then m.next_retry_at end
      from chunk
      where m.id = chunk.id and m.id = any(array(select id from chunk))
      returning m.id
    )
    select count(*)::int as count, max(id::text) as last_id from held`
  return { count: row.count, lastId: row.last_id }
}

/**
 * Lets the next held messages of a route go that is open now. They are due at `nextRetryAt`, unless their bytes are not
 * known. Returns the last one's id, or null where there was none.
 */
export async function letMessagesGo(
  sql: Sql,
  { nextRetryAt, ...chunk }: RouteChunk & { nextRetryAt: Date | null },
): Promise<{ count: number; lastId: string | null }> {
  const [row] = await sql<[{ count: number; last_id: string | null }]>`
    with ${chunkOf(sql, chunk, true)},
    released as (
      update dlq.dlq_messages m set
        held_by_route = false,
        -- It came without one, and may wait for others of its key from now on. It costs nothing where no policy asks for order.
        ${keyed(sql)},
        next_retry_at = case
          when m.retry_requested or m.status <> 'PENDING' then m.next_retry_at
          when ${isFromBefore(sql)} then null
          when not ${heldForOrigin(sql, 'm.')} and (m.record_key is not null or m.record_value is not null) and m.error_class is distinct from ${undecodableClass}
            then ${nextRetryAt}::timestamptz
        end
      from chunk
      where m.id = chunk.id and m.id = any(array(select id from chunk))
      returning m.id
    )
    select count(*)::int as count, max(id::text) as last_id from released`
  return { count: row.count, lastId: row.last_id }
}
