// Every record is stored once: the records that are stored, those that are dropped, and rows that PostgreSQL refuses.

import { deriveMessageId } from 'dlq-core/domain/record/message-id.ts'
import type { DeadLetterRecord } from 'dlq-core/domain/record/record.ts'
import { resetPosition } from 'dlq-core/queries/ingest/positions.ts'
import { decideRoute, letMessagesGo } from 'dlq-core/queries/routes/routes.ts'
import { archiveMessages } from 'dlq-core/queries/upkeep/archive.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import type { StoreOutcome } from './store-batch.ts'
import { batchOf, partition, recordAt, storeBatch, storeDeps } from './test-batch.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

beforeEach(async () => {
  await emptyTables(
    database.sql,
    'dlq.dlq_attempts',
    'dlq.dlq_positions',
    'dlq.dlq_messages',
    'dlq.dlq_messages_archive',
  )
})

const store = (records: readonly DeadLetterRecord[], more = {}, options = {}) =>
  storeBatch(storeDeps(service.sql), batchOf(records, more), options)

const stored = (counts: Partial<StoreOutcome> = {}) => ({
  kind: 'stored',
  stored: 0,
  reopened: 0,
  dropped: 0,
  early: expect.any(Number),
  reduced: 0,
  bytes: expect.any(Number),
  messages: expect.any(Array),
  ...counts,
})
const records = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => recordAt(from + n, { timestamp: 1_795_268_108_781n }))
const read = (record: DeadLetterRecord) => readMessageRow(database.sql, deriveMessageId(record))

async function offsetsStored(): Promise<number[]> {
  const rows = await database.sql<{ dlq_offset: string }[]>`select dlq_offset from dlq.dlq_messages order by dlq_offset`
  return rows.map(({ dlq_offset }) => Number(dlq_offset))
}

async function position(): Promise<number | undefined> {
  const [row] = await database.sql`select next_offset from dlq.dlq_positions`
  return row && Number(row.next_offset)
}

