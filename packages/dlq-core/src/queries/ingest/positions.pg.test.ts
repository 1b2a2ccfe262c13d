// dlq_positions and dlq_topics: the ingester's knowledge of Kafka.

import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { untilWaitingForLock } from 'dlq-testing/postgres/lock-waits.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { beginGeneration, cutPosition, listPositions, lockPosition, movePosition, resetPosition } from './positions.ts'
import { isDlqTopic, listTopics, recordTopics } from './topics.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

const partition = { cluster: 'c', topic: 'orders.dlq.v1', partition: 0 }
const lock = async () => (await service.sql.begin((sql) => lockPosition(sql, partition))).next_offset

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_positions', 'dlq.dlq_topics')
})

describe('a position', () => {
  test('is 0 until it is moved, and then exactly the offset that it was moved to', async () => {
    expect(await lock()).toBe(0n)
    await movePosition(service.sql, { ...partition, next_offset: 9_007_199_254_740_993n })
    expect(await lock()).toBe(9_007_199_254_740_993n)
  })

  test('belongs to one partition of one topic of one cluster', async () => {
    await lock()
    for (const other of [{ partition: 1 }, { topic: 'payments.dlq.v1' }, { cluster: 'd' }]) {
      await service.sql.begin(async (sql) => {
        await lockPosition(sql, { ...partition, ...other })
        await movePosition(sql, { ...partition, ...other, next_offset: 5n })
      })
    }
    expect(await lock()).toBe(0n)
    expect(await listPositions(service.sql, { cluster: 'c', topics: ['orders.dlq.v1'] })).toEqual(
      expect.arrayContaining([
        { ...partition, next_offset: 0n },
        { ...partition, partition: 1, next_offset: 5n },
      ]),
    )
    expect(await listPositions(service.sql, { cluster: 'c', topics: [] })).toEqual([])
  })

  test.each([
    ['that is there', true],
    ['that two see for the first time', false],
  ])('%s makes a second writer wait, which then sees the position of the first', async (_, isThere) => {
    if (isThere) await lock()
    let second: Promise<bigint> | undefined
    await service.sql.begin(async (sql) => {
      await lockPosition(sql, partition)
      second = lock()
      await untilWaitingForLock(database)
      await movePosition(sql, { ...partition, next_offset: 7n })
    })
    expect(await second).toBe(7n)
  })

  test('stays where it was when the transaction that moved it fails', async () => {
    await lock()
    const failing = service.sql.begin(async (sql) => {
      await lockPosition(sql, partition)
      await movePosition(sql, { ...partition, next_offset: 7n })
      throw new Error('crash')
    })
    await expect(failing).rejects.toThrow('crash')
    expect(await lock()).toBe(0n)
  })

  test('has the epoch that it was moved with, until somebody moves it who knows none', async () => {
    const epoch = async () => (await service.sql.begin((sql) => lockPosition(sql, partition))).leader_epoch
    expect(await epoch()).toBeNull()
    const withEpoch = () => movePosition(service.sql, { ...partition, next_offset: 7n, leader_epoch: 3 })
    const others = [
      () => movePosition(service.sql, { ...partition, next_offset: 8n }),
      () => resetPosition(service.sql, { ...partition, next_offset: 7n }),
      () => beginGeneration(service.sql, { ...partition, seen_offset: 7n, next_offset: 7n }),
      () => database.sql`update dlq.dlq_positions set next_offset = 9`,
    ]
    for (const moveWithout of others) {
      await withEpoch()
      expect(await epoch()).toBe(3)
      await moveWithout()
      expect(await epoch()).toBeNull()
    }
  })

  test('goes back to where the log was cut for only one of several callers', async () => {
    await lock()
    await movePosition(service.sql, { ...partition, next_offset: 30n, leader_epoch: 3 })
    const cut = { ...partition, seen_offset: 30n, next_offset: 20n, leader_epoch: 2 }
    const cuts = await Promise.all([1, 2, 3].map(() => cutPosition(service.sql, cut)))
    expect(cuts.filter(Boolean)).toHaveLength(1)
    expect(await service.sql.begin((sql) => lockPosition(sql, partition))).toMatchObject({
      ...{ next_offset: 20n, leader_epoch: 2 },
    })
  })

  test('that is reset again and again knows up to where records may be stored already', async () => {
    const place = { cluster: 'c', topic: 'reset', partition: 0 }
    for (const next_offset of [100n, 0n, 50n]) await resetPosition(service.sql, { ...place, next_offset })
    const position = await service.sql.begin((sql) => lockPosition(sql, place))
    expect(position).toMatchObject({ next_offset: 50n, stored_below: 100n })
  })

  test('starts over in a new generation for only one of several callers', async () => {
    await resetPosition(service.sql, { ...partition, next_offset: 100n })
    // The subscription was to the topic that is gone.
    await database.sql`update dlq.dlq_positions set manual_below = 50`
    const starts = await Promise.all(
      [1, 2, 3].map(() => beginGeneration(service.sql, { ...partition, seen_offset: 100n, next_offset: 0n })),
    )
    const [row] = await database.sql`select generation, next_offset, manual_below from dlq.dlq_positions`

    expect(starts.filter(Boolean)).toHaveLength(1)
    expect(row).toEqual({ generation: 1, next_offset: '0', manual_below: null })
  })
})

