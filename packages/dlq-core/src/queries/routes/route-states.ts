// dlq_routes, as the ingesters need it: the states of the routes that they meet.

import type { Route, RouteState } from '../../domain/failure/topic-routes.ts'
import { type Sql, toJson } from '../sql.ts'
import { maxRoutesPerDlqTopic } from './closed-routes.ts'

export type RouteWithState = Route & { state: RouteState }

/**
 * Writes down routes that are met for the first time, with what the configuration says about them. Returns each one's
 * state: somebody's decision where there is one.
 */
export async function admitRoutes(sql: Sql, routes: readonly RouteWithState[]): Promise<RouteWithState[]> {
  if (routes.length === 0) return []
  return sql<RouteWithState[]>`
    with wanted as materialized (
      select wanted.*, known.state is not null as is_known,
             -- Among those that are new: a row less than there may be would be taken for an open route.
             row_number() over (partition by dlq_topic, known.state is null order by original_topic) as place
      from json_to_recordset(${toJson(routes)}::json) as wanted (dlq_topic text, original_topic text, state text)
      left join dlq.dlq_routes known using (dlq_topic, original_topic)
    ),
    admitted as (
      insert into dlq.dlq_routes as known (dlq_topic, original_topic, state)
      select dlq_topic, original_topic, state from wanted
      where state <> 'waiting' or is_known
         or place + (select count(*) from dlq.dlq_routes k where k.dlq_topic = wanted.dlq_topic) <= ${maxRoutesPerDlqTopic}
      order by dlq_topic, original_topic
      -- The configuration has changed; messages that are stored already follow it.
      on conflict (dlq_topic, original_topic) do update set state = excluded.state, applying_since = now()
      where known.state not in ('approved', 'blocked') and known.state <> excluded.state
    )
    select wanted.dlq_topic, wanted.original_topic,
           -- As it was before this statement, which changes no decision.
           case when known.state in ('approved', 'blocked') then known.state else wanted.state end as state
    from wanted left join dlq.dlq_routes known using (dlq_topic, original_topic)`
}

/** The decisions about those of the routes about which somebody has decided. */
export async function findDecisions(sql: Sql, routes: readonly Route[]): Promise<RouteWithState[]> {
  if (routes.length === 0) return []
  return sql<RouteWithState[]>`
    select known.dlq_topic, known.original_topic, known.state
    from json_to_recordset(${toJson(routes)}::json) as wanted (dlq_topic text, original_topic text)
    join dlq.dlq_routes known using (dlq_topic, original_topic)
    where known.state in ('approved', 'blocked')`
}

/** What was decided within the last minute. */
export async function listRecentDecisions(sql: Sql): Promise<RouteWithState[]> {
  return sql<RouteWithState[]>`
    select dlq_topic, original_topic, state from dlq.dlq_routes where decided_at > now() - interval '1 minute'`
}

/** Opens the routes that wait: the configuration trusts every route now. */
export async function trustWaiting(sql: Sql): Promise<void> {
  await sql`update dlq.dlq_routes set state = 'by_mapping', applying_since = now() where state = 'waiting'`
}
