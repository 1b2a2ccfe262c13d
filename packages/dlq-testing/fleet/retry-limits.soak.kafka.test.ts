// Several retriers together: no topic starves, no topic exceeds its rate, and messages of a dead retrier are settled.
import { loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { nothingHappensFor } from 'dlq-testing/eventually.ts'
import { useFleet } from 'dlq-testing/fleet/test-fleet.ts'
import { readTopic } from 'dlq-testing/kafka/read-topic.ts'
import { insertDueRows } from 'dlq-testing/rows/due-rows.ts'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

const soak = process.env.DLQ_SOAK === '1'
const leaseMs = 3000
/** After this every retrier has read the pause and settled what it had claimed. */
const pauseKnownMs = 2000
const fleet = useFleet('limits', {
  env: { DLQ_RETRY_LEASE: `${leaseMs}ms`, DLQ_RETRY_POLL_INTERVAL: '500ms', DLQ_LOG_LEVEL: 'info' },
})

beforeEach(async () => {
  await fleet.database.sql`truncate dlq.dlq_messages, dlq.dlq_attempts, dlq.dlq_policies, dlq.dlq_rate_buckets`
})
afterEach(() => fleet.services.stop())

// Reads the attempts. Counting among 500,000 messages all the time would keep a core busy, and its old snapshots would
// keep claims from removing dead row versions.
const settled = async (topic: string) => {
  const [row] = await fleet.database.sql<{ count: number }[]>`
    select count(*)::int as count from dlq.dlq_attempts where target_topic = ${topic} and outcome = 'published'`
  return row!.count
}

async function startRetriers(count: number, env: NodeJS.ProcessEnv = {}) {
  const started = Array.from({ length: count }, (_, n) => fleet.services.start('retrier', `retrier-${n}`, env))
  await Promise.all((await Promise.all(started)).map((retrier) => retrier.ready()))
}

test('a topic with very many due messages does not hold up a hundred others', { timeout: 300_000 }, async () => {
  const { sql } = fleet.database
  const flood = await fleet.topics.createTopic('flood')
  const others = Array.from({ length: soak ? 100 : 20 }, (_, n) => fleet.topics.topicName(`small-${n}`))
  await fleet.topics.admin.createTopics({ topics: others.map((topic) => ({ topic })), waitForLeaders: true })
  await insertDueRows(sql, { count: soak ? 500_000 : 10_000, topics: [flood] })
  await sql`analyze dlq.dlq_messages`
  await startRetriers(2)
  await vi.waitFor(async () => expect(await settled(flood)).toBeGreaterThan(500), { timeout: 60_000, interval: 100 })

  await sql`
    insert into dlq.dlq_messages (original_topic, error_message, record_value, record_headers, next_retry_at)
    select topic, 'failed', 'x', '[]', now() from unnest(${sql.array(others)}::text[]) topic, generate_series(1, 3)`
  await vi.waitFor(
    async () => {
      const [row] = await sql`select count(*)::int as settled from dlq.dlq_attempts where target_topic <> ${flood}`
      expect(row!.settled).toBe(3 * others.length)
    },
    { timeout: 30_000, interval: 50 },
  )
  const [slowest] = await sql<{ ms: number }[]>`
    select max(extract(epoch from a.settled_at - m.next_retry_at_was) * 1000)::int as ms
    from dlq.dlq_attempts a join (select id, created_at as next_retry_at_was, original_topic from dlq.dlq_messages) m
      on m.id = a.message_id where m.original_topic <> ${flood}`
  console.log(
    `the slowest of ${3 * others.length} messages left ${slowest!.ms} ms after it was due, load ${loadavg()[0]!.toFixed(1)}`,
  )
  // Together with the load, which tells whether other programs used the machine.
  expect(slowest!.ms, `load ${loadavg()[0]!.toFixed(1)}`).toBeLessThan(1000)
  expect(await settled(flood)).toBeLessThan(soak ? 500_000 : 10_000)
})

test('all retriers together keep a topic’s rate, and its pause', { timeout: 120_000 }, async () => {
  const { sql } = fleet.database
  const topic = await fleet.topics.createTopic('rated')
  await insertDueRows(sql, { count: 10_000, topics: [topic] })
  await sql`insert into dlq.dlq_policies (pattern, rate_per_second) values (${topic}, 100)`
  await startRetriers(soak ? 4 : 2)
  await vi.waitFor(async () => expect(await settled(topic)).toBeGreaterThan(150), { timeout: 30_000, interval: 50 })

  const forMs = soak ? 30_000 : 6000
  const [before, since] = [await settled(topic), performance.now()]
  await sleep(forMs)
  const rate = ((await settled(topic)) - before) / ((performance.now() - since) / 1000)
  console.log(`${rate.toFixed(1)} messages per second`)
  expect(rate).toBeGreaterThan(soak ? 95 : 80)
  expect(rate).toBeLessThan(soak ? 105 : 120)

  await sql`update dlq.dlq_policies set paused = true`
  await sleep(pauseKnownMs)
  const paused = await settled(topic)
  await nothingHappensFor(1500)
  expect(await settled(topic)).toBe(paused)
})

test('messages of a killed retrier are settled within its lease and five seconds, and other messages do not wait', {
  timeout: 60_000,
}, async () => {
  const { sql } = fleet.database
  const [topic, other] = [await fleet.topics.createTopic('held'), await fleet.topics.createTopic('other')]
  await insertDueRows(sql, { count: 100, topics: [topic] })
  const dying = await fleet.services.start('retrier', 'dying', { TEST_FAULT_POINT: 'between-commit-and-settle' })
  await dying.exited
  const since = performance.now()
  expect(await settled(topic)).toBe(0)
  const [held] = await sql`select count(*)::int as held from dlq.dlq_messages where status = 'RETRYING'`
  expect(held!.held).toBeGreaterThan(0)

  await startRetriers(1)
  await insertDueRows(sql, { count: 10, topics: [other] })
  await vi.waitFor(async () => expect(await settled(other)).toBe(10), { timeout: 5000, interval: 20 })
  await vi.waitFor(async () => expect(await settled(topic)).toBe(100), { timeout: 30_000, interval: 20 })
  const tookMs = performance.now() - since
  console.log(`settled ${Math.round(tookMs)} ms after the kill, lease ${leaseMs} ms`)
  expect(tookMs).toBeLessThan(leaseMs + 5000)
  const records = await readTopic(fleet.topics.kafka, { topic, groupId: fleet.topics.groupName('reader') })
  expect(records).toHaveLength(100)
})
