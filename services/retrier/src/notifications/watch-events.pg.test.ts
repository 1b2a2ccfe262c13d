// From what happens in the tables to a receiver on this machine, through routes and jobs.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deliverTask, listDeliveries, retryDelivery } from 'dlq-core/queries/notifications/deliveries.ts'
import { listEvents } from 'dlq-core/queries/notifications/events.ts'
import { listChannels, type NotificationRoute } from 'dlq-core/queries/notifications/routes.ts'
import type { ChannelKind } from 'dlq-core/runtime/config/notification-schema.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import fc from 'fast-check'
import { Registry } from 'prom-client'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createDeliver } from './deliver.ts'
import { createNotificationMetrics } from './notification-metrics.ts'
import { putTestRoute } from './test-route.ts'
import { createEventWatch } from './watch-events.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const folder = mkdtempSync(join(tmpdir(), 'dlq-channels-'))
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const group = '00000000-0000-8000-8000-000000000001'
const minuteMs = 60_000

type Received = {
  id: string
  body: { id: string; type: string; data: { kind: string; title?: string; events?: { title: string }[] } }
}
let received: Received[] = []
let bodies: string[] = []
let status = 200
let now = new Date()
const server = createServer(async (request, answer) => {
  const body = Buffer.concat(await Array.fromAsync(request)).toString()
  bodies.push(body)
  // Slack and Teams know no signature.
  if (request.headers['webhook-id'] !== undefined)
    new Webhook(secret).verify(body, request.headers as Record<string, string>)
  received.push({ id: request.headers['webhook-id'] as string, body: JSON.parse(body) })
  answer.writeHead(status).end()
})

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  writeFileSync(join(folder, 'url'), `http://127.0.0.1:${port}/secret-path\n`)
  writeFileSync(join(folder, 'key'), `${secret}\n`)
})
afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true })
})

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_events', 'dlq.dlq_deliveries', 'dlq.dlq_notification_routes')
  await emptyTables(database.sql, 'dlq.dlq_notification_channels', 'graphile_worker._private_jobs', 'dlq.dlq_runs')
  await emptyTables(database.sql, 'dlq.dlq_messages', 'dlq.dlq_groups', 'dlq.dlq_group_topics', 'dlq.dlq_group_pauses')
  await database.sql`update dlq.dlq_event_watch set look_due_at = now(), looked_at = now() - interval '1 minute'`
  received = []
  bodies = []
  status = 200
  now = new Date()
})

const channelOf = (name: string, kind: ChannelKind = 'webhook') => ({
  ...{ name, kind, url_file: join(folder, 'url'), secret_file: join(folder, 'key') },
})
const settings = () => ({
  channels: [channelOf('on-call'), channelOf('other'), channelOf('slack', 'slack'), channelOf('teams', 'teams')],
  ...{ allow_http: true, allow_networks: ['127.0.0.1'], include_messages: false },
})
const log = createLog({ service: 'test', level: 'silent' })
const watch = () => createEventWatch({ sql: service.sql, settings, now: () => now })
const deliver = (channels = settings().channels) =>
  createDeliver({
    // Its receiver refuses a signature of another time.
    ...{
      sql: service.sql,
      settings: () => ({ ...settings(), channels }),
      source: 'dlq-manager',
      consoleUrl: null,
      log,
      now: () => new Date(),
    },
    metrics: createNotificationMetrics(new Registry()),
  })

async function look(): Promise<void> {
  await database.sql`update dlq.dlq_event_watch set look_due_at = now()`
  await watch()()
}

/** Performs the jobs that are due, as graphile-worker does. Those for later stay. */
async function work({ all = false, channels = settings().channels } = {}): Promise<void> {
  const jobs = await database.sql`
    delete from graphile_worker._private_jobs j using graphile_worker._private_tasks t
    where t.id = j.task_id and t.identifier = ${deliverTask} and (${all} or j.run_at <= ${now})
    returning j.payload`
  if (all) await database.sql`update dlq.dlq_deliveries set send_at = now() where state = 'waiting'`
  for (const { payload } of jobs) await deliver(channels)(typeof payload === 'string' ? JSON.parse(payload) : payload)
}

const route = (fields: Partial<NotificationRoute> = {}) =>
  putTestRoute(service.sql, { digestMs: 5 * minuteMs, ...fields })

