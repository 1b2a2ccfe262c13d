// The messages that a slot may claim, by due rows, policies, and how far the readers are behind.
import { defaultRetryPolicy, type RetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, expect, test } from 'vitest'
import { createCooldown } from '../slot/cooldown.ts'
import { createTopicHolds } from '../targets/topic-holds.ts'
import { createDueTopics } from './due-topics.ts'
import { type PlanDeps, planClaim } from './plan-claim.ts'
import { createReaderLags } from './reader-lags.ts'
import { createTopicOrder } from './topic-order.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

beforeEach(() =>
  emptyTables(database.sql, 'dlq.dlq_messages', 'dlq.dlq_runs', 'dlq.dlq_readers', 'dlq.dlq_summary_totals'),
)

async function claimable(
  policies: Record<string, Partial<RetryPolicy>> = {},
  more: Partial<PlanDeps> = {},
): Promise<string[]> {
  const { shares } = await planClaim(
    {
      sql: service.sql,
      dueTopics: createDueTopics(service.sql),
      cooldown: createCooldown({ now: Date.now }),
      holds: createTopicHolds({ now: Date.now }),
      pauses: { ofTopic: () => [] },
      topicOrder: { isReady: () => true, forget: () => {} },
      lags: createReaderLags(service.sql),
      policyOf: ({ original_topic }) => ({ ...defaultRetryPolicy, ...policies[original_topic] }),
      ...more,
    },
    { turn: 0, runTurn: 0, batchSize: 10, appetite: new Map(), contested: new Map() },
  )
  return shares.map(({ topic }) => topic)
}

test('a topic whose application pulls its dead letters is left alone', async () => {
  for (const original_topic of ['pulled', 'published'])
    await insertMessageRow(database.sql, { original_topic, next_retry_at: new Date(0) })
  expect(await claimable({ pulled: { delivery: 'pull' } })).toEqual(['published'])
})

test('what a run redirects is claimed also where an application pulls', async () => {
  await enterRun({ max_lag: null, target_topic: 'mended' })
  expect(await claimable({ orders: { delivery: 'pull' } })).toEqual(['orders'])
})

test('a topic is left alone while its target cools down or rests', async () => {
  for (const original_topic of ['cooling', 'resting', 'published'])
    await insertMessageRow(database.sql, { original_topic, next_retry_at: new Date(0) })
  const cooldown = createCooldown({ now: Date.now })
  const holds = createTopicHolds({ now: Date.now })
  cooldown.add('elsewhere')
  holds.search('resting', {})
  const redirected = { cooling: { redirectTopic: 'elsewhere' } }
  expect(await claimable(redirected, { cooldown, holds })).toEqual(['published'])
})

test('the order of keys is forgotten where the policy does not ask for it, and waited for where it does', async () => {
  for (const original_topic of ['ordered', 'plain'])
    await insertMessageRow(database.sql, { original_topic, next_retry_at: new Date(0) })
  const forgotten: string[] = []
  const topicOrder = { isReady: () => false, forget: (topic: string) => void forgotten.push(topic) }
  expect(await claimable({ ordered: { ordering: 'per-key' } }, { topicOrder })).toEqual(['plain'])
  expect(forgotten).toEqual(['plain'])
})

test('a run of another DLQ topic, whose policy asks for no order, does not keep an ordered topic waiting', async () => {
  await insertMessageRow(database.sql, { original_topic: 'orders', dlq_topic: 'a.dlq.v1', next_retry_at: new Date(0) })
  await read('orders', 'billing', 0)
  await enterRun({ max_lag: 10 })
  const topicOrder = createTopicOrder(service.sql)
  const policyOf: PlanDeps['policyOf'] = ({ dlq_topic }) => ({
    ...defaultRetryPolicy,
    ordering: dlq_topic === 'a.dlq.v1' ? 'per-key' : 'none',
  })
  expect(await claimable({}, { topicOrder, policyOf })).toEqual([])
  while ((await topicOrder.pass()).more) {}
  expect(await claimable({}, { topicOrder, policyOf })).toEqual(['orders'])
})

async function read(topic: string, group: string, committed: number): Promise<void> {
  await database.sql`
    insert into dlq.dlq_readers (target_topic, consumer_group, state, members, horizon)
    values (${topic}, ${group}, 'Stable', 1, '1 minute') on conflict do nothing`
  await database.sql`
    insert into dlq.dlq_reader_partitions (target_topic, consumer_group, partition, committed_offset, log_start_offset, log_end_offset)
    values (${topic}, ${group}, 0, ${committed}, 0, 100)
    on conflict (target_topic, consumer_group, partition) do update set committed_offset = excluded.committed_offset`
}

async function enterRun(columns: { max_lag: number | null; target_topic?: string }): Promise<void> {
  const { max_lag, target_topic = null } = columns
  const [run] = await database.sql`
    insert into dlq.dlq_runs (kind, status, actor, selection, cutoff, until_id, matched, matched_relation, on_refailure, max_refailure, max_lag, target_topic)
    values (${target_topic === null ? 'retry' : 'redirect'}, 'running', 'ann', '{"filter":{}}', now(), ${crypto.randomUUID()}, 1, 'eq', 'continue', 0.5,
            ${max_lag}, ${target_topic})
    returning id`
  await insertMessageRow(database.sql, { original_topic: 'orders', consumer_group: 'billing', run_id: run!.id })
}

test('a run waits while the group that failed is further behind than it allows, and goes on when it has caught up', async () => {
  await enterRun({ max_lag: 10 })
  await database.sql`select dlq.fold_summary()`
  await read('orders', 'billing', 80)
  // Another group is behind as well, and has never failed.
  await read('orders', 'search', 0)
  expect(await claimable()).toEqual([])
  await read('orders', 'billing', 90)
  expect(await claimable()).toEqual(['orders'])
})

test('where no group is known to have failed, all that read the target count', async () => {
  await enterRun({ max_lag: 10, target_topic: 'mended' })
  await database.sql`select dlq.fold_summary()`
  expect(await claimable()).toEqual(['orders'])
  await read('mended', 'search', 0)
  expect(await claimable()).toEqual([])
})

test('a run without a bound, and what is due by itself, wait for nobody', async () => {
  await enterRun({ max_lag: null })
  await insertMessageRow(database.sql, { original_topic: 'shipments', next_retry_at: new Date(0) })
  await read('orders', 'billing', 0)
  await read('shipments', 'billing', 0)
  expect((await claimable()).toSorted()).toEqual(['orders', 'shipments'])
})
