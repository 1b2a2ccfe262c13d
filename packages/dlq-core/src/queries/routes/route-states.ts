// dlq_routes, as the ingesters need it: the states of the routes that they meet.

import type { Route, RouteState } from '../../domain/failure/topic-routes.ts'
import { type Sql, toJson } from '../sql.ts'
import { maxNamedPerDlqTopic, maxRoutesPerDlqTopic } from './closed-routes.ts'

export type RouteWithState = Route & { state: RouteState }

/** `is_variant`: it is open by its name as a retry topic or version of the topic that the DLQ topic names. */
export type WantedRoute = RouteWithState & { is_variant: boolean }

/**
 * Writes down routes that are met for the first time, with what the configuration says about them. Returns each one's
 * state: somebody's decision where there is one. Two callers at the same time may open a few more by name than there may be.
 */
export async function admitRoutes(sql: Sql, routes: readonly WantedRoute[]): Promise<RouteWithState[]> {
  if (routes.length === 0) return []
  return sql<RouteWithState[]>`
    with met as materialized (
      select met.*, known.state is not null as is_known,
             -- Among those that are new: a row less than there may be would be taken for an open route.
             row_number() over (partition by dlq_topic, known.state is null order by original_topic) as place,
             is_variant and known.state is distinct from 'by_name' as opens,
             row_number() over (
               partition by dlq_topic, is_variant and known.state is distinct from 'by_name'
               order by length(original_topic), original_topic) as opened
      from json_to_recordset(${toJson(routes)}::json)
        as met (dlq_topic text, original_topic text, state text, is_variant boolean)
      left join dlq.dlq_routes known using (dlq_topic, original_topic)
    ),
    wanted as materialized (
      select dlq_topic, original_topic, is_known, place,
             case when opens and opened + (
                 select count(*) from dlq.dlq_routes k where k.dlq_topic = met.dlq_topic and k.state = 'by_name'
               ) > ${maxNamedPerDlqTopic} then 'waiting' else state end as state
      from met
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

/** The decisions about those of the routes about which somebody has decided, and those that wait although their name is open. */
export async function findDecisions(sql: Sql, routes: readonly RouteWithState[]): Promise<RouteWithState[]> {
  if (routes.length === 0) return []
  return sql<RouteWithState[]>`
    select known.dlq_topic, known.original_topic, known.state
    from json_to_recordset(${toJson(routes)}::json) as wanted (dlq_topic text, original_topic text, state text)
    join dlq.dlq_routes known using (dlq_topic, original_topic)
    where known.state in ('approved', 'blocked') or (known.state = 'waiting' and wanted.state = 'by_name')`
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
