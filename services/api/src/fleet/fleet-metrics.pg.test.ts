// The gauges of the fleet, as a scrape shows them.

import { createLog } from 'dlq-core/runtime/log.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, type MessageColumns } from 'dlq-testing/rows/message-rows.ts'
import { Registry } from 'prom-client'
import { beforeEach, expect, test, vi } from 'vitest'
import { createTestApp } from '../test-app.ts'
import { createFleetMetrics } from './fleet-metrics.ts'
import { type FleetReading, readFleet } from './read-fleet.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const log = createLog({ service: 'api', level: 'silent' })

beforeEach(async () => {
  await emptyTables(
    database.sql,
    'dlq.dlq_attempts',
    'dlq.dlq_topic_partitions',
    'dlq.dlq_positions',
    'dlq.dlq_messages',
    'dlq.dlq_topics',
    'dlq.dlq_routes',
    'dlq.dlq_retriers',
    'dlq.dlq_readers',
    'dlq.dlq_reader_partitions',
  )
})

const insert = (columns: MessageColumns = {}) => insertMessageRow(database.sql, columns)

/** A message of `evil.dlq.v1` that claims to be of the topic. */
async function claim(original_topic: string, columns: MessageColumns = {}) {
  const route = { dlq_topic: 'evil.dlq.v1', original_topic }
  await insert({ ...route, held_by_route: true, next_retry_at: null, ...columns })
  await database.sql`insert into dlq.dlq_routes ${database.sql({ ...route, state: 'waiting' })}`
}

/** Two messages for each of so many topics; some of the routes have no row. */
async function claimMany(topics: number) {
  await database.sql`
    insert into dlq.dlq_messages (original_topic, dlq_topic, error_message, held_by_route)
    select 'made-up-' || n % ${topics}::int, 'evil.dlq.v1', 'failed', true from generate_series(1, ${2 * topics}::int) n`
  await database.sql`
    insert into dlq.dlq_routes (dlq_topic, original_topic, state)
    select 'evil.dlq.v1', 'made-up-' || n, 'waiting' from generate_series(1, 1000) n`
}

/** Two messages for each of so many topics, of a DLQ topic that may speak for them. */
const insertBusy = (topics: number) => database.sql`
  insert into dlq.dlq_messages (original_topic, dlq_topic, error_message)
  select 'busy-' || n % ${topics}::int, 'busy.dlq.v1', 'failed' from generate_series(1, ${2 * topics}::int) n`

/** The lines of the fleet's metrics, without help and types. */
async function scrape(): Promise<string[]> {
  const response = await createTestApp(service.sql)('GET /metrics')
  return (await response.text()).split('\n').filter((line) => /^(dead_|dlq_)/.test(line))
}
const numberOf = (lines: readonly string[], series: string) =>
  Number(
    lines
      .find((line) => line.startsWith(`${series} `))
      ?.split(' ')
      .at(-1),
  )

test('messages are counted by topic and status, and DEAD ones by the specification’s channel and consumer', async () => {
  for (const consumer_group of ['payments', 'payments', 'mail', null])
    await insert({ original_topic: 'orders', consumer_group, status: 'DEAD' })
  await insert({ original_topic: 'orders', consumer_group: 'payments' })
  const lines = await scrape()
  expect(lines).toEqual(
    expect.arrayContaining([
      'dlq_fleet_up 1',
      'dead_letter_total{topic="orders",status="PENDING"} 1',
      'dead_letter_total{topic="orders",status="RETRYING"} 0',
      'dead_letter_total{topic="orders",status="DEAD"} 4',
      'dead_job_count{channel="orders",consumer="payments"} 2',
      'dead_job_count{channel="orders",consumer="mail"} 1',
      'dead_job_count{channel="orders",consumer="(none)"} 1',
      'dlq_summary_drift 0',
    ]),
  )
})

test('PENDING and DEAD messages are shown with their age, and due ones with the time since they were due', async () => {
  const ago = (seconds: number) => new Date(Date.now() - seconds * 1000)
  // Its id is the first one, also of those that the next rows get in the same millisecond.
  const [first] = await database.sql`select dlq.uuid_floor(now()) as id`
  await insert({ id: first!.id, original_topic: 'orders', created_at: ago(7200) })
  await insert({ original_topic: 'orders', status: 'DEAD', created_at: ago(90_000) })
  for (const due of [600, 60]) await insert({ original_topic: 'orders', next_retry_at: ago(due) })
  await insert({ original_topic: 'orders', next_retry_at: ago(-600) })
  const lines = await scrape()
  expect(numberOf(lines, 'dead_letter_age_seconds{topic="orders",status="PENDING"}')).toBeGreaterThanOrEqual(7200)
  expect(numberOf(lines, 'dead_letter_age_seconds{topic="orders",status="DEAD"}')).toBeGreaterThanOrEqual(90_000)
  expect(numberOf(lines, 'dlq_due_age_seconds{topic="orders"}')).toBeGreaterThanOrEqual(600)
  expect(numberOf(lines, 'dlq_due_messages{topic="orders"}')).toBe(2)
})

