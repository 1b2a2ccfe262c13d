// The blocks that the retrier's statements read of a large backlog, due and not due: along indexes, and about as many
// rows as they handle. At full size (DLQ_SOAK=1) the backlog has a million messages.
import { randomUUID } from 'node:crypto'
import {
  blocksOf,
  nodesOf,
  type PlanNode,
  partitionsWithRows,
  planCacheModes,
  plansOf,
} from 'dlq-testing/postgres/statement-plans.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Sql } from '../sql.ts'
import { settleAttempts } from './attempts.ts'
import { claimBatch, leaseParts, listOutstanding, releaseBatch, settleMessages } from './batches.ts'
import { listDueTopics } from './due-topics.ts'
import { releaseExpiredLeases } from './expired-leases.ts'
import { renewSlot, takeAbandonedSlot } from './slots.ts'

const soak = process.env.DLQ_SOAK === '1'
const backlog = soak ? 1_000_000 : 20_000
const topicCount = 20
const batchSize = 500
const slot = { slot: 1, epoch: 1n }

const database = useDatabase()

/** `of` rows that are due, or will be in an hour or later: half of one topic, the others of all in turn. */
async function insertRows(of: number, { due }: { due: boolean }): Promise<void> {
  await database.sql.begin(async (sql) => {
    await sql`set local statement_timeout = 0`
    await sql`
      insert into dlq.dlq_messages (original_topic, dlq_topic, error_message, record_value, record_headers, next_retry_at)
      select 'topic-' || topic, 'topic-' || topic || '.dlq.v1', 'failed',
             convert_to(repeat('x', 200), 'UTF8'), '[]',
             now() + (case when ${due} then -1 else 1 end) * (interval '1 hour' + n * interval '1 ms')
      from (select n, case when n % 2 = 0 then 0 else n / 2 % ${topicCount}::int end as topic
            from generate_series(1, ${of}::int) n) spread`
  })
}

const shares = (rest: object = {}) =>
  Array.from({ length: topicCount }, (_, n) => ({
    ...{ topic: `topic-${n}`, quota: batchSize / topicCount, maxInFlight: null, ordered: false, pausedGroups: [] },
    ...rest,
  }))

const claim = async (sql: Sql, rest: object = {}) => {
  const batch = await claimBatch(sql, { ...slot, token: randomUUID(), shares: shares(rest), maxBytes: 1e9 })
  expect(batch!.messages).toHaveLength(batchSize)
  return { ...slot, batch: batch!.batch, ids: batch!.messages.map(({ id }) => id) }
}
type Claimed = Awaited<ReturnType<typeof claim>>

const attemptsOf = ({ ids }: Claimed) =>
  ids.map((id) => ({
    ...{ message_id: id, number: 1, attempt_id: randomUUID(), outcome: 'published' as const, error: null },
    ...{ target_topic: 'topic-1', target_partition: 0, target_offset: 1n },
  }))

type Query = [title: string, query: (sql: Sql, claimed: Claimed) => Promise<unknown>]

const beforeClaim: Query[] = [
  ['the claim', (sql) => claim(sql)],
  ['the claim with a bound on what is in flight', (sql) => claim(sql, { maxInFlight: 1000 })],
  ['the claim in the order of keys', (sql) => claim(sql, { ordered: true })],
  ['the look for due topics', (sql) => listDueTopics(sql)],
  ['the look for due topics beside known ones', (sql) => listDueTopics(sql, ['topic-1'])],
]

const afterClaim: Query[] = [
  [
    'the settling of a batch',
    (sql, { ids, ...batch }) =>
      settleMessages(sql, {
        ...batch,
        messages: ids.map((id) => ({ id, status: 'RESOLVED', next_retry_at: null, run_id: null })),
        attempts: attemptsOf({ ...batch, ids }),
      }),
  ],
  ['the attempts of a batch', (sql, claimed) => settleAttempts(sql, { attempts: attemptsOf(claimed) })],
  ['the release of a batch', (sql, { ids: _, ...batch }) => releaseBatch(sql, batch)],
  ['the release of a part of a batch', (sql, { ids, ...batch }) => releaseBatch(sql, { ...batch, ids: ids.slice(9) })],
  [
    'the leasing of parts',
    (sql, { ids }) => leaseParts(sql, { ...slot, parts: [{ batch: 9n, token: randomUUID(), ids }] }),
  ],
  ['the look for what a slot holds', (sql) => listOutstanding(sql, slot)],
  ['the renewal of a slot', (sql) => renewSlot(sql, { ...slot, settled: 1n, leaseMs: 1000 })],
  ['the look for an abandoned slot', (sql) => takeAbandonedSlot(sql, { owner: 'plans', leaseMs: 1000 })],
  ['the sweep of expired leases', (sql) => releaseExpiredLeases(sql, { limit: 1000 })],
]

/** Blocks per row of the batch: an update writes into seven indexes, each three or four blocks deep. */
const mostBlocks = batchSize * 60

function expectFrugal(plans: readonly PlanNode[], filled: readonly string[]): void {
  expect(plans.length).toBeGreaterThan(0)
  for (const plan of plans) {
    expect(blocksOf(plan)).toBeLessThan(mostBlocks)
    for (const node of nodesOf(plan)) {
      const isEmpty = node['Relation Name'] !== undefined && !filled.includes(node['Relation Name'])
      if (isEmpty) continue
      const isWhole = node['Node Type'].endsWith('Seq Scan') && node['Relation Name'] !== undefined
      expect(isWhole, node['Relation Name']).toBe(false)
      // Rows that are read and thrown away, also by comparing every row with a list.
      const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Join Filter'] ?? 0)
      expect(removed, node['Node Type']).toBeLessThan(batchSize * 4)
      expect(node.Filter ?? '').not.toMatch(/id = ANY/)
    }
  }
}

