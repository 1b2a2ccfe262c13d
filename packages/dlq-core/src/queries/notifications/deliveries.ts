// dlq_deliveries: what is sent to a channel, once for each route, by a job of graphile-worker. A delivery that cannot be
// made ends as dead, where people find it.

import { exactTime, type TimePlace } from '../exact-time.ts'
import type { Sql } from '../sql.ts'
import { addJob } from '../upkeep/workers.ts'
import { type Forgetting, keptSince } from './kept-since.ts'

export const deliverTask = 'deliver_notification'

export const deliveryStates = ['waiting', 'delivered', 'dead'] as const
export type DeliveryState = (typeof deliveryStates)[number]
export type DeliveryKind = 'begin' | 'again' | 'end' | 'test'

export type Delivery = {
  id: string
  channel: string
  route: string | null
  kind: DeliveryKind
  event_ids: string[]
  state: DeliveryState
  attempts: number
  send_at: Date
  last_status: number | null
  last_error: string | null
  created_at: Date
  settled_at: Date | null
}

function columns(sql: Sql) {
  return sql`
    id, channel, route, kind, event_ids, state, attempts, send_at, last_status, last_error, created_at, settled_at`
}

/** When a delivery of the route was sent last, and the one to its channel that nobody has ever begun to send. */
export async function lastOfRoute(
  sql: Sql,
  { route, channel, kind, now }: { route: string; channel: string; kind: DeliveryKind; now: Date },
): Promise<{ lastAt: Date | null; waiting: Pick<Delivery, 'id' | 'send_at'> | null }> {
  const rows = await sql<Pick<Delivery, 'id' | 'channel' | 'send_at' | 'kind' | 'state' | 'attempts' | 'last_error'>[]>`
    select id, channel, send_at, kind, state, attempts, last_error from dlq.dlq_deliveries
    where route = ${route} and created_at > now() - interval '2 days'
    order by created_at desc limit 100`
  const lastAt = rows
    .filter(({ send_at: at }) => at <= now)
    .reduce<Date | null>((last, { send_at: at }) => (last === null || at > last ? at : last), null)
  const isOpen = (row: (typeof rows)[number]) =>
    row.state === 'waiting' && row.attempts === 0 && row.last_error === null
  return { lastAt, waiting: rows.find((row) => row.channel === channel && row.kind === kind && isOpen(row)) ?? null }
}

/** At most this number of events goes out together; a message holds no more. */
const maxEvents = 50

/**
 * Adds an event to a delivery that has never begun. False where it has, or is full. One that is sent once more keeps its
 * events: its receiver may have seen its id, and would drop what is new.
 */
export async function gatherEvent(sql: Sql, { id, eventId }: { id: string; eventId: string }): Promise<boolean> {
  const result = await sql`
    update dlq.dlq_deliveries set event_ids = array_append(event_ids, ${eventId}::uuid)
    where id = ${id} and state = 'waiting' and attempts = 0 and last_error is null and cardinality(event_ids) < ${maxEvents}`
  return result.count > 0
}

export type NewDelivery = Pick<Delivery, 'channel' | 'route' | 'kind'> & { eventIds: readonly string[]; sendAt: Date }

/** Stores a delivery with its job, in the caller's transaction. */
export async function addDelivery(sql: Sql, { channel, route, kind, eventIds, sendAt }: NewDelivery): Promise<string> {
  const [row] = await sql<[{ id: string }]>`
    insert into dlq.dlq_deliveries (channel, route, kind, event_ids, send_at)
    values (${channel}, ${route}, ${kind}, ${sql.array([...eventIds])}::uuid[], ${sendAt})
    returning id`
  await scheduleDelivery(sql, { id: row.id, channel, at: sendAt })
  return row.id
}

/**
 * A job asks the row what is left to do, so that one job more does no harm. Those of a channel go one after the other: a
 * receiver that does not answer holds one job at most, and runs and other channels have the rest.
 */
async function scheduleDelivery(
  sql: Sql,
  { id, channel, at }: { id: string; channel: string; at: Date },
): Promise<void> {
  await addJob(sql, {
    task: deliverTask,
    queue: `${deliverTask}:${channel}`,
    payload: { id },
    key: `${deliverTask}:${id}:${at.getTime()}`,
    runAt: at,
    maxAttempts: 25,
  })
}

/** Begins the next try of a delivery that waits and is due. Null where there is nothing to do. */
export async function beginDelivery(sql: Sql, id: string): Promise<Delivery | null> {
  const [row] = await sql<Delivery[]>`
    update dlq.dlq_deliveries set attempts = attempts + 1
    where id = ${id} and state = 'waiting' and send_at <= clock_timestamp() + interval '1 second'
    returning ${columns(sql)}`
  return row ?? null
}

/** `attempts`: as `beginDelivery` has numbered the try. */
type Try = Pick<Delivery, 'id' | 'attempts'>

/**
 * A process that was frozen comes late: meanwhile another one may have made the next try, whose outcome counts. Only that
 * it was delivered is true whatever came since.
 */
