import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { expect, test } from 'vitest'
import { createEventWatch } from './watch-events.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

const settings = () => ({ channels: [], allow_http: false, include_messages: false })

async function look(now = new Date()): Promise<void> {
  await database.sql`update dlq.dlq_event_watch set look_due_at = now()`
  await createEventWatch({ sql: service.sql, settings, now: () => now })()
}

test('a look begins where the last one ended, so that what is old does not take the places of what is new', async () => {
  await database.sql`update dlq.dlq_event_watch set looked_at = now() - interval '1 day'`
  await look()
  const [watch] = await database.sql`select looked_at > now() - interval '1 minute' as is_now from dlq.dlq_event_watch`
  expect(watch).toEqual({ is_now: true })
})

test('after thirty days events and deliveries are forgotten, but not what lasts or waits', async () => {
  await emptyTables(database.sql, 'dlq.dlq_events', 'dlq.dlq_deliveries')
  await database.sql`
    insert into dlq.dlq_events (id, type, subject, severity, title, is_condition, at)
    select gen_random_uuid(), 'old', n::text, 'info', 'old', n = 2, now() - interval '31 days' from generate_series(1, 2) n`
  await database.sql`
    insert into dlq.dlq_deliveries (channel, kind, state, send_at, created_at)
    select 'on-call', 'test', state, now(), now() - interval '31 days' from unnest(array['delivered', 'waiting']) state`
  await look()
  expect((await database.sql`select is_condition from dlq.dlq_events where type = 'old'`).flat()).toEqual([
    { is_condition: true },
  ])
  expect((await database.sql`select state from dlq.dlq_deliveries`).flat()).toEqual([{ state: 'waiting' }])
})

test('a condition that lasted for more than thirty days is kept for as long after its end, so that its end can be told', async () => {
  await emptyTables(database.sql, 'dlq.dlq_events', 'dlq.dlq_deliveries')
  await database.sql`
    insert into dlq.dlq_events (id, type, subject, severity, title, is_condition, at)
    values (gen_random_uuid(), 'dead.threshold', 'dead/orders/1', 'warning', 'many', true, now() - interval '31 days')`
  await look()
  expect(await database.sql`select from dlq.dlq_events where ended_at is not null`).toHaveLength(1)
  await database.sql`update dlq.dlq_events set ended_at = now() - interval '31 days'`
  await look()
  expect(await database.sql`select from dlq.dlq_events`).toHaveLength(0)
})

test('a group that has come back is told once for as long as nobody changes its state', async () => {
  await emptyTables(database.sql, 'dlq.dlq_events', 'dlq.dlq_group_topics', 'dlq.dlq_groups')
  await database.sql`
    insert into dlq.dlq_groups (id, version, message, title) values ('00000000-0000-8000-8000-000000000001', 1, 'e', 'e')`
  await database.sql`
    insert into dlq.dlq_group_topics (dlq_topic, group_id, first_seen_at, last_seen_at, state, state_changed_at)
    select 'orders.dlq.v1', id, now() - interval '1 year', now(), 'resolved', now() - interval '32 days' from dlq.dlq_groups`
  const old = database.sql`now() - interval '31 days'`
  const told = () => database.sql`select at < ${old} + interval '1 hour' as is_old from dlq.dlq_events`
  await look()
  expect((await told()).flat()).toEqual([{ is_old: false }])
  await database.sql`update dlq.dlq_events set at = ${old}`
  for (let n = 0; n < 2; n += 1) await look()
  expect((await told()).flat()).toEqual([{ is_old: true }])
  await database.sql`update dlq.dlq_group_topics set state = 'open', state_changed_at = now()`
  await look()
  expect(await told()).toHaveLength(0)
})

test('a retrier whose clock is a year ahead forgets nothing of today', async () => {
  await emptyTables(database.sql, 'dlq.dlq_events', 'dlq.dlq_deliveries')
  await database.sql`
    insert into dlq.dlq_events (id, type, subject, severity, title, is_condition)
    values (gen_random_uuid(), 'new', 'a', 'info', 'new', false)`
  await database.sql`
    insert into dlq.dlq_deliveries (channel, kind, state, send_at) values ('on-call', 'test', 'delivered', now())`
  await look(new Date(Date.now() + 366 * 86_400_000))
  expect(await database.sql`select from dlq.dlq_events where type = 'new'`).toHaveLength(1)
  expect(await database.sql`select from dlq.dlq_deliveries`).toHaveLength(1)
})