test('a claim that its route holds counts under its DLQ topic, and pages nobody else', async () => {
  await insert({ original_topic: 'orders', consumer_group: 'payments' })
  await claim('invoices', { created_at: new Date(86_400_000) })
  await claim('orders', { status: 'DEAD', consumer_group: 'payments', created_at: new Date(86_400_000) })
  const lines = await scrape()
  expect(lines.filter((line) => line.includes('invoices'))).toEqual([])
  expect(lines).toEqual(
    expect.arrayContaining([
      'dead_letter_total{topic="orders",status="PENDING"} 1',
      'dead_letter_total{topic="orders",status="DEAD"} 0',
      'dead_letter_total{topic="evil.dlq.v1",status="PENDING"} 1',
      'dead_letter_total{topic="evil.dlq.v1",status="DEAD"} 1',
      'dead_job_count{channel="evil.dlq.v1",consumer="payments"} 1',
    ]),
  )
  expect(numberOf(lines, 'dead_letter_age_seconds{topic="orders",status="PENDING"}')).toBeLessThan(60)
  expect(lines.filter((line) => /^dead_letter_age_seconds.*(orders.*DEAD|invoices)/.test(line))).toEqual([])
  for (const status of ['PENDING', 'DEAD'])
    expect(numberOf(lines, `dead_letter_age_seconds{topic="evil.dlq.v1",status="${status}"}`)).toBeGreaterThan(1e9)
})

test('however many topics are claimed, a small one keeps its counts and its age', async () => {
  const daysAgo = new Date(Date.now() - 3 * 86_400_000)
  await insert({ original_topic: 'refunds', created_at: daysAgo })
  await claimMany(1100)
  const lines = await scrape()
  expect(lines).toContain('dead_letter_total{topic="refunds",status="PENDING"} 1')
  expect(numberOf(lines, 'dead_letter_age_seconds{topic="refunds",status="PENDING"}')).toBeGreaterThan(250_000)
  expect(lines).toContain('dead_letter_total{topic="evil.dlq.v1",status="PENDING"} 2200')
})

test('the topics with the oldest messages have ages, not those with most', async () => {
  await insert({ original_topic: 'refunds', created_at: new Date(Date.now() - 3 * 86_400_000) })
  await insertBusy(600)
  const ages = (await scrape()).filter((line) => line.startsWith('dead_letter_age_seconds'))
  expect(ages).toHaveLength(500)
  expect(numberOf(ages, 'dead_letter_age_seconds{topic="refunds",status="PENDING"}')).toBeGreaterThan(250_000)
})

test('where ages take too long to find they are missing, and all else is shown', async () => {
  await insertBusy(600)
  const { counts, oldest } = await readFleet(service.sql, { maxAgesMs: 1 })
  expect([counts?.length, oldest.PENDING.size]).toEqual([600, 0])
  expect((await readFleet(service.sql)).oldest.PENDING.size).toBe(500)
})

test('the loss clock shows the records that are not stored, those that are lost, and when the next one will be', async () => {
  await database.sql`
    insert into dlq.dlq_topics (cluster, topic, partitions, retention_ms, cleanup_policy, looked_at) values
      ('a', 'orders.dlq.v1', 2, 3600000, 'delete', '2026-02-20T10:00:00Z'), ('a', 'quiet.dlq.v1', 1, -1, 'delete', now()),
      ('b', 'orders.dlq.v1', 1, 7200000, 'delete', now())`
  await database.sql`
    insert into dlq.dlq_topic_partitions (cluster, topic, partition, log_start_offset, log_end_offset, unread_offset, unread_timestamp) values
      ('a', 'orders.dlq.v1', 0, 10, 50, 10, '2026-02-20T09:00:00Z'), ('a', 'orders.dlq.v1', 1, 0, 7, null, null),
      ('b', 'orders.dlq.v1', 0, 0, 3, 0, '2026-02-20T09:00:00Z')`
  await database.sql`
    insert into dlq.dlq_positions (cluster, topic, partition, next_offset) values ('a', 'orders.dlq.v1', 0, 4), ('a', 'orders.dlq.v1', 1, 7)`
  expect(await scrape()).toEqual(
    expect.arrayContaining([
      'dlq_topics 3',
      'dlq_topic_unread_records{topic="orders.dlq.v1"} 43',
      'dlq_topic_lost_records{topic="orders.dlq.v1"} 6',
      `dlq_topic_expiry_timestamp_seconds{topic="orders.dlq.v1"} ${Date.parse('2026-02-20T10:00:00Z') / 1000}`,
      `dlq_topics_looked_at_timestamp_seconds ${Date.parse('2026-02-20T10:00:00Z') / 1000}`,
    ]),
  )
})