async function addGroup(id = group, dlqTopic = 'orders.dlq.v1'): Promise<void> {
  await database.sql`
    insert into dlq.dlq_groups (id, version, message, title) values (${id}, 1, 'card 4111', 'no card 4111')
    on conflict (id) do nothing`
  await database.sql`insert into dlq.dlq_group_topics (dlq_topic, group_id) values (${dlqTopic}, ${id})`
}

const titles = () =>
  received.map(({ body: { data } }) => data.title ?? data.events?.map(({ title }) => title).join(' | '))

test('a new error group is told once, signed, without what its error says', async () => {
  await route()
  await addGroup()
  await look()
  await look()
  await work()
  expect(titles()).toEqual(['New error group on orders.dlq.v1'])
  expect(received[0]!.body.type).toBe('io.dlq-manager.group.new')
  expect(JSON.stringify(received)).not.toContain('4111')
  expect(await listDeliveries(service.sql, { state: null, before: null, limit: 10 })).toMatchObject([
    { channel: 'on-call', route: 'all', kind: 'begin', state: 'delivered', last_status: 200, attempts: 1 },
  ])
  const [event] = await listEvents(service.sql, {
    type: null,
    open: false,
    before: null,
    limit: 10,
    scope: ['orders.*'],
  })
  expect(event).toMatchObject({ type: 'group.new', dlq_topic: 'orders.dlq.v1' })
  expect(await listEvents(service.sql, { type: null, open: false, before: null, limit: 10, scope: ['pay.*'] })).toEqual(
    [],
  )
  const shown = await listChannels(service.sql)
  expect(shown.map(({ name, kind }) => `${name} ${kind}`)).toEqual([
    ...['on-call webhook', 'other webhook', 'slack slack', 'teams teams'],
  ])
  expect(JSON.stringify(shown)).not.toContain('secret-path')
})

test('the deliveries of a channel wait in one queue, so that a receiver that hangs holds one job', async () => {
  await route({ digestMs: 0 })
  await route({ name: 'beside', channel: 'other', digestMs: 0 })
  for (let n = 0; n < 60; n += 1) await addGroup(group, `topic-${n}.dlq.v1`)
  await look()
  const queues = await database.sql`
    select queue_name, count(*)::int as jobs from graphile_worker.jobs group by queue_name order by queue_name`
  expect([...queues]).toEqual([
    { queue_name: `${deliverTask}:on-call`, jobs: 2 },
    { queue_name: `${deliverTask}:other`, jobs: 2 },
  ])
})

test('a group that fails again after it was resolved has regressed; pauses and their ends are told too', async () => {
  await route({ digestMs: 0 })
  await addGroup()
  await look()
  await work()
  received = []
  await database.sql`
    update dlq.dlq_group_topics set state = 'resolved', state_changed_at = now() - interval '1 minute', last_seen_at = now()`
  await database.sql`
    insert into dlq.dlq_group_pauses (original_topic, group_id, reason, probe_at) values ('orders', ${group}, '20 retries failed again', now())`
  await look()
  await look()
  await work()
  await database.sql`update dlq.dlq_group_pauses set resumed_at = now()`
  await look()
  await work()
  expect(titles().join(' | ').split(' | ').toSorted()).toEqual([
    'Automatic retries are paused on orders; 20 retries failed again',
    'Automatic retries go on on orders',
    'Failed again after it was resolved on orders.dlq.v1',
  ])
})

test.each([
  ['retry', 'A run of kind retry has ended: 3 sent, 0 came back'],
  ['dead', 'A run of kind dead has ended: 5 messages done'],
])('the end of a run says what it did: %s', async (kind, title) => {
  await route()
  await look()
  await database.sql`
    insert into dlq.dlq_runs (kind, status, actor, selection, until_id, matched, matched_relation, taken, done, resolved, ended_at)
    values (${kind}, 'completed', 'ann', '{}', gen_random_uuid(), 5, 'eq', 3, 5, 3, clock_timestamp())`
  now = new Date()
  await look()
  await work({ all: true })
  expect(titles()).toEqual([title])
})

