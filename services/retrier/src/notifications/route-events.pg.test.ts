// Which routes hear of an event, and over which channel.

import { fingerprint } from 'dlq-core/domain/grouping/error-fingerprint.ts'
import { admitGroups } from 'dlq-core/queries/groups/admit-groups.ts'
import type { NotificationRoute } from 'dlq-core/queries/notifications/routes.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { putTestRoute } from './test-route.ts'
import { createEventWatch } from './watch-events.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const minuteMs = 60_000
let now = new Date()

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_events', 'dlq.dlq_deliveries', 'dlq.dlq_notification_routes')
  await emptyTables(database.sql, 'graphile_worker._private_jobs', 'dlq.dlq_groups', 'dlq.dlq_group_topics')
  await emptyTables(database.sql, 'dlq.dlq_messages')
  await database.sql`update dlq.dlq_event_watch set looked_at = now() - interval '1 hour'`
  now = new Date()
})

const route = (fields: Partial<NotificationRoute> = {}) =>
  putTestRoute(service.sql, { digestMs: 5 * minuteMs, ...fields })

/** A group that failed for the first time so long ago. */
async function addGroup(topic: string, { agoMs = 0 } = {}): Promise<void> {
  await database.sql`
    with made as (
      insert into dlq.dlq_groups (id, version, message, title, last_seen_at)
      values (gen_random_uuid(), 1, 'no card', 'no card', now() - ${agoMs}::int * interval '1 ms') returning id
    )
    insert into dlq.dlq_group_topics (dlq_topic, group_id, first_seen_at)
    select ${topic}, id, now() - ${agoMs}::int * interval '1 ms' from made`
}

const addDead = (change: number) =>
  database.sql`insert into dlq.dlq_summary_deltas (original_topic, status, change) values ('orders', 'DEAD', ${change})`

async function look(): Promise<void> {
  await database.sql`update dlq.dlq_event_watch set look_due_at = now()`
  const settings = () => ({ channels: [], allow_http: false, include_messages: false })
  await createEventWatch({ sql: service.sql, settings, now: () => now })()
}

async function sent() {
  const rows = await database.sql`
    select route, channel, kind, cardinality(event_ids) as events from dlq.dlq_deliveries order by created_at, route`
  return rows.map(({ route, channel, kind, events }) => `${route} ${channel} ${kind} ${events}`)
}

test('what a long transaction shows late is told all the same, and once', async () => {
  await route()
  await look()
  await addGroup('orders.dlq.v1', { agoMs: minuteMs })
  await addGroup('before.dlq.v1', { agoMs: 30 * minuteMs })
  await look()
  await look()
  expect(await sent()).toEqual(['all on-call begin 1'])
})

describe('a failure that is stored long after its record was written', () => {
  const written = (agoMs: number) => new Date(Date.now() - agoMs)
  const store = (at: Date) =>
    admitGroups(service.sql, [
      {
        topic: 'orders.dlq.v1',
        group: fingerprint({ errorClass: 'Late', errorMessage: null, errorStacktrace: null }),
        failed: { first: at, last: at },
      },
    ])

  test('is told as the first one of its group, once, also where nobody has looked meanwhile', async () => {
    await route()
    await store(written(40 * 24 * 60 * minuteMs))
    await look()
    expect(await sent()).toEqual([])
    await emptyTables(database.sql, 'dlq.dlq_groups', 'dlq.dlq_group_topics')
    await store(written(60 * minuteMs))
    for (let n = 0; n < 3; n += 1) await look()
    expect(await sent()).toEqual(['all on-call begin 1'])
  })

  test('is told as one that came back, also if the group was seen half a minute before', async () => {
    await route({ types: ['group.regressed'] })
    const [groupId] = await store(written(0))
    const resolve = (agoMs: number) => database.sql`
      update dlq.dlq_group_topics set state = 'resolved', state_changed_at = now() - ${agoMs}::int * interval '1 ms'`
    await resolve(0)
    await look()
    expect(await sent()).toEqual([])
    await insertMessageRow(database.sql, { original_topic: 'orders', dlq_topic: 'orders.dlq.v1', group_id: groupId! })
    await store(written(0))
    for (let n = 0; n < 2; n += 1) await look()
    expect(await sent()).toEqual(['all on-call begin 1'])
    await resolve(60 * minuteMs)
    await database.sql`update dlq.dlq_group_topics set last_seen_at = now() - interval '30 minutes'`
    for (let n = 0; n < 2; n += 1) await look()
    expect(await sent()).toEqual(['all on-call begin 2'])
  })
})