test('retriers are counted by whether they can publish', async () => {
  await database.sql`
    insert into dlq.dlq_retriers (id, publishes, fault, seen_at) values
      ('a', 'exactly-once', null, now()), ('b', 'exactly-once', 'Kafka is away', now()), ('c', 'nothing', null, now()),
      ('dead', 'exactly-once', null, now() - interval '5 minutes')`
  expect(await scrape()).toEqual(
    expect.arrayContaining([
      'dlq_retriers{state="publishing"} 1',
      'dlq_retriers{state="faulty"} 1',
      'dlq_retriers{state="idle"} 1',
    ]),
  )
})

test('paused topics are counted, however many there are', async () => {
  await database.sql`
    insert into dlq.dlq_topic_pauses (topic, what, paused_by, reason)
    select 'orders-' || n, 'retries', 'maria', 'down' from generate_series(1, 1003) n`
  const lines = await scrape()
  await database.sql`delete from dlq.dlq_topic_pauses`
  expect(numberOf(lines, 'dlq_paused_topics{what="retries"}')).toBe(1003)
  expect(numberOf(lines, 'dlq_paused_topics{what="ingestion"}')).toBe(0)
})

test('what was sent and is not read is shown with its age, and what each group is behind', async () => {
  await database.sql`
    insert into dlq.dlq_readers (target_topic, consumer_group, state, members, horizon) values
      ('orders', 'billing', 'Empty', 0, '1 s'), ('orders', 'search', 'Stable', 1, '1 s')`
  await database.sql`
    insert into dlq.dlq_reader_partitions (
      target_topic, consumer_group, partition, committed_offset, log_start_offset, log_end_offset, passed_offset) values
      ('orders', 'billing', 0, 2, 0, 9, 2), ('orders', 'search', 0, 9, 4, 9, 9)`
  for (const [offset, consumer_group] of ['billing', 'billing', 'billing', 'search', 'billing'].entries()) {
    const id = await insert({ original_topic: 'orders', consumer_group, status: 'RESOLVED' })
    await database.sql`
      insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome, target_topic, target_partition, target_offset, settled_at)
      values (${id}, 1, ${crypto.randomUUID()}, 'published', 'orders', 0, ${offset}, now() - ${30 - offset}::int * interval '1 minute')`
  }
  await database.sql`select dlq.fold_summary()`
  const lines = await scrape()
  expect(numberOf(lines, 'dlq_unread_attempts{topic="orders"}')).toBe(2)
  const age = numberOf(lines, 'dlq_unread_age_seconds{topic="orders"}')
  expect(age).toBeGreaterThanOrEqual(28 * 60)
  expect(age).toBeLessThan(29 * 60)
  expect(numberOf(lines, 'dlq_watch_lag{topic="orders",consumer="billing"}')).toBe(7)
  expect(numberOf(lines, 'dlq_watch_lag{topic="orders",consumer="search"}')).toBe(0)
})

test('before the first full count all gauges but the counts are shown', async () => {
  await insert({ status: 'DEAD' })
  await database.sql`update dlq.dlq_summary_state set counted_at = null`
  try {
    const lines = await scrape()
    expect(lines.filter((line) => /^dead_(letter_total|job)/.test(line))).toEqual([])
    expect(lines).toContain('dlq_fleet_up 1')
  } finally {
    await database.sql`update dlq.dlq_summary_state set counted_at = now()`
  }
})

type Scraped = { registry: Registry; reads: () => number; pass: (ms: number) => void; fail: (failing: boolean) => void }