describe('a batch', () => {
  test('becomes one row per record, with the record’s values', async () => {
    const record = recordAt(0, {
      timestamp: 1_771_583_400_123n,
      key: Buffer.from('k'),
      headers: {
        'dlq-original-partition': '3',
        'dlq-original-offset': '9007199254740993',
        'dlq-original-timestamp': '1771583400000',
        'dlq-consumer-group': 'shop',
        'dlq-error-stacktrace': 'OutOfStock: no stock\n    at take (shop.js:1:2)',
      },
    })
    expect(await store([record])).toEqual(stored({ stored: 1 }))
    expect(await read(record)).toMatchObject({
      original_topic: 'orders.events.v1',
      error_message: 'no stock 0',
      retry_count: 0,
      max_retries: 3,
      payload: { order_id: '1' },
      status: 'PENDING',
      dlq_cluster: 'c',
      dlq_topic: 'orders.dlq.v1',
      dlq_partition: 0,
      dlq_offset: '0',
      original_partition: 3,
      original_offset: '9007199254740993',
      original_timestamp: new Date(1_771_583_400_000),
      original_topic_source: 'header',
      consumer_group: 'shop',
      record_key: Buffer.from('k'),
      record_value: Buffer.from('{"order_id":"1"}'),
      record_timestamp: new Date(1_771_583_400_123),
      error_class: 'OutOfStock',
      error_stacktrace: 'OutOfStock: no stock\n    at take (shop.js:1:2)',
      group_id: expect.any(String),
      next_retry_at: expect.any(Date),
      failure_count: 1,
    })
    expect(await position()).toBe(1)
  })

  test('whose policy scrubs is stored without what was found, in one group with its like, and says so', async () => {
    const deps = storeDeps(service.sql)
    const scrub = ['email']
    const policyOf = () => ({ ...deps.settings.policyOf({ original_topic: '', dlq_topic: null }), scrub })
    const scrubbing = { ...deps, settings: { ...deps.settings, policyOf } }
    const letters = ['ann@example.com', 'bob@example.org'].map((address, offset) =>
      recordAt(offset, { headers: { 'dlq-error-message': `no account of ${address} here` } }),
    )
    await storeBatch(scrubbing, batchOf(letters), {})
    const [first, second] = [await read(letters[0]!), await read(letters[1]!)]
    expect(first).toMatchObject({ error_message: 'no account of ••• here', is_scrubbed: true })
    expect(second!.group_id).toBe(first!.group_id)
    const [held] = await database.sql`
      select count(*)::int as n from dlq.dlq_messages m where to_json(m)::text like '%@example.%'`
    expect(held).toEqual({ n: 0 })
    const [group] = await database.sql`select title, message from dlq.dlq_groups where id = ${first!.group_id}`
    expect(JSON.stringify(group)).not.toContain('@example')
  })

  test('given twice is stored once', async () => {
    expect(await store(records(0, 5))).toEqual(stored({ stored: 5 }))
    expect(await store(records(0, 5))).toEqual(stored({ dropped: 5 }))
    expect(await offsetsStored()).toEqual([0, 1, 2, 3, 4])
  })

  test('read again after its position was reset is stored once, and deleted messages are stored again', async () => {
    const again = records(0, 7)
    await store(again.slice(0, 5))
    await database.sql`delete from dlq.dlq_messages where dlq_offset = 2`
    await database.sql`update dlq.dlq_messages set status = 'RESOLVED', next_retry_at = null where dlq_offset = 3`
    const archived = await database.sql`select id from dlq.dlq_messages where status = 'RESOLVED'`
    await archiveMessages(service.sql, { ids: archived.map(({ id }) => id), now: new Date() })
    await resetPosition(service.sql, { ...partition, next_offset: 0n })
    await resetPosition(service.sql, { ...partition, next_offset: 1n })

    expect(await store(again.slice(1))).toMatchObject({ stored: 3, dropped: 3, messages: { length: 3 } })
    expect(await offsetsStored()).toEqual([0, 1, 2, 4, 5, 6])
  })

  test('read again after its position was reset is not stored where all of it is archived', async () => {
    await store(records(0, 5))
    await database.sql`update dlq.dlq_messages set status = 'RESOLVED', next_retry_at = null`
    const ids = await database.sql<{ id: string }[]>`select id from dlq.dlq_messages`
    await archiveMessages(service.sql, { ids: ids.map(({ id }) => id), now: new Date() })
    await resetPosition(service.sql, { ...partition, next_offset: 0n })

    expect(await store(records(0, 5))).toMatchObject({ stored: 0, dropped: 5 })
    expect(await offsetsStored()).toEqual([])
  })

  test('that begins below the position is stored from the position on', async () => {
    await store(records(0, 5))
    expect(await store(records(3, 8))).toEqual(stored({ stored: 3, dropped: 2 }))
    expect([await offsetsStored(), await position()]).toEqual([[0, 1, 2, 3, 4, 5, 6, 7], 8])
  })

  test('that lies below the position as a whole does not move it back, and stores no deleted message again', async () => {
    await store(records(0, 5))
    await database.sql`delete from dlq.dlq_messages`
    expect(await store(records(1, 3))).toEqual(stored({ dropped: 2 }))
    expect([await offsetsStored(), await position()]).toEqual([[], 5])
  })

  test('moves the position over missing offsets: control records and compacted ones', async () => {
    const [first, , third] = records(0, 3)
    expect(await store([first!, third!], { nextOffset: 9n })).toEqual(stored({ stored: 2 }))
    expect(await position()).toBe(9)
    expect(await store([], { fetchedOffset: 9n, nextOffset: 12n })).toEqual(stored())
    expect(await position()).toBe(12)
  })

  test('with a hole before it is reported and not stored', async () => {
    await store(records(0, 5))
    expect(await store(records(8, 10))).toEqual({ kind: 'hole', expectedOffset: 5n })
    expect([await offsetsStored(), await position()]).toEqual([[0, 1, 2, 3, 4], 5])
  })

  test('after records that retention has deleted is stored', async () => {
    await store(records(0, 5))
    expect(await store(records(8, 10), {}, { lowOffset: 7n })).toEqual({ kind: 'hole', expectedOffset: 7n })
    expect(await store(records(8, 10), {}, { lowOffset: 8n })).toEqual(stored({ stored: 2 }))
    expect(await position()).toBe(10)
  })

  test('of a log that ends before the position shows that the topic was created again', async () => {
    await store(records(0, 5))
    expect(await store(records(0, 4), { highWatermark: 4n })).toEqual({
      ...{ kind: 'recreated', seenOffset: 5n, epoch: null },
    })
    expect([await offsetsStored(), await position()]).toEqual([[0, 1, 2, 3, 4], 5])
    expect(await store([], { fetchedOffset: 5n, nextOffset: 5n, highWatermark: 5n })).toEqual(stored())
  })

  test('of another leader is stored once somebody has looked whether it has cut the log', async () => {
    await store(records(0, 5), { lastEpoch: 3 })
    expect(await store(records(5, 7), { lastEpoch: 4 })).toEqual({ kind: 'another-leader', seenOffset: 5n, epoch: 3 })
    // Also one whose records are all below the position: they may be others than those that were read there.
    expect(await store(records(2, 4), { lastEpoch: 4 })).toMatchObject({ kind: 'another-leader' })
    expect(await position()).toBe(5)
    expect(await store(records(5, 7), { lastEpoch: 4 }, { isUncut: true })).toEqual(stored({ stored: 2 }))
    expect(await store(records(7, 8), { lastEpoch: 4 })).toEqual(stored({ stored: 1 }))
    // An old batch, which was fetched before that.
    expect(await store(records(5, 7), { lastEpoch: 3 })).toEqual(stored({ dropped: 2 }))
    // Nothing but markers of transactions says no epoch.
    expect(await store([], { fetchedOffset: 8n, nextOffset: 9n })).toEqual(stored())
    expect(await store(records(9, 10), { lastEpoch: 7 })).toEqual(stored({ stored: 1 }))
  })

  test('that several ingesters store at once is stored once', async () => {
    const outcomes = await Promise.all([1, 2, 3, 4].map(() => store(records(0, 300))))
    expect(outcomes.filter((outcome) => outcome.kind === 'stored' && outcome.stored === 300)).toHaveLength(1)
    expect(outcomes.filter((outcome) => outcome.kind === 'stored' && outcome.dropped === 300)).toHaveLength(3)
    expect(await offsetsStored()).toHaveLength(300)
  })

  test('of more rows than one statement takes is stored completely', async () => {
    expect(await store(records(0, 1234))).toEqual(stored({ stored: 1234 }))
    expect(await offsetsStored()).toHaveLength(1234)
  })

  test('leaves no trace where storing fails', async () => {
    await store(records(0, 2))
    await database.sql`alter table dlq.dlq_messages add constraint temporary check (dlq_offset <> 4) not valid`
    try {
      await expect(store(records(2, 6))).rejects.toThrow(/temporary/)
      expect([await offsetsStored(), await position()]).toEqual([[0, 1], 2])
    } finally {
      await database.sql`alter table dlq.dlq_messages drop constraint temporary`
    }
    expect(await store(records(2, 6))).toEqual(stored({ stored: 4 }))
  })
})