describe.each([
  ['due', backlog, 0],
  ['not due', 2000, backlog],
])('with most of the backlog %s', (_, due, notDue) => {
  let filled: string[]

  beforeAll(async () => {
    await database.sql`truncate dlq.dlq_messages, dlq.dlq_slots`
    await insertRows(due, { due: true })
    if (notDue > 0) await insertRows(notDue, { due: false })
    await database.sql`insert into dlq.dlq_slots (slot, epoch) values (1, 1), (2, 1)`
    await database.sql`vacuum analyze dlq.dlq_messages`
    filled = await partitionsWithRows(database.sql)
  }, 1_200_000)

  describe.each(planCacheModes)('and %s', (planCacheMode) => {
    test.each(beforeClaim)('%s reads about as many rows as it takes', async (_, query) => {
      const plans = await plansOf<Claimed>(database.url, planCacheMode, query)
      expect(filled.length).toBeGreaterThan(0)
      expectFrugal(plans, filled)
    })

    test.each(afterClaim)('%s reads about as many rows as it handles', async (_, query) => {
      const plans = await plansOf(database.url, planCacheMode, query, claim)
      expectFrugal(plans, filled)
    })
  })
})

describe.each(planCacheModes)('in a partition that was never analyzed, with %s', (planCacheMode) => {
  const fresh = useDatabase()

  test('the claim with a bound on what is in flight reads no more than one without', async () => {
    await fresh.sql`
      insert into dlq.dlq_messages (original_topic, error_message, record_value, next_retry_at)
      select 'topic-' || n % 2, 'failed', convert_to(repeat('x', 200), 'UTF8'), now() - interval '1 hour'
      from generate_series(1, 20000) n`
    await fresh.sql`insert into dlq.dlq_slots (slot, epoch) values (1, 1), (2, 1)`
    const blocksWith = async (maxInFlight: number | null) => {
      const plans = await plansOf(fresh.url, planCacheMode, (sql) =>
        claimBatch(sql, {
          ...{ ...slot, token: randomUUID(), maxBytes: 1e9 },
          shares: [{ topic: 'topic-1', quota: 50, maxInFlight, ordered: false, pausedGroups: [] }],
        }),
      )
      return plans.reduce((sum, plan) => sum + blocksOf(plan), 0)
    }
    expect(await blocksWith(1000)).toBeLessThan((await blocksWith(null)) + 200)
  })
})

describe.each(planCacheModes)('of a topic in the order of keys, with %s', (planCacheMode) => {
  const ordered = useDatabase()

  test('the claim reads the messages that wait for the first of their key once each', async () => {
    const waiting = 10_000
    await ordered.sql`
      insert into dlq.dlq_messages (original_topic, error_message, record_value, original_partition, original_offset, order_key, next_retry_at)
      select 'topic-' || n % 10, 'failed', 'value', 0, n, 77, now() + (case when n < 10 then 1 else -1 end) * interval '1 hour'
      from generate_series(0, ${waiting}::int) n`
    await ordered.sql`insert into dlq.dlq_slots (slot, epoch) values (1, 1)`
    await ordered.sql`vacuum analyze dlq.dlq_messages`
    const of = (topic: string) => ({ topic, quota: 50, maxInFlight: null, ordered: true, pausedGroups: [] })
    const shares = Array.from({ length: 10 }, (_, n) => of(`topic-${n}`))
    const plans = await plansOf(ordered.url, planCacheMode, async (sql) => {
      expect(await claimBatch(sql, { ...slot, token: randomUUID(), shares, maxBytes: 1e9 })).toBeNull()
    })
    const scans = plans.flatMap(nodesOf).filter((node) => node['Node Type'].includes('Scan'))
    const rows = scans.reduce((sum, node) => sum + node['Actual Rows'] * node['Actual Loops'], 0)
    expect(rows).toBeGreaterThan(waiting)
    // As due messages, as what passes on from the window, and each with the first of its key.
    expect(rows).toBeLessThan(waiting * 5)
  })

  test('many topics with thousands behind one key cost a claim hardly more than one', async () => {
    await ordered.sql`truncate dlq.dlq_messages`
    const [topics, waiting] = [20, 2000]
    await ordered.sql`
      insert into dlq.dlq_messages (original_topic, error_message, record_value, original_partition, original_offset, order_key, next_retry_at)
      select 'topic-' || n % ${topics}::int, 'failed', 'value', 0, n, 77, now() + (case when n < ${topics}::int then 1 else -1 end) * interval '1 hour'
      from generate_series(0, ${topics * waiting}::int) n`
    await ordered.sql`insert into dlq.dlq_slots (slot, epoch) values (1, 1) on conflict do nothing`
    await ordered.sql`vacuum analyze dlq.dlq_messages`
    const of = (topic: string) => ({ topic, quota: 50, maxInFlight: null, ordered: true, pausedGroups: [] })
    const shares = Array.from({ length: topics }, (_, n) => of(`topic-${n}`))
    const plans = await plansOf(ordered.url, planCacheMode, async (sql) => {
      expect(await claimBatch(sql, { ...slot, token: randomUUID(), shares, maxBytes: 1e9 })).toBeNull()
    })
    const nodes = plans.flatMap(nodesOf)
    // In each partition.
    const lookups = nodes.filter((node) => /_first_.*order_key/.test(node['Index Name'] ?? ''))
    expect(lookups.length).toBeGreaterThan(0)
    const count = lookups.reduce((sum, node) => sum + node['Actual Loops'], 0)
    // Of each topic twice its share and a hundred, and one key.
    expect(count).toBeGreaterThan(topics * 200)
    expect(count).toBeLessThan(topics * 205)
  })
})
