// dlq_positions and dlq_topics: what the ingester knows of Kafka.

import { setTimeout as sleep } from 'node:timers/promises'
import { emptyTables } from 'dlq-testing/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/service-database.ts'
import { useDatabase } from 'dlq-testing/test-database.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { beginGeneration, listPositions, lockPosition, movePosition, resetPosition } from './positions.ts'
import { isDlqTopic, listTopics, recordTopics } from './topics.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

const partition = { cluster: 'c', topic: 'orders.dlq.v1', partition: 0 }
const lock = () => service.sql.begin((sql) => lockPosition(sql, partition))

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_positions', 'dlq.dlq_topics')
})

describe('a position', () => {
  test('is the beginning until it is moved, and then exactly where it was moved to', async () => {
    expect(await lock()).toBe(0n)
    await movePosition(service.sql, { ...partition, nextOffset: 9_007_199_254_740_993n })
    expect(await lock()).toBe(9_007_199_254_740_993n)
  })

  test('belongs to one partition of one topic of one cluster', async () => {
    await lock()
    for (const other of [{ partition: 1 }, { topic: 'payments.dlq.v1' }, { cluster: 'd' }]) {
      await service.sql.begin(async (sql) => {
        await lockPosition(sql, { ...partition, ...other })
        await movePosition(sql, { ...partition, ...other, nextOffset: 5n })
      })
    }
    expect(await lock()).toBe(0n)
    expect(await listPositions(service.sql, { cluster: 'c', topics: ['orders.dlq.v1'] })).toEqual(
      expect.arrayContaining([
        { ...partition, nextOffset: 0n },
        { ...partition, partition: 1, nextOffset: 5n },
      ]),
    )
    expect(await listPositions(service.sql, { cluster: 'c', topics: [] })).toEqual([])
  })

  test.each([
    ['that is there', true],
    ['that two see for the first time', false],
  ])('%s makes a second writer wait, who then sees where the first has moved it', async (_, isThere) => {
    if (isThere) await lock()
    let second: Promise<bigint> | undefined
    await service.sql.begin(async (sql) => {
      await lockPosition(sql, partition)
      let isWaiting = true
      second = lock().finally(() => {
        isWaiting = false
      })
      await sleep(50)
      expect(isWaiting).toBe(true)
      await movePosition(sql, { ...partition, nextOffset: 7n })
    })
    expect(await second).toBe(7n)
  })

  test('stays where it was when the transaction that moved it fails', async () => {
    await lock()
    const failing = service.sql.begin(async (sql) => {
      await lockPosition(sql, partition)
      await movePosition(sql, { ...partition, nextOffset: 7n })
      throw new Error('crash')
    })
    await expect(failing).rejects.toThrow('crash')
    expect(await lock()).toBe(0n)
  })

  test('starts over in a new generation, for one of those who want it', async () => {
    await resetPosition(service.sql, { ...partition, nextOffset: 100n })
    const starts = await Promise.all(
      [1, 2, 3].map(() => beginGeneration(service.sql, { ...partition, seenOffset: 100n, nextOffset: 0n })),
    )
    const [row] = await database.sql`select generation, next_offset from dlq.dlq_positions`

    expect(starts.filter(Boolean)).toHaveLength(1)
    expect(row).toEqual({ generation: 1, next_offset: '0' })
  })
})

describe('the topics', () => {
  const record = (...topics: string[]) =>
    recordTopics(service.sql, { cluster: 'c', found: topics.map((topic) => ({ topic, topicId: null, partitions: 3 })) })
  const list = async () => (await listTopics(service.sql, { cluster: 'c' })).map(({ topic }) => topic)

  test('are those that were found last, in the order of their bytes', async () => {
    await record('b.dlq.v1', 'a.dlq.v1', 'B.dlq.v1')
    expect(await list()).toEqual(['B.dlq.v1', 'a.dlq.v1', 'b.dlq.v1'])
  })

  test('go and come back, keeping when they were first found and how people call them', async () => {
    await record('a', 'b')
    await database.sql`update dlq.dlq_topics set display_name = 'Orders', found_at = '2020-01-01' where topic = 'a'`
    await record('b')
    expect(await list()).toEqual(['b'])
    expect(await isDlqTopic(service.sql, 'a')).toBe(true)
    await record('a', 'b')

    expect(await list()).toEqual(['a', 'b'])
    const [row] = await database.sql`select display_name, found_at, gone_at from dlq.dlq_topics where topic = 'a'`
    expect(row).toEqual({ display_name: 'Orders', found_at: new Date('2020-01-01T00:00:00Z'), gone_at: null })
  })

  test('are all gone when none was found', async () => {
    await record('a')
    await record()
    expect(await list()).toEqual([])
  })

  test('of another cluster are left alone', async () => {
    await record('a')
    await recordTopics(service.sql, { cluster: 'd', found: [] })
    expect(await list()).toEqual(['a'])
    expect(await listTopics(service.sql, { cluster: 'd' })).toEqual([])
  })

  test('take a new number of partitions, and are not written when nothing changed', async () => {
    await record('a')
    const version = async () => (await database.sql`select xmin::text, partitions from dlq.dlq_topics`)[0]
    const before = await version()
    await record('a')
    expect(await version()).toEqual(before)
    await recordTopics(service.sql, { cluster: 'c', found: [{ topic: 'a', topicId: null, partitions: 12 }] })
    expect(await version()).toMatchObject({ partitions: 12 })
  })

  test('with another id than before start over, each partition once under a new generation, and no other topic does', async () => {
    const place = (topic: string, partition: number) => ({ cluster: 'c', topic, partition, nextOffset: 7n })
    for (const at of [place('a', 0), place('a', 1), place('b', 0)]) await resetPosition(service.sql, at)
    const found = (topicId: string | null) =>
      recordTopics(service.sql, {
        cluster: 'c',
        found: [
          { topic: 'a', topicId, partitions: 2 },
          { topic: 'b', topicId: 'same', partitions: 1 },
        ],
      })
    expect(await found('one')).toEqual([])
    // A broker that has no ids says nothing about it.
    expect(await found(null)).toEqual([])
    const started = await Promise.all([found('two'), found('two'), found('two')])
    expect(started.flat().sort((a, b) => a.partition - b.partition)).toEqual([
      { topic: 'a', partition: 0, seenOffset: 7n },
      { topic: 'a', partition: 1, seenOffset: 7n },
    ])
    const rows = await database.sql`
      select topic, partition, generation, next_offset from dlq.dlq_positions order by topic, partition`
    expect([...rows]).toEqual([
      { topic: 'a', partition: 0, generation: 1, next_offset: '0' },
      { topic: 'a', partition: 1, generation: 1, next_offset: '0' },
      { topic: 'b', partition: 0, generation: 0, next_offset: '7' },
    ])
    expect(await found('two')).toEqual([])
  })

  test('that were never found are no DLQ topics', async () => {
    expect(await isDlqTopic(service.sql, 'orders')).toBe(false)
  })
})
