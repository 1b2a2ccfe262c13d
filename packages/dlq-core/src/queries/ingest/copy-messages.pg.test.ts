// Compares copyMessages with the insert of the same rows, and tests what it does where PostgreSQL refuses a row: the
// driver cannot report a fault after a COPY's last byte, so no code may wait for that report.

import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type NewMessage, readDeadLetter } from '../../domain/message/new-message.ts'
import type { Header } from '../../domain/record/record.ts'
import { defaultRetryPolicy } from '../../domain/retry/retry-policy.ts'
import { copyMessages, encodeMessages, insertMessages } from './message-insert.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

// The overflow partition begins behind 2050: so months before that have no partition.
beforeAll(async () => {
  await database.sql`select dlq.create_message_partitions(0, '2050-01-01')`
})

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_messages')
})

const headers: Header[] = [
  ['kafka_dlt-original-topic', Buffer.from('orders')],
  ['kafka_dlt-original-partition', Buffer.from([0, 0, 0, 7])],
  ['kafka_dlt-original-offset', Buffer.from([0, 0, 0, 0, 0, 0, 1, 0])],
  ['kafka_dlt-original-timestamp', Buffer.from([0, 0, 1, 0x93, 0, 0, 0, 1])],
  ['kafka_dlt-exception-fqcn', Buffer.from('com.example.Ünlucky')],
  ['kafka_dlt-exception-message', Buffer.from('tab\t, "quote", back\\slash, NUL\0, 🚚')],
  ['bytes', Buffer.from([0xff, 0xfe])],
  ['none', null],
]

function message(offset: number, changes: Partial<NewMessage> = {}): NewMessage {
  const place = {
    cluster: 'c',
    topic: 'orders.dlq.v1',
    partition: 3,
    offset: BigInt(offset),
    timestamp: BigInt(Date.now()),
  }
  const record = {
    ...place,
    key: Buffer.from([0, 1, 2]),
    value: Buffer.from('{"n":12345678901234567890.12,"é":"🚚"}'),
    headers,
  }
  const settings = { policyOf: () => defaultRetryPolicy, mappings: [], dlqPatterns: [] }
  return { ...readDeadLetter(record, settings, new Date(), 0.5).message, ...changes }
}

const ids = (messages: readonly NewMessage[]) => messages.map(({ id }) => id)
const copy = (messages: readonly NewMessage[]) => service.sql.begin((sql) => copyMessages(sql, messages))
/** Tests every connection of the pool: a fault must leave all of them usable. */
const usable = () => Promise.all(Array.from({ length: 10 }, () => service.sql`select 1 as one, pg_sleep(0.02)`))
const stored = () =>
  service.sql<{ id: string; row: string }[]>`
    select id, (to_jsonb(m) - '{created_at,updated_at,first_failed_at,last_failed_at}'::text[])::text as row
    from dlq.dlq_messages m order by id`

describe('a row that is copied', () => {
  const empty = { payload: null, record_key: null, record_value: null, original_partition: null, original_offset: null }
  const unknown = { original_timestamp: null, record_timestamp: null, error_class: null, next_retry_at: null }
  const cases: [string, Partial<NewMessage>][] = [
    [
      'with everything in it',
      { group_id: '0190c1f2-0000-7000-8000-00000000000a', successor_of: '0190c1f2-0000-7000-8000-00000000000b' },
    ],
    ['with nothing but what it must have', { ...empty, ...unknown, consumer_group: null, original_topic_source: null }],
    [
      'with values of no length',
      { record_key: Buffer.alloc(0), record_value: Buffer.alloc(0), error_message: '', record_headers: '[]' },
    ],
    ['of the first year', { original_timestamp: new Date('0001-01-01T00:00:00.000Z') }],
    ['of the last year', { original_timestamp: new Date('9999-12-31T23:59:59.999Z'), original_offset: 2n ** 63n - 1n }],
  ]
  test.each(cases)('%s is the row that an insert stores', async (_, changes) => {
    const same = message(1, changes)
    await insertMessages(service.sql, [same])
    const inserted = await stored()
    await emptyTables(database.sql, 'dlq.dlq_messages')

    expect(await copy([same])).toBe(1)

    expect(await stored()).toEqual(inserted)
  })
})

test('more rows than one piece holds are stored, each once', async () => {
  const messages = Array.from({ length: 350 }, (_, offset) => message(offset))

  expect(await copy(messages)).toBe(350)

  expect((await stored()).map(({ id }) => id)).toEqual(ids(messages).toSorted())
})

describe('rows that were written as they were read', () => {
  test.each([
    [900, 0],
    [900, 1],
    [1, 900],
    [2, 3],
    [400, 500],
    [0, 5],
  ])('%i of them and %i others are stored, each once', async (early, late) => {
    const messages = Array.from({ length: early + late }, (_, offset) => message(offset))
    const encoded = encodeMessages()
    for (const one of messages.slice(0, early)) encoded.add(one)
    const copyAll = () => service.sql.begin((sql) => copyMessages(sql, messages.slice(early), { encoded }))

    // The same rows are copied again where something else of the transaction has failed.
    await expect(
      service.sql.begin(async (sql) => {
        await copyMessages(sql, messages.slice(early), { encoded })
        throw new Error('not now')
      }),
    ).rejects.toThrow('not now')
    expect(await copyAll()).toBe(early + late)

    expect((await stored()).map(({ id }) => id)).toEqual(ids(messages).toSorted())
  })
})

test('without rows no statement is sent', async () => {
  expect(await copy([])).toBe(0)
})

describe('a refusal rejects, stores nothing, and leaves the connections usable:', () => {
  const many = (changed: NewMessage, at: number) =>
    Array.from({ length: 900 }, (_, offset) => (offset === at ? changed : message(offset)))
  const twice = message(0).id
  const nul = { payload: String.raw`{"a":"\u0000"}` }
  const refusals: [string, () => NewMessage[]][] = [
    ['the only row', () => [message(0, nul)]],
    ['the first row of many', () => many(message(0, nul), 0)],
    ['the last row of many', () => many(message(899, nul), 899)],
    ['an id that occurs twice', () => [message(0, { id: twice }), message(1, { id: twice })]],
    ['a month without a partition', () => [message(0, { id: '01ffffff-ffff-7000-8000-000000000000' })]],
  ]
  test.each(refusals)('%s', async (_, messages) => {
    await expect(copy(messages())).rejects.toMatchObject({ code: expect.stringMatching(/^(22...|23...|25P02)$/) })

    expect(await stored()).toEqual([])
    await usable()
  })
})

test.each([0, 899])(
  'where row %i cannot be written, nothing is stored, and the connections stay usable',
  async (at) => {
    const broken = message(at, {
      record_headers: () => {
        throw new Error('the headers are gone')
      },
    })
    const messages = Array.from({ length: 900 }, (_, offset) => (offset === at ? broken : message(offset)))

    await expect(copy(messages)).rejects.toThrow('the headers are gone')

    expect(await stored()).toEqual([])
    await usable()
  },
)

test('an id that is stored already refuses the copy and leaves the stored row', async () => {
  const known = message(0)
  await copy([known])

  await expect(copy([message(1), known])).rejects.toMatchObject({ code: expect.stringMatching(/^(23505|25P02)$/) })

  expect((await stored()).map(({ id }) => id)).toEqual([known.id])
  await usable()
})
