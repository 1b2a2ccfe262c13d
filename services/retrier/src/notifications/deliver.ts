// Sends one delivery: a task of graphile-worker. The row says what is left to do, so a job that runs twice, or again after
// a kill, sends under the same id and nothing else.

import { waitAfterMs } from 'dlq-core/domain/notifications/route-event.ts'
import {
  beginDelivery,
  type Delivery,
  disableChannel,
  isChannelDisabled,
  leaveDelivery,
  postponeDelivery,
  settleDelivery,
} from 'dlq-core/queries/notifications/deliveries.ts'
import { noteEvents, readEvents } from 'dlq-core/queries/notifications/events.ts'
import { listChannels, listNotificationRoutes } from 'dlq-core/queries/notifications/routes.ts'
import type { Config } from 'dlq-core/runtime/config/config-schema.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import { openChannel } from './channels.ts'
import type { NotificationMetrics } from './notification-metrics.ts'
import { type Answer, sendSafely } from './post-safely.ts'
import { renderDelivery } from './render.ts'
import { routeEvents } from './watch-events.ts'

export type DeliverDeps = {
  sql: Database
  settings: () => Config['notifications']
  /** The name of this deployment, and where its console is. */
  source: string
  consoleUrl: string | null
  metrics: NotificationMetrics
  log: Log
  now: () => Date
}

/** Until another retrier may take a delivery whose channel this one does not have. */
const leftMs = 30_000

type Outcome =
  | { kind: 'delivered'; status: number }
  | { kind: 'again'; status: number | null; error: string; waitMs: number | null }
  | { kind: 'elsewhere' }
  | { kind: 'dead'; status: number | null; error: string }
  | { kind: 'gone'; status: number; error: string }

export function createDeliver(deps: DeliverDeps) {
  const { sql, metrics, log, now } = deps
  return async function deliver(payload: unknown): Promise<void> {
    const delivery = await beginDelivery(sql, (payload as { id: string }).id)
    if (delivery === null) return
    const outcome = await attempt(deps, delivery)
    const { id, channel, attempts } = delivery
    metrics.deliveries.inc({ outcome: outcome.kind })
    if (outcome.kind === 'delivered') {
      await settleDelivery(sql, { id, attempts, state: 'delivered', status: outcome.status, error: null })
      return
    }
    if (outcome.kind === 'elsewhere') {
      const at = new Date(now().getTime() + leftMs)
      await sql.begin((sql) => leaveDelivery(sql, { id, attempts, channel, at }))
      log.info({ delivery: id, channel }, 'delivery_left')
      return
    }
    const { status, error } = outcome
    const waitMs = outcome.kind === 'again' ? waitAfterMs(attempts) : null
    if (outcome.kind === 'again' && waitMs !== null) {
      const at = new Date(now().getTime() + Math.max(waitMs, outcome.waitMs ?? 0))
      await sql.begin(async (sql) => {
        if (await settleDelivery(sql, { id, attempts, state: 'waiting', status, error }))
          await postponeDelivery(sql, { id, channel, at })
      })
      log.info({ delivery: id, channel, attempts, status, error }, 'delivery_failed')
      return
    }
    await giveUp(deps, delivery, { status, error, isGone: outcome.kind === 'gone' })
  }
}

/**
 * The dead end: it is listed and counted, and the other channels hear of it. Unless it told of another dead delivery: two
 * channels that are gone would tell each other without end.
 */
async function giveUp(
  { sql, log, now }: DeliverDeps,
  { id, channel, attempts, send_at, event_ids }: Delivery,
  { status, error, isGone }: { status: number | null; error: string; isGone: boolean },
): Promise<void> {
  await sql.begin(async (sql) => {
    if (!(await settleDelivery(sql, { id, attempts, state: 'dead', status, error }))) return
    log.error({ delivery: id, channel, attempts, status, error }, 'delivery_dead')
    if (isGone) await disableChannel(sql, channel)
    const title = isGone
      ? `The channel ${channel} is gone (410) and disabled`
      : `A delivery to ${channel} has failed for good`
    // Somebody may send it once more, and it may end as dead once more.
    const when = `${id} ${send_at.toISOString()}`
    const events = await noteEvents(sql, [
      { type: 'delivery.dead', subject: `channel/${channel}`, severity: 'warning', title, when },
    ])
    const told = await readEvents(sql, event_ids)
    if (told.length > 0 && told.every(({ type }) => type === 'delivery.dead')) return
    const routes = await listNotificationRoutes(sql)
    await routeEvents({ sql, routes, now: now(), except: channel }, 'begin', events)
  })
}

async function attempt(deps: DeliverDeps, delivery: Delivery): Promise<Outcome> {
  const { sql, settings, source, consoleUrl, now } = deps
  const { channels, allow_http, allow_networks } = settings()
  const configured = channels.find(({ name }) => name === delivery.channel)
  if (configured === undefined) {
    // While retriers get a new configuration one after the other, some have the channel and others do not.
    if ((await listChannels(sql)).some(({ name }) => name === delivery.channel)) return { kind: 'elsewhere' }
    return { kind: 'dead', status: null, error: `there is no channel ${delivery.channel} in notifications.channels` }
  }
  if (await isChannelDisabled(sql, delivery.channel))
    return { kind: 'dead', status: null, error: 'the channel is disabled, because its receiver said 410' }
  const events = await readEvents(sql, delivery.event_ids)
  if (events.length === 0 && delivery.kind !== 'test')
    return { kind: 'dead', status: null, error: 'its events are forgotten' }
  try {
    const channel = openChannel(configured)
    const { body, headers } = renderDelivery(
      channel.kind,
      { ...{ id: delivery.id, kind: delivery.kind, events, source, consoleUrl }, now: now() },
      channel.secrets,
    )
    const rules = { allowHttp: allow_http, allowNetworks: allow_networks ?? [] }
    return judge(await sendSafely(channel.url, { body, headers }, rules))
  } catch (error) {
    // Neither address nor secret stands in these errors; a path of an address would be a secret.
    return { kind: 'again', status: null, error: (error as Error).message, waitMs: null }
  }
}

/** 2xx is done. A redirect is a failure: what is configured is what is called. */
export function judge({ status, retryAfterMs }: Answer): Outcome {
  if (status >= 200 && status < 300) return { kind: 'delivered', status }
  if (status === 410) return { kind: 'gone', status, error: 'the receiver is gone (410)' }
  const error =
    status >= 300 && status < 400 ? `redirects (${status}) are not followed` : `the receiver answered ${status}`
  return { kind: 'again', status, error, waitMs: retryAfterMs }
}