/** The fleet's metrics over a clock of ours, and a database that fails when asked to. */
function createScraped(change: (reading: FleetReading) => FleetReading = (reading) => reading): Scraped {
  const registry = new Registry()
  let [reads, clock, failing] = [0, Date.now(), false]
  createFleetMetrics({
    ...{ sql: service.sql, registry, log },
    now: () => clock,
    read: async (sql) => {
      reads += 1
      if (failing) throw new Error('the database is away')
      return change(await readFleet(sql))
    },
  })
  return {
    registry,
    reads: () => reads,
    pass: (ms) => {
      clock += ms
    },
    fail: (now) => {
      failing = now
    },
  }
}

test('scrapes within ten seconds read once, however many metrics and scrapers there are', async () => {
  const { registry, reads, pass } = createScraped()
  await Promise.all([registry.metrics(), registry.metrics()])
  pass(9000)
  await registry.metrics()
  expect(reads()).toBe(1)
  pass(2000)
  await registry.metrics()
  expect(reads()).toBe(2)
})

test('while scrapes continue, the gauges are read before they are old, so no scrape waits', async () => {
  const found = await readFleet(service.sql)
  const registry = new Registry()
  let reads = 0
  const read = async () => {
    reads += 1
    return found
  }
  vi.useFakeTimers()
  try {
    createFleetMetrics({ sql: service.sql, registry, log, read })
    await registry.metrics()
    for (let seconds = 0; seconds < 60; seconds += 9) {
      await vi.advanceTimersByTimeAsync(9000)
      const before = reads
      await registry.metrics()
      expect(reads).toBe(before)
    }
    expect(reads).toBe(8)
    await vi.advanceTimersByTimeAsync(130_000)
    const whenForgotten = reads
    await vi.advanceTimersByTimeAsync(130_000)
    expect(reads).toBe(whenForgotten)
  } finally {
    vi.useRealTimers()
  }
})

test('while the database does not answer its gauges are missing, because old values would hide the outage', async () => {
  await insert({ status: 'DEAD' })
  const { registry, pass, fail } = createScraped()
  expect(await registry.metrics()).toContain('dead_job_count{')
  pass(11_000)
  fail(true)
  const values = (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  expect(values).toEqual(['dlq_fleet_up 0'])
  pass(11_000)
  fail(false)
  expect(await registry.metrics()).toContain('dead_job_count{')
})

test('topics beyond 500 are counted under one name, and none is left out', async () => {
  const topics = Array.from({ length: 700 }, (_, n) => ({
    ...{ original_topic: `topic-${n}`, consumer_group: null },
    ...{ PENDING: 0, RETRYING: 0, RESOLVED: 1, DEAD: n },
  }))
  const { registry } = createScraped((reading) => ({ ...reading, counts: topics }))
  const lines = (await registry.metrics()).split('\n')
  const dead = lines.filter((line) => line.startsWith('dead_job_count{'))
  expect(dead).toHaveLength(501)
  expect(dead).toContain('dead_job_count{channel="topic-699",consumer="(none)"} 699')
  expect(numberOf(dead, 'dead_job_count{channel="(others)",consumer="(others)"}')).toBe((199 * 200) / 2)
  expect(numberOf(lines, 'dead_letter_total{topic="(others)",status="RESOLVED"}')).toBe(200)
})

test('beyond 500 topics, those whose records expire first and those whose retries wait longest keep their names', async () => {
  const { registry } = createScraped((reading) => ({
    ...reading,
    lags: Array.from({ length: 700 }, (_, n) => ({
      ...{ cluster: 'main', topic: `topic-${n}`, lag: BigInt(n + 1), lost: 0n, oldest_unread_at: new Date(0) },
      ...{ expires_at: new Date((n + 1) * 1000), retention_ms: 1n, retention_bytes: -1n, cleanup_policy: 'delete' },
      looked_at: new Date(),
    })),
    unread: Array.from({ length: 700 }, (_, n) => ({
      ...{ target_topic: `topic-${n}`, unread: n + 1, since: new Date(n * 1000) },
    })),
  }))
  const lines = (await registry.metrics()).split('\n')
  const topicsOf = (gauge: string) =>
    lines.flatMap((line) => (line.startsWith(`${gauge}{`) ? [line.split('"')[1]] : []))
  for (const gauge of ['dlq_topic_expiry_timestamp_seconds', 'dlq_unread_age_seconds'])
    expect(topicsOf(gauge).toSorted()).toEqual(Array.from({ length: 500 }, (_, n) => `topic-${n}`).toSorted())
})