function isCurrent(sql: Sql, { id, attempts }: Try) {
  return sql`id = ${id} and state = 'waiting' and attempts = ${attempts}`
}

/** Writes what came of a try. False where it came too late, and nothing was written. */
export async function settleDelivery(
  sql: Sql,
  { state, status, error, ...attempt }: Try & { state: DeliveryState; status: number | null; error: string | null },
): Promise<boolean> {
  const [row] = await sql<[{ is_settled: boolean }]>`
    with settled as (
      update dlq.dlq_deliveries set state = ${state}, last_status = ${status}, last_error = ${error},
             settled_at = case when ${state} <> 'waiting' then clock_timestamp() end
      where ${state === 'delivered' ? sql`id = ${attempt.id} and state <> 'delivered'` : isCurrent(sql, attempt)}
      returning channel
    ),
    noted as (
      update dlq.dlq_notification_channels c set
        delivered_at = case when ${state} = 'delivered' then clock_timestamp() else c.delivered_at end,
        last_error = ${error}
      from settled where c.name = settled.channel
    )
    select exists (select from settled) as is_settled`
  return row.is_settled
}

/** The next try is made then. */
export async function postponeDelivery(
  sql: Sql,
  { id, channel, at }: { id: string; channel: string; at: Date },
): Promise<void> {
  await sql`update dlq.dlq_deliveries set send_at = ${at} where id = ${id}`
  await scheduleDelivery(sql, { id, channel, at })
}

/** Undoes `beginDelivery`: this was no try. Another retrier may make it then. */
export async function leaveDelivery(
  sql: Sql,
  { channel, at, ...attempt }: Try & { channel: string; at: Date },
): Promise<void> {
  const left = await sql`
    update dlq.dlq_deliveries set attempts = attempts - 1, send_at = ${at} where ${isCurrent(sql, attempt)}`
  if (left.count > 0) await scheduleDelivery(sql, { id: attempt.id, channel, at })
}

export async function disableChannel(sql: Sql, name: string): Promise<void> {
  await sql`update dlq.dlq_notification_channels set disabled_at = coalesce(disabled_at, clock_timestamp()) where name = ${name}`
}

/** Whether the receiver has said that it is gone for good. */
export async function isChannelDisabled(sql: Sql, name: string): Promise<boolean> {
  const [row] = await sql<{ disabled: boolean }[]>`
    select disabled_at is not null as disabled from dlq.dlq_notification_channels where name = ${name}`
  return row?.disabled ?? false
}

/** The newest first, behind `after`. `place`: its time as text, to the microsecond. */
export async function listDeliveries(
  sql: Sql,
  {
    state,
    before,
    after = null,
    limit,
  }: { state: DeliveryState | null; before: Date | null; after?: TimePlace | null; limit: number },
): Promise<(Delivery & { place: string })[]> {
  return sql<(Delivery & { place: string })[]>`
    select ${columns(sql)}, ${exactTime(sql, sql`created_at`)} as place from dlq.dlq_deliveries
    where true
      ${state === null ? sql`` : sql`and state = ${state}`}
      ${before === null ? sql`` : sql`and created_at < ${before}`}
      ${after === null ? sql`` : sql`and (created_at, id) < (${after.at}::text::timestamptz, ${after.id}::uuid)`}
    order by created_at desc, id desc limit ${limit}`
}

/** Makes a dead delivery wait again, with all of its tries. Null where there is no dead one of this id. */
export async function retryDelivery(sql: Sql, id: string): Promise<Delivery | null> {
  const [row] = await sql<Delivery[]>`
    update dlq.dlq_deliveries set state = 'waiting', attempts = 0, send_at = clock_timestamp(), settled_at = null
    where id = ${id} and state = 'dead'
    returning ${columns(sql)}`
  if (!row) return null
  await scheduleDelivery(sql, { id, channel: row.channel, at: row.send_at })
  return row
}

/** When these events were last told along the route, by event. */
export async function lastTold(
  sql: Sql,
  { route, eventIds }: { route: string; eventIds: readonly string[] },
): Promise<Map<string, Date>> {
  if (eventIds.length === 0) return new Map()
  const rows = await sql<{ id: string; at: Date }[]>`
    select told.id, max(d.send_at) as at from dlq.dlq_deliveries d
    cross join lateral unnest(d.event_ids) as told (id)
    where d.route = ${route} and d.kind <> 'end' and d.event_ids && ${sql.array([...eventIds])}::uuid[]
    group by told.id`
  return new Map(rows.map(({ id, at }) => [id, at]))
}

export async function forgetDeliveries(sql: Sql, { keptMs, now, limit }: Forgetting): Promise<number> {
  const result = await sql`
    delete from dlq.dlq_deliveries where id in (
      select id from dlq.dlq_deliveries
      where created_at < ${keptSince(sql, { keptMs, now })} and state <> 'waiting' order by created_at limit ${limit})`
  return result.count
}