describe('a row that PostgreSQL refuses', () => {
  test('is stored in a reduced form that says so, and the others as they are', async () => {
    // No record is known that PostgreSQL would still refuse. This represents the unknown ones.
    await database.sql`
      create function refuse_payload() returns trigger language plpgsql as $$
      begin
        if new.payload ? 'refused' then raise exception 'this jsonb is too much' using errcode = '54000'; end if;
        return new;
      end $$`
    await database.sql`create trigger refuse before insert on dlq.dlq_messages for each row execute function refuse_payload()`
    const batch = records(0, 20)
    const refused = recordAt(7, {
      key: Buffer.from([1]),
      value: '{"refused":1}',
      headers: { 'dlq-consumer-group': 'shop' },
    })
    batch[7] = refused
    try {
      expect(await store(batch)).toEqual(stored({ stored: 20, reduced: 1 }))
    } finally {
      await database.sql`drop function refuse_payload cascade`
    }

    const row = await read(refused)
    expect(row).toMatchObject({
      original_topic: 'orders.events.v1',
      error_message: expect.stringMatching(/^stored without .*: this jsonb is too much$/),
      payload: null,
      record_key: Buffer.from([1]),
      record_value: Buffer.from('{"refused":1}'),
      next_retry_at: null,
    })
    expect(row.record_headers).toContainEqual(['dlq-error-message', 'no stock 7'])
    expect(await read(batch[8]!)).toMatchObject({ payload: { order_id: '1' }, error_message: 'no stock 8' })
    expect(await position()).toBe(20)
  })

  test('is stored where the configured mapping names a topic that none can have', async () => {
    const settings = { ...storeDeps(service.sql).settings, mappings: [{ dlq: '*.dlq.v1', original: 'x'.repeat(300) }] }
    const record = recordAt(0, { headers: { 'dlq-original-topic': '' } })
    expect(await storeBatch(storeDeps(service.sql, { settings }), batchOf([record]))).toMatchObject({
      kind: 'stored',
      stored: 1,
    })
    expect(await read(record)).toMatchObject({ record_value: record.value, next_retry_at: null })
  })
})

