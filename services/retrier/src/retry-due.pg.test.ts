// A batch whose producer meets faults: when its messages are settled, and which are given back.

import { setTimeout } from 'node:timers/promises'
import { defaultRetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { lockTopicsInFlight } from 'dlq-core/queries/retry/batches.ts'
import { DlqError } from 'dlq-core/runtime/errors.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertDueRows } from 'dlq-testing/rows/due-rows.ts'
import { enterRun } from 'dlq-testing/rows/enter-run.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createDueTopics } from './claim/due-topics.ts'
import { createRetryCounts } from './groups/retry-counts.ts'
import { pretendingProducer, pretendingTargets } from './publish/pretending-producer.ts'
import { CommitUnknownError, type Part, type PublishResult } from './publish/slot-producer.ts'
import type { FoundTarget, TargetTopics } from './publish/target-topics.ts'
import { createPendingSlots } from './slot/pending-slots.ts'
import { createSlotWorker, type SlotDeps } from './slot/run-slot.ts'
import { sweepSlots } from './slot/sweep-slots.ts'
import { pretendingSlotDeps } from './test-retrier.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const ratePerSecond = 4
const closing: (() => Promise<void>)[] = []

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_attempts', 'dlq.dlq_messages', 'dlq.dlq_rate_buckets', 'dlq.dlq_slots')
  await insertDueRows(database.sql, { count: 4, topics: ['orders'] })
})
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

/** A slot that publishes by this function, one pass of it. */
function passWith(publish: (part: Part) => Promise<PublishResult>, more: Partial<SlotDeps> = {}) {
  const deps = pretendingSlotDeps(service.sql, {
    ...more,
    policyOf: () => ({ ...defaultRetryPolicy, ratePerSecond }),
    createProducer: () => ({ ...pretendingProducer, publish }),
  })
  const worker = createSlotWorker(deps)
  closing.push(worker.close)
  return { deps, pass: () => worker.pass() }
}

const unavailable = { error: new Error('the broker died'), topics: null }
const nothing: PublishResult = {
  ...{ published: [], refused: [], released: [] },
  ...{ splitInto: [], refusing: [], fault: null },
}

async function countStates(): Promise<Record<string, number>> {
  const rows = await database.sql<{ state: string; n: number }[]>`
    select status || ' ' || retry_count as state, count(*)::int as n from dlq.dlq_messages group by 1 order by 1`
  return Object.fromEntries(rows.map(({ state, n }) => [state, n]))
}

async function tokensLeft(): Promise<number> {
  const [row] = await database.sql<{ tokens: number }[]>`
    select round(tokens)::float8 as tokens from dlq.dlq_rate_buckets where topic = 'orders'`
  return row!.tokens
}

test('each part is settled before the next is published; when Kafka then fails, the rest is given back with its tokens', async () => {
  const seen: [number, object][] = []
  const { deps, pass } = passWith(async (part) => {
    seen.push([part.records.length, await countStates()])
    if (part.records.length === 4)
      return { ...nothing, splitInto: [part.records.slice(0, 1), part.records.slice(1, 2), part.records.slice(2)] }
    if (part.records.length === 1) return pretendingProducer.publish(part)
    return { ...nothing, released: part.records.map(({ id }) => id), fault: unavailable }
  })
  await expect(pass()).rejects.toMatchObject({ code: 'KAFKA_UNAVAILABLE', message: expect.stringContaining('died') })
  expect(deps.breaker.fault()).toContain('died')
  expect(seen).toEqual([
    [4, { 'RETRYING 1': 4 }],
    [1, { 'RETRYING 1': 4 }],
    [1, { 'RESOLVED 1': 1, 'RETRYING 1': 3 }],
    [2, { 'RESOLVED 1': 2, 'RETRYING 1': 2 }],
  ])
  expect(await countStates()).toEqual({ 'PENDING 0': 2, 'RESOLVED 1': 2 })
  expect(await tokensLeft()).toBe(2)
})

test('a claim tells which topics gave all that it asked for', async () => {
  await insertDueRows(database.sql, { count: 1, topics: ['payments'] })
  const learnt: Record<string, boolean>[] = []
  const dueTopics = createDueTopics(service.sql, { maxAgeMs: 0 })
  const learn = (filled: ReadonlyMap<string, boolean>) => void learnt.push(Object.fromEntries(filled))
  const { pass } = passWith(pretendingProducer.publish, { dueTopics: { ...dueTopics, learn } })
  await pass()
  expect(learnt).toEqual([{ orders: true, payments: false }])
})

