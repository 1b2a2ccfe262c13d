// dlq_notification_routes: who wants to hear of what, by which channel. dlq_notification_channels: the channels.

import type { RouteRules } from '../../domain/notifications/event.ts'
import type { Sql } from '../sql.ts'

export type NotificationRoute = RouteRules & {
  name: string
  channel: string
  digestMs: number
  repeatMs: number
  quiet: string | null
  muted_until: Date | null
  updated_at: Date
}

function columns(sql: Sql) {
  return sql`
    name, channel, types, topics, owners, min_severity, dead_threshold, quiet, muted_until, updated_at,
    (extract(epoch from digest) * 1000)::float8 as "digestMs",
    (extract(epoch from repeat_every) * 1000)::float8 as "repeatMs"`
}

/** By name. */
export async function listNotificationRoutes(sql: Sql): Promise<NotificationRoute[]> {
  return sql<NotificationRoute[]>`select ${columns(sql)} from dlq.dlq_notification_routes order by name`
}

export async function findNotificationRoute(sql: Sql, name: string): Promise<NotificationRoute | null> {
  const [row] = await sql<NotificationRoute[]>`
    select ${columns(sql)} from dlq.dlq_notification_routes where name = ${name} for update`
  return row ?? null
}

export async function putNotificationRoute(
  sql: Sql,
  route: Omit<NotificationRoute, 'updated_at'>,
): Promise<NotificationRoute> {
  const values = {
    ...{ name: route.name, channel: route.channel, min_severity: route.min_severity, quiet: route.quiet },
    types: sql.array([...route.types]),
    topics: sql.array([...route.topics]),
    owners: sql.array([...route.owners]),
    ...{ digest: `${route.digestMs} ms`, repeat_every: `${route.repeatMs} ms` },
    ...{ muted_until: route.muted_until, dead_threshold: route.dead_threshold, updated_at: new Date() },
  }
  const [row] = await sql<[NotificationRoute]>`
    insert into dlq.dlq_notification_routes ${sql(values)}
    on conflict (name) do update set ${sql(values)}
    returning ${columns(sql)}`
  return row
}

export async function deleteNotificationRoute(sql: Sql, name: string): Promise<boolean> {
  return (await sql`delete from dlq.dlq_notification_routes where name = ${name}`).count > 0
}

/** A channel as the configuration of the retriers has it, without its secrets. */
export type SeenChannel = { name: string; kind: string; host: string }

export type NotificationChannel = SeenChannel & {
  seen_at: Date
  disabled_at: Date | null
  delivered_at: Date | null
  last_error: string | null
}

/** Stores the channels that this retrier knows. One whose host has changed is no longer disabled. */
export async function recordChannels(sql: Sql, channels: readonly SeenChannel[]): Promise<void> {
  for (const channel of channels)
    await sql`
      insert into dlq.dlq_notification_channels as known (name, kind, host)
      values (${channel.name}, ${channel.kind}, ${channel.host})
      on conflict (name) do update set
        kind = excluded.kind, host = excluded.host, seen_at = clock_timestamp(),
        disabled_at = case when known.host = excluded.host then known.disabled_at end`
}

/** Those that a retrier has lately seen in its configuration, by name. */
export async function listChannels(sql: Sql): Promise<NotificationChannel[]> {
  return sql<NotificationChannel[]>`
    select name, kind, host, seen_at, disabled_at, delivered_at, last_error from dlq.dlq_notification_channels
    where seen_at > now() - interval '1 hour' order by name`
}

/** Lets a channel that was disabled be used again. False where there is no such channel. */
export async function enableChannel(sql: Sql, name: string): Promise<boolean> {
  return (await sql`update dlq.dlq_notification_channels set disabled_at = null where name = ${name}`).count > 0
}