test('the first event goes at once, and further ones of the digest’s time together', async () => {
  await route()
  await addGroup()
  await look()
  await work()
  for (const n of [2, 3]) {
    await addGroup(`00000000-0000-8000-8000-00000000000${n}`, `topic-${n}.dlq.v1`)
    await look()
  }
  await work()
  expect(received).toHaveLength(1)
  await work({ all: true })
  expect(titles()).toEqual([
    'New error group on orders.dlq.v1',
    'New error group on topic-2.dlq.v1 | New error group on topic-3.dlq.v1',
  ])
})

test('a condition is told when it begins, again while it lasts, and once when it is over', async () => {
  await route({ dead_threshold: 2, digestMs: 0 })
  for (let n = 0; n < 2; n += 1) await insertMessageRow(database.sql, { original_topic: 'orders', status: 'DEAD' })
  await look()
  await look()
  await work()
  expect(received.map(({ body: { data } }) => data.kind)).toEqual(['begin'])
  now = new Date(now.getTime() + 241 * minuteMs)
  await look()
  await work({ all: true })
  expect(received.map(({ body: { data } }) => data.kind)).toEqual(['begin', 'again'])
  await database.sql`update dlq.dlq_messages set status = 'PENDING'`
  await look()
  await look()
  await work({ all: true })
  expect(received.map(({ body: { data } }) => data.kind)).toEqual(['begin', 'again', 'end'])
  expect(titles()[2]).toBe('orders has at least 2 DEAD messages')
})

test('a delivery whose process was killed is made again, under the same id', async () => {
  await route()
  await addGroup()
  await look()
  // It was sent, and the process died before it could say so.
  await database.sql`update dlq.dlq_deliveries set attempts = 1`
  const [job] = await database.sql`select payload from graphile_worker._private_jobs`
  await work()
  await database.sql`update dlq.dlq_deliveries set state = 'waiting'`
  await deliver()(job!.payload)
  expect(received).toHaveLength(2)
  expect(new Set(received.map(({ id }) => id)).size).toBe(1)
})

test('a receiver that fails is tried again for hours, and then the delivery is dead, told to others, and can be retried', async () => {
  await route()
  await route({ name: 'backup', channel: 'other', types: ['delivery.dead'] })
  await addGroup()
  await look()
  status = 500
  for (let tries = 0; tries < 12; tries += 1) await work({ all: true })
  const state = async () =>
    (await listDeliveries(service.sql, { state: null, before: null, limit: 10 })).map(
      ({ route, state, attempts }) => `${route} ${state} ${attempts}`,
    )
  expect(await state()).toEqual(['backup waiting 0', 'all dead 12'])
  expect(received).toHaveLength(12)
  status = 200
  await work({ all: true })
  expect(titles().at(-1)).toBe('A delivery to on-call has failed for good')
  const [dead] = await listDeliveries(service.sql, { state: 'dead', before: null, limit: 1 })
  const retry = () => retryDelivery(service.sql, dead!.id)
  expect(await retry()).toMatchObject({ state: 'waiting', attempts: 0 })
  status = 500
  for (let tries = 0; tries < 12; tries += 1) await work({ all: true })
  expect(await state()).toEqual(['backup waiting 0', 'backup delivered 1', 'all dead 12'])
  status = 200
  await retry()
  await work({ all: true })
  expect(await state()).toEqual(['backup delivered 1', 'backup delivered 1', 'all delivered 1'])
})

test('a retrier without the channel leaves its deliveries to those that have it, and they are dead once no retrier has', async () => {
  await route()
  await addGroup()
  await look()
  const state = async () =>
    (await listDeliveries(service.sql, { state: null, before: null, limit: 10 })).map(
      ({ state, attempts, last_error: error }) => [state, attempts, error],
    )
  for (let taken = 0; taken < 20; taken += 1) await work({ all: true, channels: [] })
  expect(await state()).toEqual([['waiting', 0, null]])
  await work({ all: true })
  expect(await state()).toEqual([['delivered', 1, null]])

  await addGroup('00000000-0000-8000-8000-000000000002')
  await look()
  await database.sql`update dlq.dlq_notification_channels set seen_at = now() - interval '2 hours'`
  await work({ all: true, channels: [] })
  expect((await state())[0]).toEqual(['dead', 1, 'there is no channel on-call in notifications.channels'])
})

