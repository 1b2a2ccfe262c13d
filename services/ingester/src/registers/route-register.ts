// The states of the routes that this ingester meets. A route is looked up in the database once; after that it costs a
// look into a map, so that routes do not slow a batch. Decisions are read again every second.

import {
  isOpen,
  isVariant,
  type Route,
  type RouteSettings,
  type RouteState,
  stateByConfiguration,
} from 'dlq-core/domain/failure/topic-routes.ts'
import type { DeadLetter, NewMessage } from 'dlq-core/domain/message/new-message.ts'
import {
  admitRoutes,
  findDecisions,
  listRecentDecisions,
  trustWaiting,
  type WantedRoute,
} from 'dlq-core/queries/routes/route-states.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'

export type RouteTest = (route: Route) => boolean

export type RouteRegister = {
  /** Holds the letters whose DLQ topic may not send to their original topic: they are not scheduled. */
  admit(letters: readonly DeadLetter[]): Promise<void>
  /** Holds the message, or not, where its route is known. False where the database has to be asked. */
  admitKnown(message: NewMessage): boolean
  /** Tells which of the routes are open. */
  testOf(sql: Sql, routes: readonly Route[]): Promise<RouteTest>
  /** The database may not have what it was told: each route is looked up again. */
  forget(): void
  /** One pass: follows decisions and mappings. */
  refresh(): Promise<{ more: false }>
}

const maxRemembered = 50_000
/** Decisions of the last minute are read; after a longer silence everything is read again. */
const maxSilenceMs = 30_000

export function createRouteRegister(
  sql: Sql,
  { now, ...settings }: RouteSettings & { now: () => number },
): RouteRegister {
  const known = new Map<string, RouteState>()
  let refreshedAt = now()
  let isFirst = true
  /** As of the last look: those of subscriptions come and go while the ingester runs. */
  let mappings = JSON.stringify(settings.mappings)

  /** The states that are remembered, and the other routes with what the configuration says about them. */
  function split(routes: readonly Route[]) {
    const states = new Map<string, RouteState>()
    const unknown = new Map<string, WantedRoute>()
    for (const { dlq_topic, original_topic } of routes) {
      const key = keyOf({ dlq_topic, original_topic })
      const state = known.get(key)
      if (state !== undefined) states.set(key, state)
      else if (!unknown.has(key)) {
        const route = { dlq_topic, original_topic }
        const state = stateByConfiguration(route, settings)
        unknown.set(key, { ...route, state, is_variant: state === 'by_name' && isVariant(route) })
      }
    }
    return { states, unknown }
  }

  return {
    async admit(letters) {
      const claiming = letters.filter(({ message }) => needsRoute(message))
      const { states, unknown } = split(claiming.map(({ message }) => message))
      const admitted = await admitRoutes(sql, [...unknown.values()])
      // A plain bound: forgetting all of it now and then costs one query for the routes of the next batches.
      if (known.size + admitted.length > maxRemembered) known.clear()
      for (const { state, ...route } of admitted) {
        states.set(keyOf(route), state)
        known.set(keyOf(route), state)
      }
      for (const { message } of claiming) hold(message, states.get(keyOf(message))!)
    },
    admitKnown(message) {
      if (!needsRoute(message)) return true
      const state = known.get(keyOf(message))
      if (state === undefined) return false
      hold(message, state)
      return true
    },
    async testOf(sql, routes) {
      const { states, unknown } = split(routes.filter(needsRoute))
      // Not remembered: only a dead letter that names the route itself makes it known.
      const decided = await findDecisions(sql, [...unknown.values()])
      for (const { state, ...route } of [...unknown.values(), ...decided]) states.set(keyOf(route), state)
      return (route) => !needsRoute(route) || isOpen(states.get(keyOf(route)) ?? stateByConfiguration(route, settings))
    },
    forget: () => known.clear(),
    async refresh() {
      if (isFirst && settings.mode === 'trust') await trustWaiting(sql)
      isFirst = false
      const before = mappings
      mappings = JSON.stringify(settings.mappings)
      if (mappings !== before || now() - refreshedAt > maxSilenceMs) known.clear()
      const decided = await listRecentDecisions(sql)
      refreshedAt = now()
      for (const { state, ...route } of decided) if (known.has(keyOf(route))) known.set(keyOf(route), state)
      return { more: false }
    },
  }
}

function hold(message: NewMessage, state: RouteState): void {
  if (isOpen(state)) return
  message.held_by_route = true
  message.next_retry_at = null
  // It waits for no other of its key, and no other for it: thousands of one key would slow down the claims of its topic.
  message.order_key = null
}

/** Of a dead letter whose original topic nobody knows, the DLQ topic's own name stands for it. */
function needsRoute({ dlq_topic, original_topic }: Route): boolean {
  return dlq_topic !== original_topic
}

/** Kafka's topic names hold no space. */
function keyOf({ dlq_topic, original_topic }: Route): string {
  return `${dlq_topic} ${original_topic}`
}