test('what was published and what was refused counts for the run that held it', async () => {
  const counted = await enterRun(database.sql)
  const { pass } = passWith(async (part) => {
    const [first, ...records] = part.records
    const refused = [{ id: first!.id, topic: first!.topic, reason: 'too large', refusesTopic: false }]
    return { ...(await pretendingProducer.publish({ ...part, records })), refused }
  })
  await pass()
  expect(await countStates()).toEqual({ 'PENDING 1': 1, 'RESOLVED 1': 3 })
  expect(await counted()).toEqual({ failed: 1, resolved: 3 })
})

test('what was refused waits for a person; what was published counts for its error group', async () => {
  await database.sql`update dlq.dlq_messages set group_id = '5f0c2d3e-7a51-4e64-9d0a-2f8f2b9a3c11'`
  const counted: (string | null)[] = []
  const { pass } = passWith(
    async (part) => {
      const [first, ...records] = part.records
      const refused = [{ id: first!.id, topic: first!.topic, reason: 'too large', refusesTopic: false }]
      return { ...(await pretendingProducer.publish({ ...part, records })), refused }
    },
    { retryCounts: { ...createRetryCounts(), add: ({ group_id }) => void counted.push(group_id) } },
  )
  await pass()
  const rows = await database.sql`select status, next_retry_at from dlq.dlq_messages where status = 'PENDING'`
  expect([...rows]).toEqual([{ status: 'PENDING', next_retry_at: null }])
  expect(counted).toHaveLength(3)
})

test.each([
  ['is paused', { paused: true }],
  ['leaves the topic to its application', { delivery: 'pull' }],
] as const)('messages whose policy %s since the claim are given back, with their tokens', async (_, change) => {
  const { deps, pass } = passWith(() => Promise.reject(new Error('nothing is sent')))
  const policy = { ...defaultRetryPolicy, ratePerSecond }
  deps.policyOf = ({ original_topic }) => ({ ...policy, ...(isClaimed && original_topic === 'orders' && change) })
  let isClaimed = false
  deps.turns = {
    take: async (claim) => {
      const claimed = await claim()
      isClaimed = true
      return claimed
    },
  }
  expect(await pass()).toMatchObject({ published: 0, refused: 0, released: 4 })
  expect(await countStates()).toEqual({ 'PENDING 0': 4 })
  expect(await tokensLeft()).toBe(4)
})

test('tokens that the claim found no messages for are returned', async () => {
  await database.sql`delete from dlq.dlq_messages where original_offset > 1000000000`
  const { pass } = passWith(pretendingProducer.publish)
  expect(await pass()).toMatchObject({ published: 1 })
  expect(await tokensLeft()).toBe(3)
})

test('a slot whose number the database has forgotten is taken again, because its batches may be claimed again', async () => {
  const { deps, pass } = passWith(pretendingProducer.publish)
  deps.policyOf = () => defaultRetryPolicy
  await pass()
  await database.sql`update dlq.dlq_slots set batch = 0`
  await insertDueRows(database.sql, { count: 1, topics: ['orders'], from: 10 })
  await pass()
  await pass()
  const [slot] = await database.sql<{ epoch: string }[]>`select epoch::text from dlq.dlq_slots`
  expect(slot!.epoch).toBe('2')
})

test('the parts of a batch have rising numbers, none of them twice', async () => {
  const numbers: bigint[] = []
  const { pass } = passWith(async (part) => {
    numbers.push(part.batchNumber)
    const middle = part.records.length >> 1
    return part.records.length === 1
      ? pretendingProducer.publish(part)
      : { ...nothing, splitInto: [part.records.slice(0, middle), part.records.slice(middle)] }
  })
  await pass()
  expect(numbers).toHaveLength(7)
  expect(numbers.every((number, at) => at === 0 || number > numbers[at - 1]!)).toBe(true)
  expect(await countStates()).toEqual({ 'RESOLVED 1': 4 })
})

test('where a commit’s answer never came, the batch stays claimed, its tokens stay taken, and nothing counts as in flight', async () => {
  const { deps, pass } = passWith((part) => Promise.reject(new CommitUnknownError(part, new Error('no answer'))))
  await expect(pass()).rejects.toThrow(CommitUnknownError)
  expect(deps.breaker.fault()).not.toBeNull()
  expect(await countStates()).toEqual({ 'RETRYING 1': 4 })
  expect(await tokensLeft()).toBe(0)
  expect((await deps.metrics.inFlight.get()).values[0]!.value).toBe(0)
})

