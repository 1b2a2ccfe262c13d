// One delivery to a receiver that answers as it is told to.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  addDelivery,
  beginDelivery,
  type Delivery,
  disableChannel,
  gatherEvent,
  lastOfRoute,
  listDeliveries,
  retryDelivery,
  settleDelivery,
} from 'dlq-core/queries/notifications/deliveries.ts'
import { listChannels, recordChannels } from 'dlq-core/queries/notifications/routes.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createDeliver } from './deliver.ts'
import { createNotificationMetrics } from './notification-metrics.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const folder = mkdtempSync(join(tmpdir(), 'dlq-channels-'))
let answer: { status: number; headers?: Record<string, string> }
let asked = 0
/** What happens while the receiver is asked. */
let meanwhile = async () => {}
const server = createServer((request, response) => {
  asked += 1
  request.resume().on('end', async () => {
    await meanwhile()
    response.writeHead(answer.status, answer.headers).end()
  })
})

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  writeFileSync(join(folder, 'url'), `http://127.0.0.1:${(server.address() as AddressInfo).port}/\n`)
})
afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true })
})
beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_events', 'dlq.dlq_deliveries', 'graphile_worker._private_jobs')
  await emptyTables(database.sql, 'dlq.dlq_notification_channels')
  asked = 0
  meanwhile = async () => {}
})

/** Returns the delivery afterwards, and what the metric has counted. */
async function deliver(
  of: Partial<Pick<Delivery, 'kind' | 'event_ids'>> = {},
): Promise<{ delivery: Delivery; tries: string[] }> {
  const registry = new Registry()
  const id = await addDelivery(service.sql, {
    ...{ channel: 'chat', route: null, kind: of.kind ?? 'test', eventIds: of.event_ids ?? [], sendAt: new Date() },
  })
  await createDeliver({
    ...{ sql: service.sql, source: 'dlq-manager', consoleUrl: null, now: () => new Date() },
    ...{ log: createLog({ service: 'test', level: 'silent' }), metrics: createNotificationMetrics(registry) },
    settings: () => ({
      channels: [{ name: 'chat', kind: 'slack', url_file: join(folder, 'url') }],
      ...{ allow_http: true, allow_networks: ['127.0.0.1'], include_messages: false },
    }),
  })({ id })
  const found = await listDeliveries(service.sql, { state: null, before: null, limit: 1 })
  const tries = (await registry.metrics()).split('\n').filter((line) => /^dlq_notification_tries.* [1-9]/.test(line))
  return { delivery: found[0]!, tries }
}

test('a receiver that asks for two hours is not asked before, and then has a job', async () => {
  answer = { status: 429, headers: { 'retry-after': '7200' } }
  const { delivery, tries } = await deliver()
  expect(delivery).toMatchObject({ state: 'waiting', attempts: 1, last_status: 429 })
  expect(delivery.send_at.getTime() - Date.now()).toBeGreaterThan(7190_000)
  const [job] = await database.sql`select max(run_at) as run_at from graphile_worker.jobs`
  expect(job!.run_at).toEqual(delivery.send_at)
  expect(tries).toEqual(['dlq_notification_tries_total{outcome="again"} 1'])
})

test('each try is counted by what came of it, and the channel says when it worked last', async () => {
  await recordChannels(service.sql, [{ name: 'chat', kind: 'slack', host: '127.0.0.1' }])
  answer = { status: 500 }
  expect((await deliver()).tries).toEqual(['dlq_notification_tries_total{outcome="again"} 1'])
  expect(await listChannels(service.sql)).toMatchObject([
    { delivered_at: null, last_error: 'the receiver answered 500' },
  ])
  answer = { status: 204 }
  expect((await deliver()).tries).toEqual(['dlq_notification_tries_total{outcome="delivered"} 1'])
  expect(await listChannels(service.sql)).toMatchObject([{ delivered_at: expect.any(Date), last_error: null }])
})

test('an event joins a delivery that has room, and that nobody has begun to send', async () => {
  const add = (events: number) => {
    const eventIds = Array.from({ length: events }, () => crypto.randomUUID())
    return addDelivery(service.sql, { channel: 'chat', route: 'all', kind: 'begin', eventIds, sendAt: new Date() })
  }
  const [free, full, begun] = [await add(49), await add(50), await add(1)]
  await beginDelivery(service.sql, begun)
  const joins = (id: string) => gatherEvent(service.sql, { id, eventId: crypto.randomUUID() })
  expect([await joins(free), await joins(full), await joins(begun)]).toEqual([true, false, false])
})