describe('the topics', () => {
  const record = (...topics: string[]) =>
    recordTopics(service.sql, {
      cluster: 'c',
      found: topics.map((topic) => ({ topic, topic_id: null, partitions: 3 })),
    })
  const list = async () => (await listTopics(service.sql, { cluster: 'c' })).map(({ topic }) => topic)

  test('are those of the last search, in the order of their bytes', async () => {
    await record('b.dlq.v1', 'a.dlq.v1', 'B.dlq.v1')
    expect(await list()).toEqual(['B.dlq.v1', 'a.dlq.v1', 'b.dlq.v1'])
  })

  test('keep the time of their discovery and their display name when they disappear and return', async () => {
    await record('a', 'b')
    await database.sql`update dlq.dlq_topics set display_name = 'Orders', found_at = '2020-01-01T00:00:00Z' where topic = 'a'`
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
    const gone = async () => (await database.sql`select xmin::text, gone_at from dlq.dlq_topics`)[0]
    const before = await gone()
    await record()
    expect(await gone()).toEqual(before)
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
    await recordTopics(service.sql, { cluster: 'c', found: [{ topic: 'a', topic_id: null, partitions: 12 }] })
    expect(await version()).toMatchObject({ partitions: 12 })
  })

  test('whose id changed start over, each partition once under a new generation, and no other topic does', async () => {
    const place = (topic: string, partition: number) => ({ cluster: 'c', topic, partition, next_offset: 7n })
    for (const at of [place('a', 0), place('a', 1), place('b', 0)]) await resetPosition(service.sql, at)
    await database.sql`update dlq.dlq_positions set manual_below = 5, stored_below = 9, leader_epoch = 3`
    const found = (topic_id: string | null) =>
      recordTopics(service.sql, {
        cluster: 'c',
        found: [
          { topic: 'a', topic_id: topic_id, partitions: 2 },
          { topic: 'b', topic_id: 'same', partitions: 1 },
        ],
      })
    expect(await found('one')).toEqual([])
    // A broker without ids cannot tell.
    expect(await found(null)).toEqual([])
    const started = await Promise.all([found('two'), found('two'), found('two')])
    expect(started.flat().sort((a, b) => a.partition - b.partition)).toEqual([
      { topic: 'a', partition: 0, seen_offset: 7n },
      { topic: 'a', partition: 1, seen_offset: 7n },
    ])
    const rows = await database.sql`
      select topic, partition, generation, next_offset, manual_below, stored_below, leader_epoch from dlq.dlq_positions
      order by topic, partition`
    const [anew, kept] = [[null, null, null] as const, ['5', '9', 3] as const].map(
      ([manual_below, stored_below, leader_epoch]) => ({ manual_below, stored_below, leader_epoch }),
    )
    expect([...rows]).toEqual([
      { topic: 'a', partition: 0, generation: 1, next_offset: '0', ...anew },
      { topic: 'a', partition: 1, generation: 1, next_offset: '0', ...anew },
      { topic: 'b', partition: 0, generation: 0, next_offset: '7', ...kept },
    ])
    expect(await found('two')).toEqual([])
  })

  test('that were never found are no DLQ topics', async () => {
    expect(await isDlqTopic(service.sql, 'orders')).toBe(false)
  })
})
