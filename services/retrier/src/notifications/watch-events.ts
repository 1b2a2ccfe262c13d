// One retrier at a time looks for events and gives each to the routes that want it, in one transaction: what is noted is
// also on its way, with its job.

import { type Event, type NewEvent, severityRank } from 'dlq-core/domain/notifications/event.ts'
import { sendAt, takesEvent } from 'dlq-core/domain/notifications/route-event.ts'
import {
  addDelivery,
  type DeliveryKind,
  forgetDeliveries,
  gatherEvent,
  lastOfRoute,
  lastTold,
} from 'dlq-core/queries/notifications/deliveries.ts'
import {
  forgetEvents,
  listOpenConditions,
  noteConditions,
  noteEventLook,
  noteEvents,
  takeEventLook,
} from 'dlq-core/queries/notifications/events.ts'
import { keptMs } from 'dlq-core/queries/notifications/kept-since.ts'
import {
  listNotificationRoutes,
  type NotificationRoute,
  recordChannels,
} from 'dlq-core/queries/notifications/routes.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import type { Config } from 'dlq-core/runtime/config/config-schema.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import { describeChannels } from './channels.ts'
import { findEvents, watchedConditions } from './find-events.ts'

export type EventWatchDeps = {
  sql: Database
  /** The section of the configuration as it is now. */
  settings: () => Config['notifications']
  now: () => Date
}

const everyMs = 15_000
/** A transaction that was long may show its rows late; what was noted before is noted once all the same. */
const overlapMs = 120_000
const forgottenAtOnce = 5000

export function createEventWatch({ sql, settings, now }: EventWatchDeps) {
  return async function watchEvents(): Promise<{ more: boolean }> {
    const lookedAt = await takeEventLook(sql, { everyMs })
    if (lookedAt === null) return { more: false }
    const { channels, include_messages: includeMessages } = settings()
    await recordChannels(sql, describeChannels(channels))
    await sql.begin(async (sql) => {
      const routes = await listNotificationRoutes(sql)
      const at = now()
      const open = await listOpenConditions(sql)
      const found = await findEvents(sql, {
        ...{ after: new Date(lookedAt.getTime() - overlapMs), now: at, includeMessages },
        thresholds: [...new Set(routes.flatMap(({ dead_threshold: n }) => (n === null ? [] : [n])))],
        openBursts: open.flatMap(({ type, group_id, dlq_topic }) =>
          type === 'group.burst' && group_id !== null && dlq_topic !== null ? [{ group_id, dlq_topic }] : [],
        ),
        openDead: new Set(open.filter(({ type }) => type === 'dead.threshold').map(({ subject }) => subject)),
      })
      const happened = await noteEvents(sql, found.happened)
      const conditions = gravest(found.conditions)
      const { begun, ended } = await noteConditions(sql, { types: watchedConditions, conditions })
      const deps = { sql, routes, now: at }
      await routeEvents(deps, 'begin', [...happened, ...begun])
      await routeEvents(deps, 'end', ended)
      const { events, risen } = lasting(open, conditions)
      await routeEvents({ ...deps, risen }, 'again', events)
      await noteEventLook(sql, at)
      await forgetEvents(sql, { keptMs, now: at, limit: forgottenAtOnce })
      await forgetDeliveries(sql, { keptMs, now: at, limit: forgottenAtOnce })
    })
    return { more: false }
  }
}

const placeOf = ({ type, subject }: NewEvent) => `${type} ${subject}`

/** One for each subject, the gravest: two clusters may have a topic of one name. */
function gravest(conditions: readonly NewEvent[]): NewEvent[] {
  const found = new Map<string, NewEvent>()
  for (const condition of conditions) {
    const known = found.get(placeOf(condition))
    if (known === undefined || isGraver(condition, known)) found.set(placeOf(condition), condition)
  }
  return [...found.values()]
}

function isGraver(one: NewEvent, other: NewEvent): boolean {
  return severityRank(one.severity) > severityRank(other.severity)
}

/** The conditions that were open and last, as they are now. `risen`: those that have become graver. */
function lasting(open: readonly Event[], conditions: readonly NewEvent[]) {
  const present = new Map(conditions.map((condition) => [placeOf(condition), condition]))
  const events = open.flatMap((event) => {
    const now = present.get(placeOf(event))
    if (now === undefined) return []
    const { severity, title, owner = null } = now
    return [{ before: event, now: { ...event, severity, title, owner } }]
  })
  return {
    events: events.map(({ now }) => now),
    risen: new Set(events.filter(({ before, now }) => isGraver(now, before)).map(({ now }) => now.id)),
  }
}

/** `except`: a channel that does not work. `risen`: ids of events that are told although they were told lately. */
type RouteDeps = {
  sql: Sql
  routes: readonly NotificationRoute[]
  now: Date
  except?: string
  risen?: ReadonlySet<string>
}

/** Gives events to the routes that want them. */
export async function routeEvents(
  { sql, routes, now, except, risen }: RouteDeps,
  kind: DeliveryKind,
  events: readonly Event[],
): Promise<void> {
  for (const route of routes) {
    if (route.channel === except || (route.muted_until !== null && route.muted_until > now)) continue
    // An end goes to all who heard of the condition: it may be less grave by then, and the route's rules others.
    const wanted = kind === 'end' ? events : events.filter((event) => takesEvent(route, event))
    if (wanted.length === 0) continue
    const told = await lastTold(sql, { route: route.name, eventIds: wanted.map(({ id }) => id) })
    for (const event of wanted) {
      const at = told.get(event.id)
      // What lasts is said again after a while, and what has become graver at once: what was told may still wait for the
      // end of quiet hours.
      const isDue =
        kind === 'begin'
          ? at === undefined
          : kind === 'end'
            ? at !== undefined
            : risen?.has(event.id) || isOver(at, route.repeatMs, now)
      if (isDue) await addToRoute(sql, { route, kind, event, now })
    }
  }
}

/** Of a condition of which nobody was told (its route is new, or was muted) it is time, too. */
function isOver(at: Date | undefined, repeatMs: number, now: Date): boolean {
  return at === undefined || now.getTime() - at.getTime() >= repeatMs
}

async function addToRoute(
  sql: Sql,
  { route, kind, event, now }: { route: NotificationRoute; kind: DeliveryKind; event: Event; now: Date },
): Promise<void> {
  const { name, channel } = route
  const { lastAt, waiting } = await lastOfRoute(sql, { route: name, channel, kind, now })
  const at = sendAt(event, route, { now, lastAt })
  const isInTime = waiting !== null && (event.severity !== 'critical' || waiting.send_at <= at)
  if (isInTime && (await gatherEvent(sql, { id: waiting.id, eventId: event.id }))) return
  await addDelivery(sql, { channel, route: name, kind, eventIds: [event.id], sendAt: at })
}