test('an event joins no delivery that is sent once more: a receiver that has seen its id would drop the event', async () => {
  const [eventIds, now] = [[crypto.randomUUID()], new Date()]
  const id = await addDelivery(service.sql, { channel: 'chat', route: 'all', kind: 'begin', eventIds, sendAt: now })
  const { attempts } = (await beginDelivery(service.sql, id))!
  await settleDelivery(service.sql, { id, attempts, state: 'dead', status: 500, error: 'the receiver answered 500' })
  expect(await retryDelivery(service.sql, id)).toMatchObject({ state: 'waiting', attempts: 0 })
  expect(await gatherEvent(service.sql, { id, eventId: crypto.randomUUID() })).toBe(false)
  const { waiting } = await lastOfRoute(service.sql, { route: 'all', channel: 'chat', kind: 'begin', now })
  expect(waiting).toBeNull()
})

test('a route was last told when its latest delivery was sent; one that waits is gathered in, of its kind and its route', async () => {
  const now = new Date()
  const at = (seconds: number) => new Date(now.getTime() + seconds * 1000)
  const add = (seconds: number, { route = 'all', kind = 'begin' as Delivery['kind'] } = {}) =>
    addDelivery(service.sql, { channel: 'chat', route, kind, eventIds: [], sendAt: at(seconds) })
  const last = (kind: Delivery['kind'], route = 'all') =>
    lastOfRoute(service.sql, { route, channel: 'chat', kind, now })
  expect(await last('begin')).toEqual({ lastAt: null, waiting: null })
  for (const seconds of [-60, -10, -30]) await beginDelivery(service.sql, await add(seconds))
  expect(await last('begin')).toEqual({ lastAt: at(-10), waiting: null })
  const waiting = await add(40)
  await add(50, { route: 'other' })
  expect(await last('begin')).toEqual({ lastAt: at(-10), waiting: expect.objectContaining({ id: waiting }) })
  expect(await last('end')).toEqual({ lastAt: at(-10), waiting: null })
})

test('a channel that goes to another host is no longer disabled', async () => {
  await recordChannels(service.sql, [{ name: 'chat', kind: 'slack', host: 'old.example' }])
  await disableChannel(service.sql, 'chat')
  await recordChannels(service.sql, [{ name: 'chat', kind: 'slack', host: 'old.example' }])
  expect(await listChannels(service.sql)).toMatchObject([{ host: 'old.example', disabled_at: expect.any(Date) }])
  await recordChannels(service.sql, [{ name: 'chat', kind: 'webhook', host: 'new.example' }])
  expect(await listChannels(service.sql)).toMatchObject([{ kind: 'webhook', host: 'new.example', disabled_at: null }])
})

test('what was delivered is not sent once more', async () => {
  answer = { status: 204 }
  const { delivery } = await deliver()
  expect(await retryDelivery(service.sql, delivery.id)).toBeNull()
  // By a job of it that runs once more, say.
  expect(await beginDelivery(service.sql, delivery.id)).toBeNull()
})

test('a delivery is not begun before its time', async () => {
  const add = (sendAt: Date) =>
    addDelivery(service.sql, { channel: 'chat', route: null, kind: 'test', eventIds: [], sendAt })
  expect(await beginDelivery(service.sql, await add(new Date(Date.now() + 60_000)))).toBeNull()
  expect(await beginDelivery(service.sql, await add(new Date()))).toMatchObject({ attempts: 1 })
})

test('a delivery whose events are forgotten is dead, and not sent without them', async () => {
  answer = { status: 204 }
  const { delivery, tries } = await deliver({ kind: 'begin', event_ids: [crypto.randomUUID()] })
  expect(delivery).toMatchObject({ state: 'dead', last_error: 'its events are forgotten' })
  expect([asked, tries]).toEqual([0, ['dlq_notification_tries_total{outcome="dead"} 1']])
})

describe('a retrier that was frozen while it asked the receiver', () => {
  /** Another retrier takes the job, and makes the next try. */
  const nextTry = async (state: 'delivered' | null) => {
    const [waiting] = await listDeliveries(service.sql, { state: 'waiting', before: null, limit: 1 })
    const { id, attempts } = (await beginDelivery(service.sql, waiting!.id))!
    if (state !== null) await settleDelivery(service.sql, { id, attempts, state, status: 204, error: null })
  }

  test.each([500, 410])(
    'leaves delivered what another one has delivered, whatever it is answered: %s',
    async (status) => {
      await recordChannels(service.sql, [{ name: 'chat', kind: 'slack', host: '127.0.0.1' }])
      answer = { status }
      meanwhile = () => nextTry('delivered')
      const { delivery } = await deliver()
      expect(delivery).toMatchObject({ state: 'delivered', attempts: 2, last_status: 204, last_error: null })
      expect(await listChannels(service.sql)).toMatchObject([{ disabled_at: null, last_error: null }])
      expect(await database.sql`select from graphile_worker.jobs`).toHaveLength(1)
    },
  )

  test('says that it was delivered, also while another one tries again', async () => {
    answer = { status: 204 }
    meanwhile = () => nextTry(null)
    const { delivery } = await deliver()
    expect(delivery).toMatchObject({ state: 'delivered', attempts: 2, last_status: 204 })
  })
})