describe('a record of any time', () => {
  const at = (time: string) => BigInt(Date.parse(time))

  test.each([
    ['of the year 2039', at('2039-05-06T07:08:09.010Z'), new Date('2039-05-06T07:08:09.010Z')],
    ['of the year 2100', at('2100-01-01'), new Date('2100-01-01T00:00:00Z')],
    ['of the year 9999', at('9999-12-31T23:59:59.999Z'), new Date('9999-12-31T23:59:59.999Z')],
    ['beyond the year 9999', 2n ** 48n, null],
    ['of the greatest number', 2n ** 63n - 1n, null],
    ['of the smallest number', -(2n ** 63n), null],
    ['without a time', -1n, null],
    ['of the epoch', 0n, new Date(0)],
    ['before the epoch', -86_400_000n, new Date('1969-12-31T00:00:00Z')],
  ])('%s is stored', async (_, timestamp, expected) => {
    const record = recordAt(0, { timestamp })
    expect(await store([record])).toEqual(stored({ stored: 1 }))
    expect((await read(record)).record_timestamp).toEqual(expected)
  })

  test('is stored beside others of months that have no partition yet, or need none', async () => {
    const times = [
      at('2045-03-01'),
      -1n,
      at('9999-01-01'),
      at('2045-04-01'),
      at('2046-01-31T23:59:59.999Z'),
      2n ** 60n,
      at('2001-01-01'),
    ]
    expect(await store(times.map((timestamp, n) => recordAt(n, { timestamp })))).toEqual(
      stored({ stored: times.length }),
    )
  })

  test('is stored where the batch holds the last moment of one missing month and the first of the next', async () => {
    // Every month of two years, so that no unit of time contains both, wherever it begins.
    const times = Array.from({ length: 24 }, (_, month) => Date.UTC(2050, month, 1)).flatMap((first) => [
      first - 1,
      first,
    ])
    expect(await store(times.map((time, n) => recordAt(n, { timestamp: BigInt(time) })))).toEqual(
      stored({ stored: 48 }),
    )
  })
})

describe('the bytes of a record', () => {
  test.each([
    ['no value', null, null],
    ['an empty value', '', null],
    ['JSON', '{"a":1.10}', { a: 1.1 }],
    ['JSON that jsonb cannot hold', '"\\u0000"', null],
    ['text that is no JSON', 'hello', null],
    ['bytes that are no text', Buffer.from([0, 255, 0, 254]), null],
    ['a NUL', Buffer.from([0]), null],
  ])('with %s are kept', async (_, value, payload) => {
    const record = recordAt(0, {
      value,
      key: value === null ? null : Buffer.from(value),
      headers: { 'x-raw': Buffer.from([0, 255]), 'x-null': null, '': '' },
    })
    await store([record])
    const row = await read(record)
    expect(row).toMatchObject({ record_value: record.value, record_key: record.key, payload })
    expect(row.record_headers).toEqual(
      expect.arrayContaining([
        ['x-raw', { base64: 'AP8=' }],
        ['x-null', null],
        ['', ''],
      ]),
    )
  })
})

describe('records from before the subscription of their topic', () => {
  const next = async (record: DeadLetterRecord) => (await read(record)).next_retry_at

  test('are stored without a time for their retry, and those after it with one', async () => {
    await store([])
    await database.sql`update dlq.dlq_positions set manual_below = 2`
    const all = records(0, 4)
    await store(all)
    expect(await Promise.all(all.map(next))).toEqual([null, null, expect.any(Date), expect.any(Date)])
  })

  test('get none when their route is approved either', async () => {
    await store([])
    await database.sql`update dlq.dlq_positions set manual_below = 2`
    const [old, fresh] = [recordAt(1), recordAt(2)]
    await store([recordAt(0), old!, fresh!])
    const route = { dlq_topic: partition.topic, original_topic: 'orders.events.v1', state: 'approved' as const }
    await decideRoute(service.sql, { ...route, actor: 'ann', reason: null })
    await database.sql`update dlq.dlq_messages set held_by_route = true, next_retry_at = null`
    await letMessagesGo(service.sql, {
      ...{ route, status: 'PENDING', afterId: '00000000-0000-0000-0000-000000000000', limit: 10 },
      nextRetryAt: new Date(),
    })
    expect([await next(old!), await next(fresh!)]).toEqual([null, expect.any(Date)])
  })
})