test('a batch that Kafka did not take in time is followed by smaller ones, until one is taken', async () => {
  const sizes: number[] = []
  const { pass } = passWith(
    async (part) => {
      sizes.push(part.records.length)
      if (part.records.length === 1) return pretendingProducer.publish(part)
      await setTimeout(20)
      return { ...nothing, released: part.records.map(({ id }) => id), fault: unavailable }
    },
    // A batch that failed after 20 ms was slow.
    { batchMs: 1 },
  )
  await expect(pass()).rejects.toMatchObject({ code: 'KAFKA_UNAVAILABLE' })
  await setTimeout(5) // The breaker is open for a millisecond.
  await pass()
  expect(sizes).toEqual([4, 1])
  expect(await countStates()).toEqual({ 'PENDING 0': 3, 'RESOLVED 1': 1 })
})

test('where no topic can be looked up, all messages are given back and no attempt is counted', async () => {
  const { deps, pass } = passWith(pretendingProducer.publish)
  deps.targets = { ...deps.targets, find: () => Promise.reject(new Error('no metadata')) }
  await expect(pass()).rejects.toMatchObject({ code: 'KAFKA_UNAVAILABLE' })
  expect(await countStates()).toEqual({ 'PENDING 0': 4 })
  expect(await tokensLeft()).toBe(4)
})

test('messages that were sent elsewhere, where nothing can be written now, do not stand before the others of their topic', async () => {
  await database.sql`update dlq.dlq_messages set target_topic = 'elsewhere'`
  await insertDueRows(database.sql, { count: 1, topics: ['orders'] })
  const { deps, pass } = passWith(pretendingProducer.publish, { batchSize: 4 })
  deps.policyOf = () => defaultRetryPolicy
  const unavailable: FoundTarget = { kind: 'unavailable', error: new Error('no leader') }
  const find: TargetTopics['find'] = async (topics) => {
    const found = await pretendingTargets.find(topics)
    return new Map([...found].map(([topic, known]) => [topic, topic === 'elsewhere' ? unavailable : known]))
  }
  deps.targets = { ...deps.targets, find }
  await database.sql`
    update dlq.dlq_messages set next_retry_at = now() - (case when target_topic is null then 1 else 60 end) * interval '1 s'`
  await pass()
  await pass()
  expect(await countStates()).toEqual({ 'PENDING 0': 4, 'RESOLVED 1': 1 })
})

test('a batch with doubtful records of many topics is not as many transactions: the rest follows in the next ones', async () => {
  await emptyTables(database.sql, 'dlq.dlq_messages')
  const topics = Array.from({ length: 50 }, (_, n) => `topic-${n}`)
  await insertDueRows(database.sql, { count: 50, topics })
  let transactions = 0
  const { deps, pass } = passWith((part) => {
    transactions += 1
    return pretendingProducer.publish(part)
  })
  deps.policyOf = () => defaultRetryPolicy
  for (const topic of topics) deps.holds.spent(topic, 1)
  await pass()
  expect(transactions).toBe(21)
  expect(await countStates()).toEqual({ 'PENDING 0': 29, 'RESOLVED 1': 21 })
  for (let passes = 0; passes < 2; passes += 1) {
    await database.sql`update dlq.dlq_messages set next_retry_at = '1970-01-01' where status = 'PENDING'`
    await pass()
  }
  expect(await countStates()).toEqual({ 'RESOLVED 1': 50 })
})

test('where the claim fails, its tokens are returned', async () => {
  const { pass } = passWith(pretendingProducer.publish, { maxBatchBytes: Number.NaN })
  await expect(pass()).rejects.toThrow('NaN')
  expect(await countStates()).toEqual({ 'PENDING 0': 4 })
  expect(await tokensLeft()).toBe(4)
})

test('a process that is frozen while it claims of a limited topic keeps nobody from the others', async () => {
  await insertDueRows(database.sql, { count: 3, topics: ['payments'] })
  const { deps, pass } = passWith(pretendingProducer.publish)
  deps.policyOf = ({ original_topic }) => ({
    ...defaultRetryPolicy,
    maxInFlight: original_topic === 'orders' ? 2 : null,
  })
  await service.sql.begin(async (frozen) => {
    await lockTopicsInFlight(frozen, ['orders'])
    expect(await pass()).toMatchObject({ published: 3, more: true })
    // Only the limited topic is left: the claim waits a moment, and gives up.
    expect(await pass()).toMatchObject({ published: 0, more: false })
    expect(await countStates()).toEqual({ 'PENDING 0': 4, 'RESOLVED 1': 3 })
  })
  expect(await pass()).toMatchObject({ published: 2 })
  expect(await countStates()).toEqual({ 'PENDING 0': 2, 'RESOLVED 1': 5 })
})

