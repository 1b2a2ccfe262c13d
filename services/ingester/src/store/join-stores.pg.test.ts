// Small batches of several partitions in one transaction.

import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { connectAsService, useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { createJoinedStore } from './join-stores.ts'
import type { Batch } from './store-batch.ts'
import { batchOf, recordAt, storeDeps } from './test-batch.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

/** A batch of `count` records of a partition. */
function batchOfPartition(partition: number, count = 3, more: Partial<Batch> = {}): Batch {
  const records = Array.from({ length: count }, (_, offset) => ({ ...recordAt(offset), partition }))
  return { ...batchOf(records), partition, ...more }
}

const positions = () =>
  database.sql<{ partition: number; next: number; transaction: string }[]>`
    select partition, next_offset::int as next, xmin::text as transaction from dlq.dlq_positions order by partition`

async function countMessages(): Promise<number> {
  const [row] = await database.sql<{ count: number }[]>`select count(*)::int as count from dlq.dlq_messages`
  return row!.count
}

beforeEach(() => emptyTables(database.sql, 'dlq.dlq_positions', 'dlq.dlq_messages'))

test('batches that come together are stored in few transactions, each with its own outcome', async () => {
  const store = createJoinedStore(storeDeps(service.sql))
  const outcomes = await Promise.all(
    Array.from({ length: 40 }, (_, partition) => store(batchOfPartition(partition, 1 + (partition % 5)))),
  )

  expect(outcomes.map((outcome) => outcome.kind === 'stored' && outcome.stored)).toEqual(
    Array.from({ length: 40 }, (_, partition) => 1 + (partition % 5)),
  )
  const stored = await positions()
  expect(stored.map(({ next }) => next)).toEqual(Array.from({ length: 40 }, (_, partition) => 1 + (partition % 5)))
  expect(new Set(stored.map(({ transaction }) => transaction)).size).toBeLessThanOrEqual(3)
})

test('a large batch has a transaction of its own', async () => {
  const store = createJoinedStore(storeDeps(service.sql))
  await Promise.all([store(batchOfPartition(0)), store(batchOfPartition(1, 101)), store(batchOfPartition(2))])

  const [first, large, last] = await positions()
  expect(large!.next).toBe(101)
  expect(large!.transaction).not.toBe(first!.transaction)
  expect(last!.transaction).toBe(first!.transaction)
})

test('a batch that cannot be stored fails alone', async () => {
  const deps = storeDeps(service.sql)
  const complete: typeof deps.complete = async (records) => {
    if (records[0]!.partition === 1) throw new Error('Kafka does not answer')
    return [...records]
  }
  // Rows that are written early have nothing to complete.
  const setbacks = { note() {}, mayTry: () => false }
  const store = createJoinedStore({ ...deps, complete, setbacks })
  const outcomes = await Promise.allSettled([0, 1, 2].map((partition) => store(batchOfPartition(partition))))

  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect((await positions()).map(({ partition, next }) => [partition, next])).toEqual([
    [0, 3],
    [2, 3],
  ])
  expect(await countMessages()).toBe(6)
})

test('a partition that waits for a locked row until its time is over fails once with others, and then alone', async () => {
  const sql = connectAsService(database.url, { DLQ_DATABASE_STATEMENT_TIMEOUT: '200ms' })
  onTestFinished(() => sql.end({ timeout: 5 }))
  const store = createJoinedStore(storeDeps(sql))
  const storeAll = async (partitions = [0, 1, 2, 3]) => {
    const outcomes = await Promise.allSettled(partitions.map((partition) => store(batchOfPartition(partition))))
    return outcomes.map(({ status }) => status)
  }
  await service.sql.begin(async (holding) => {
    await holding`insert into dlq.dlq_positions (cluster, topic, partition, next_offset) values ('c', 'orders.dlq.v1', 1, 0)`
    expect(await storeAll()).toEqual(['rejected', 'rejected', 'rejected', 'rejected'])
    expect(await storeAll()).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
    expect(await storeAll([1, 0, 2, 3])).toEqual(['rejected', 'fulfilled', 'fulfilled', 'fulfilled'])
  })
  expect(await storeAll()).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'fulfilled'])
  expect(await countMessages()).toBe(12)
})

test('partitions that have failed leave a transaction to the others, however many they are', async () => {
  const deps = storeDeps(service.sql)
  const over = Promise.withResolvers<void>()
  onTestFinished(() => over.resolve())
  let areWaiting = false
  const complete: typeof deps.complete = async (records) => {
    if (records[0]!.partition === 9) return [...records]
    if (areWaiting) await over.promise
    throw new Error('Kafka does not answer')
  }
  const store = createJoinedStore({ ...deps, complete, setbacks: { note() {}, mayTry: () => false } })
  const storeFailing = () => Promise.allSettled([0, 1, 2, 3].map((partition) => store(batchOfPartition(partition))))
  await storeFailing()
  areWaiting = true
  const failing = storeFailing()
  expect(await store(batchOfPartition(9))).toMatchObject({ kind: 'stored', stored: 3 })
  over.resolve()
  await failing
})

test('a hole in one partition stores the others', async () => {
  const store = createJoinedStore(storeDeps(service.sql))
  const outcomes = await Promise.all([
    store(batchOfPartition(0)),
    store(batchOfPartition(1, 3, { fetchedOffset: 5n })),
    store(batchOfPartition(2)),
  ])
  expect(outcomes.map(({ kind }) => kind)).toEqual(['stored', 'hole', 'stored'])
  expect(await countMessages()).toBe(6)
})

test('records that were stored already are dropped, in whichever transaction they come', async () => {
  const store = createJoinedStore(storeDeps(service.sql))
  await Promise.all([0, 1].map((partition) => store(batchOfPartition(partition))))
  await Promise.all([0, 1, 2].map((partition) => store(batchOfPartition(partition, 4))))
  expect(await countMessages()).toBe(12)
})