test('of thousands of conditions each lasts until it is over, and is said once', async () => {
  const { sql } = database
  await route({ dead_threshold: 10, digestMs: 0 })
  const add = (change: number) => sql`
    insert into dlq.dlq_summary_deltas (original_topic, status, change)
    select 'topic.' || n, 'DEAD', ${change} from generate_series(1, 1100) n`
  const open = async () => (await listEvents(service.sql, { ...every, type: 'dead.threshold' })).length
  const every = { open: true, before: null, limit: 5000, scope: null }
  try {
    await add(10)
    await look()
    expect(await open()).toBe(1100)
    const deliveries = async () =>
      (await sql`select sum(cardinality(event_ids))::int as n from dlq.dlq_deliveries`)[0]!.n
    await add(-1)
    await look()
    expect(await open()).toBe(1100)
    await add(1)
    await look()
    expect([await open(), await deliveries()]).toEqual([1100, 1100])
  } finally {
    await sql`delete from dlq.dlq_summary_deltas where original_topic like 'topic.%'`
  }
})

test('a receiver that is gone for good disables its channel', async () => {
  await route()
  await addGroup()
  await look()
  status = 410
  await work()
  await addGroup('00000000-0000-8000-8000-000000000002')
  await look()
  await work({ all: true })
  expect(received).toHaveLength(1)
  const [channel] = await listChannels(service.sql)
  expect(channel).toMatchObject({ name: 'on-call', disabled_at: expect.any(Date) })
})

test('two channels that are gone do not tell each other of it without end', async () => {
  await route({ digestMs: 0 })
  await route({ name: 'backup', channel: 'other', digestMs: 0 })
  await addGroup()
  await look()
  status = 410
  for (let n = 0; n < 10; n += 1) await work({ all: true })
  const states = await database.sql`select state from dlq.dlq_deliveries`
  expect([states.map(({ state }) => state), received.length]).toEqual([['dead', 'dead', 'dead'], 2])
})

test('a route that is muted, and one of other topics, hear nothing', async () => {
  await route({ name: 'muted', muted_until: new Date(Date.now() + minuteMs) })
  await route({ name: 'elsewhere', topics: ['payments.*'] })
  await addGroup()
  await look()
  await work({ all: true })
  expect(received).toEqual([])
})

test('whatever payloads, keys, headers and errors hold, no body of any channel has any of it', async () => {
  for (const channel of ['on-call', 'slack', 'teams'])
    await route({ ...{ name: channel, channel, digestMs: 0, dead_threshold: 1 } })
  const mark = 'card4111'
  // PostgreSQL's text has no zero byte.
  const hostile = fc.string({ unit: 'binary' }).map((text) => `${text.replaceAll('\0', '')} <!channel> ${mark}`)
  const texts = fc.sample(fc.tuple(hostile, hostile, hostile, hostile), 5)
  for (const [n, [error, key, value, header]] of texts.entries()) {
    const id = `00000000-0000-8000-8000-${String(n).padStart(12, '0')}`
    await database.sql`insert into dlq.dlq_groups (id, version, message, title) values (${id}, 1, ${error}, ${error})`
    await database.sql`
      insert into dlq.dlq_group_topics (dlq_topic, group_id, state, state_changed_at, last_seen_at)
      values ('orders.dlq.v1', ${id}, ${n % 2 === 0 ? 'open' : 'resolved'}, now() - interval '1 minute', now())`
    await database.sql`
      insert into dlq.dlq_group_pauses (original_topic, group_id, reason, probe_at) values ('orders', ${id}, '20 retries failed again', now())`
    await insertMessageRow(database.sql, {
      ...{ original_topic: 'orders', status: 'DEAD', group_id: id, error_message: error, error_stacktrace: error },
      ...{ record_key: Buffer.from(key), record_value: Buffer.from(value) },
      record_headers: database.sql.json([['note', Buffer.from(header).toString('base64')]]),
    })
  }
  await look()
  await work({ all: true })
  await database.sql`update dlq.dlq_group_pauses set resumed_at = now()`
  await look()
  await work({ all: true })
  const told = bodies.join()
  for (const words of ['New error group', 'Failed again', 'are paused', 'go on', 'DEAD messages'])
    expect(told).toContain(words)
  for (const hidden of [mark, Buffer.from(mark).toString('base64').slice(0, 8)]) expect(told).not.toContain(hidden)
})