test('what a fault of anything but Kafka leaves claimed is settled by the next pass', async () => {
  let isFailing = true
  const { deps, pass } = passWith((part) =>
    isFailing ? Promise.reject(new Error('no connection to the database')) : pretendingProducer.publish(part),
  )
  deps.policyOf = () => defaultRetryPolicy
  await expect(pass()).rejects.toThrow('no connection')
  expect(await countStates()).toEqual({ 'RETRYING 1': 4 })
  isFailing = false
  await pass()
  expect(await countStates()).toEqual({ 'RESOLVED 1': 4 })
  expect(deps.breaker.fault()).toBeNull()
})

test('a slot whose transaction Kafka cannot end is left aside with what it holds, by the sweep too; the retrier sends with another', async () => {
  const closed: number[] = []
  const { deps, pass } = passWith(pretendingProducer.publish)
  deps.createProducer = (slot) => ({
    ...pretendingProducer,
    async connect() {
      if (slot === 1) throw new DlqError('TRANSACTION_PENDING', 'a partition has no leader')
      return null
    },
    close: async () => void closed.push(slot),
  })
  await expect(pass()).rejects.toMatchObject({ code: 'TRANSACTION_PENDING' })
  expect([closed, deps.breaker.fault()]).toEqual([[1], null])
  await pass()
  expect(await countStates()).toEqual({ 'RESOLVED 1': 4 })

  await insertMessageRow(database.sql, { status: 'RETRYING', retry_count: 1, lease_slot: 1, lease_batch: 1 })
  const sweeper = { ...deps, pendingSlots: createPendingSlots({ now: Date.now }) }
  for (const more of [true, false]) expect(await sweepSlots(sweeper)).toEqual({ more })
  const slots = await database.sql`
    select slot, epoch::int, owner is not null as is_held from dlq.dlq_slots order by slot`
  expect([...slots]).toEqual([
    { slot: 1, epoch: 2, is_held: false },
    { slot: 2, epoch: 1, is_held: true },
  ])
  expect(closed).toEqual([1, 1])
  expect(await countStates()).toEqual({ 'RESOLVED 1': 4, 'RETRYING 1': 1 })
})

test('when Kafka fails, the parts behind the one that failed are given back too', async () => {
  const { pass } = passWith(async (part) => {
    if (part.records.length === 4)
      return { ...nothing, splitInto: [part.records.slice(0, 1), part.records.slice(1, 2), part.records.slice(2)] }
    return { ...nothing, released: part.records.map(({ id }) => id), fault: unavailable }
  })
  await expect(pass()).rejects.toMatchObject({ code: 'KAFKA_UNAVAILABLE' })
  expect(await countStates()).toEqual({ 'PENDING 0': 4 })
})

test('only a record that goes back to where it came from says for which group it is', async () => {
  await database.sql`
    update dlq.dlq_messages set
      consumer_group = 'billing', target_topic = case when original_offset > 1000000000 then 'elsewhere' end`
  const named: [string, boolean][] = []
  const { pass } = passWith((part) => {
    for (const { topic, headers } of part.records)
      named.push([topic, headers.some(([name]) => name === 'dlq-for-group')])
    return pretendingProducer.publish(part)
  })
  await pass()
  const elsewhere = ['elsewhere', false]
  expect(named.toSorted()).toEqual([elsewhere, elsewhere, elsewhere, ['orders', true]])
})

test('a topic that refused a record is looked up again', async () => {
  const forgotten: string[] = []
  const { deps, pass } = passWith(async (part) => ({
    ...nothing,
    refused: part.records.map(({ id, topic }) => ({ id, topic, reason: 'too large', refusesTopic: false })),
  }))
  deps.targets = { ...deps.targets, forget: (topic) => void forgotten.push(topic) }
  await pass()
  expect(new Set(forgotten)).toEqual(new Set(['orders']))
})

describe('after Kafka was away', () => {
  const opened = async (more: Partial<SlotDeps> = {}) => {
    const slot = passWith(pretendingProducer.publish, more)
    await slot.pass()
    slot.deps.breaker.failed('the broker died')
    await setTimeout(5) // The breaker is open for a millisecond.
    return slot
  }

  test('a slot that had no part in it finds that Kafka is back', async () => {
    const { deps, pass } = await opened()
    await pass()
    expect(deps.breaker.fault()).toBeNull()
  })

  test('a probe that the database fails is followed by another', async () => {
    let isAway = false
    const loadPolicies = () => (isAway ? Promise.reject(new Error('no connection to the database')) : Promise.resolve())
    const { deps, pass } = await opened({ loadPolicies })
    isAway = true
    await expect(pass()).rejects.toThrow('no connection')
    isAway = false
    await setTimeout(5)
    await pass()
    expect(deps.breaker.fault()).toBeNull()
  })
})
