// A condition that becomes graver while it lasts: records that Kafka deletes in six hours, and then in one.

import type { NotificationRoute } from 'dlq-core/queries/notifications/routes.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { beforeEach, expect, test } from 'vitest'
import { putTestRoute } from './test-route.ts'
import { createEventWatch } from './watch-events.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const minuteMs = 60_000
const night = new Date('2026-02-13T23:00:00Z')
const at = (minutes: number) => new Date(night.getTime() + minutes * minuteMs)

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_events', 'dlq.dlq_deliveries', 'dlq.dlq_notification_routes')
  await emptyTables(database.sql, 'graphile_worker._private_jobs', 'dlq.dlq_topics', 'dlq.dlq_topic_partitions')
})

const route = (fields: Partial<NotificationRoute> = {}) => putTestRoute(service.sql, { digestMs: 0, ...fields })

/** A record that is not ingested, and that Kafka deletes then. */
async function addExpiring(expiresAt: Date, cluster = 'main', topic = 'orders.dlq.v1'): Promise<void> {
  await database.sql`
    insert into dlq.dlq_topics (cluster, topic, partitions, retention_ms, cleanup_policy, looked_at)
    values (${cluster}, ${topic}, 1, 3600000, 'delete', now())`
  await database.sql`
    insert into dlq.dlq_topic_partitions (cluster, topic, partition, log_start_offset, log_end_offset, unread_offset, unread_timestamp)
    values (${cluster}, ${topic}, 0, 0, 9, 0, ${expiresAt}::timestamptz - interval '1 hour')`
}

async function look(now: Date): Promise<void> {
  await database.sql`update dlq.dlq_event_watch set look_due_at = now()`
  const settings = () => ({ channels: [], allow_http: false, include_messages: false })
  await createEventWatch({ sql: service.sql, settings, now: () => now })()
}

async function sent() {
  const rows = await database.sql`select route, kind, send_at from dlq.dlq_deliveries order by created_at`
  return rows.map(({ route, kind, send_at }) => [route, kind, send_at])
}

test('what becomes critical in quiet hours goes through, although the warning waits for their end', async () => {
  await route({ quiet: '22:00-07:00 UTC' })
  await addExpiring(at(180))
  await look(at(0))
  await look(at(60))
  const warning = ['all', 'begin', new Date('2026-02-14T07:00:00Z')]
  expect(await sent()).toEqual([warning])
  await look(at(121))
  await look(at(122))
  expect(await sent()).toEqual([warning, ['all', 'again', at(121)]])
})

test('what becomes critical is said at once, to those who heard of the warning and to those who hear of nothing less', async () => {
  await route()
  await route({ name: 'pager', min_severity: 'critical' })
  await addExpiring(at(180))
  await look(at(0))
  for (const minutes of [121, 122, 123]) await look(at(minutes))
  expect(await sent()).toEqual([
    ['all', 'begin', at(0)],
    ['all', 'again', at(121)],
    ['pager', 'again', at(121)],
  ])
})

test('who heard only of what is critical hears of its end, also where it was a warning by then', async () => {
  await route({ name: 'pager', min_severity: 'critical' })
  await addExpiring(at(30))
  await look(at(0))
  await database.sql`update dlq.dlq_topic_partitions set unread_timestamp = ${at(120)}`
  await look(at(1))
  await database.sql`delete from dlq.dlq_topic_partitions`
  await look(at(2))
  expect(await sent()).toEqual([
    ['pager', 'begin', at(0)],
    ['pager', 'end', at(2)],
  ])
})

test('what is critical from its beginning does not wait with the warnings of quiet hours', async () => {
  await route({ quiet: '22:00-07:00 UTC' })
  await addExpiring(at(180))
  await look(at(0))
  await addExpiring(at(30), 'main', 'payments.dlq.v1')
  await look(at(1))
  expect(await sent()).toEqual([
    ['all', 'begin', new Date('2026-02-14T07:00:00Z')],
    ['all', 'begin', at(1)],
  ])
})

test('of a topic that several clusters have, the graver one counts, and it is said once', async () => {
  await route()
  await addExpiring(at(180))
  await addExpiring(at(30), 'other')
  await addExpiring(at(180), 'third')
  for (const minutes of [0, 1, 2]) await look(at(minutes))
  const [event] = await database.sql`select severity from dlq.dlq_events where type = 'loss.near'`
  expect(event).toEqual({ severity: 'critical' })
  expect(await sent()).toEqual([['all', 'begin', at(0)]])
})