test('the end of a condition is told to those who heard of it, and to nobody else', async () => {
  await route({ dead_threshold: 1 })
  await route({ name: 'muted', dead_threshold: 1, muted_until: new Date(now.getTime() + minuteMs) })
  await addDead(1)
  await look()
  expect(await sent()).toEqual(['all on-call begin 1'])
  await addDead(-1)
  now = new Date(now.getTime() + 2 * minuteMs)
  await look()
  expect(await sent()).toEqual(['all on-call begin 1', 'all on-call end 1'])
})

test('what lasts is told to a route that is no longer muted', async () => {
  await route({ dead_threshold: 1, muted_until: new Date(now.getTime() + minuteMs) })
  await addDead(1)
  try {
    await look()
    expect(await sent()).toEqual([])
    now = new Date(now.getTime() + 2 * minuteMs)
    await look()
    await look()
    expect(await sent()).toEqual(['all on-call again 1'])
  } finally {
    await addDead(-1)
  }
})

test('a route whose channel has changed gathers nothing for its former one', async () => {
  await route()
  const happens = async (topic: string) => {
    await addGroup(topic)
    await look()
  }
  for (const topic of ['first', 'second']) await happens(topic)
  expect(await sent()).toEqual(['all on-call begin 2'])
  await route({ channel: 'other' })
  for (const topic of ['third', 'fourth']) await happens(topic)
  expect(await sent()).toEqual(['all on-call begin 2', 'all other begin 2'])
})

/** Stores twenty failures of one group, and looks after each of these numbers of minutes. */
async function burst() {
  await addGroup('orders.dlq.v1', { agoMs: 24 * 60 * minuteMs })
  await database.sql`
    insert into dlq.dlq_messages (id, original_topic, dlq_topic, error_message, group_id)
    select (left(dlq.uuid_floor(${now}::timestamptz)::text, 19) || right(gen_random_uuid()::text, 17))::uuid, 'orders', 'orders.dlq.v1', 'e', id
    from dlq.dlq_groups, generate_series(1, 20)`
  return async (minutes: number) => {
    now = new Date(now.getTime() + minutes * minuteMs)
    await database.sql`update dlq.dlq_group_topics set last_seen_at = ${now}`
    await look()
  }
}

test('a burst that lasts is not over as soon as the last minutes are quiet', async () => {
  await route({ digestMs: 0 })
  const lookAfter = await burst()
  for (const minutes of [1, 7]) await lookAfter(minutes)
  expect(await sent()).toEqual(['all on-call begin 1'])
  await lookAfter(8)
  expect(await sent()).toEqual(['all on-call begin 1', 'all on-call end 1'])
})

test('a burst whose group gets another owner is told to that one, and its end to both', async () => {
  for (const owner of ['billing', 'search']) await route({ name: owner, owners: [owner], types: ['group.burst'] })
  const lookAfter = await burst()
  await database.sql`update dlq.dlq_group_topics set owner = 'billing'`
  await lookAfter(1)
  await database.sql`update dlq.dlq_group_topics set owner = 'search'`
  for (const minutes of [1, 1]) await lookAfter(minutes)
  expect(await sent()).toEqual(['billing on-call begin 1', 'search on-call again 1'])
  await lookAfter(15)
  expect((await sent()).slice(2)).toEqual(['billing on-call end 1', 'search on-call end 1'])
})
