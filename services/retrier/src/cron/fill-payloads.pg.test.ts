// Payloads that were not stored while a backlog was worked off.

import { setTimeout as sleep } from 'node:timers/promises'
import { defaultRetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { hasDeferredPayloads } from 'dlq-core/queries/upkeep/deferred-payloads.ts'
import { createPayloadReader } from 'dlq-core/runtime/schemas/payload-reader.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { orderBytes, orderSchema } from 'dlq-testing/schemas/avro-orders.ts'
import { schemasSection } from 'dlq-testing/schemas/schemas-section.ts'
import { beforeEach, expect, test } from 'vitest'
import { createDecoder } from '../../../ingester/src/decode/decode-letters.ts'
import { storeBatch } from '../../../ingester/src/store/store-batch.ts'
import { batchOf, recordAt, storeDeps } from '../../../ingester/src/store/test-batch.ts'
import { fillPayloads } from './fill-payloads.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

const big = '{"n":12345678901234567890.12}'

const firstTimestamp = BigInt(Date.now())

/** Stores records, each a millisecond after the one before, of which `behind` more wait. */
async function store(values: readonly (string | null)[], { behind = 5000n, payload = 'auto' as const } = {}) {
  const deps = storeDeps(service.sql)
  const records = values.map((value, offset) => recordAt(offset, { value, timestamp: firstTimestamp + BigInt(offset) }))
  await storeBatch(
    { ...deps, settings: { ...deps.settings, policyOf: () => ({ ...defaultRetryPolicy, payload }) } },
    batchOf(records, { highWatermark: BigInt(values.length) + behind }),
  )
}

const fill = (payload: 'auto' | 'derived' = 'auto') =>
  fillPayloads(
    { sql: service.sql, reader: null, policyOf: () => ({ ...defaultRetryPolicy, payload }), quietMs: 0 },
    new AbortController().signal,
  )

const read = () =>
  database.sql<{ payload: string | null; updated_at: string }[]>`
    select payload::text, updated_at::text from dlq.dlq_messages order by dlq_offset`
const payloads = async () => (await read()).map(({ payload }) => payload)

beforeEach(() =>
  emptyTables(
    database.sql,
    ...(['dlq.dlq_positions', 'dlq.dlq_messages', 'dlq.dlq_deferred_payloads', 'dlq.dlq_schemas'] as const),
  ),
)

test('while more than 500 records wait, payloads are stored afterwards, exactly, and nobody sees a change', async () => {
  await store([big, 'no json', null, '{"a":1}'])
  const before = await read()
  expect(await payloads()).toEqual([null, null, null, null])
  expect(await hasDeferredPayloads(service.sql)).toBe(true)

  expect(await fill()).toBe(2)
  expect(await payloads()).toEqual(['{"n": 12345678901234567890.12}', null, null, '{"a": 1}'])
  expect((await read()).map(({ updated_at }) => updated_at)).toEqual(before.map(({ updated_at }) => updated_at))
  expect(await hasDeferredPayloads(service.sql)).toBe(false)
})

test('what is older than what waits already is stored too, as after a position was set back', async () => {
  await store([big, '{"a":1}'])
  await database.sql`
    update dlq.dlq_deferred_payloads set from_id = (select max(id::text)::uuid from dlq.dlq_messages)`
  await database.sql`
    with gone as (delete from dlq.dlq_messages where dlq_offset = 0)
    update dlq.dlq_positions set next_offset = 0`
  await store([big])
  expect(await fill()).toBe(2)
  expect(await payloads()).not.toContain(null)
})

test('without a backlog they are stored at once', async () => {
  await store([big], { behind: 500n })
  expect(await payloads()).toEqual(['{"n": 12345678901234567890.12}'])
  expect(await hasDeferredPayloads(service.sql)).toBe(false)
})

test('with schemas, what has to be decoded waits as JSON does; what nobody can read yet waits for its schema', async () => {
  const [schema] = await database.sql`
    insert into dlq.dlq_schemas (registry, id_kind, schema_id, state, type, definition)
    values ('main', 'id', '5', 'known', 'avro', ${orderSchema}) returning id`
  const policyOf = () => ({ ...defaultRetryPolicy, payload: 'auto' as const })
  const reader = createPayloadReader({ sql: service.sql, schemas: schemasSection(), now: Date.now })
  const deps = storeDeps(service.sql, {
    decoder: createDecoder({ reader, policyOf }),
  })
  const values = [big, orderBytes(5, 'order-1', 42), orderBytes(6, 'order-2', 1), Buffer.from('text')]
  const records = values.map((value, offset) => recordAt(offset, { value }))
  const settings = { ...deps.settings, policyOf }
  await storeBatch({ ...deps, settings }, batchOf(records, { highWatermark: 5000n }))
  const readDecoded = () => database.sql`
    select payload::text, value_schema, decode_state, updated_at::text from dlq.dlq_messages order by dlq_offset`
  const before = await readDecoded()
  expect(before.map(({ payload, decode_state }) => [payload, decode_state])).toEqual(values.map(() => [null, null]))

  expect(await fillPayloads({ sql: service.sql, reader, policyOf, quietMs: 0 }, new AbortController().signal)).toBe(2)
  const after = await readDecoded()
  expect(after.map(({ payload, value_schema, decode_state }) => [payload, value_schema, decode_state])).toEqual([
    ['{"n": 12345678901234567890.12}', null, null],
    ['{"id": "order-1", "note": null, "cents": 42}', schema!.id, 1],
    [null, expect.any(Number), 2],
    [null, null, null],
  ])
  const times = (rows: typeof after) => rows.filter(({ payload }) => payload !== null).map((row) => row.updated_at)
  expect(times(after)).toEqual(before.slice(0, 2).map(({ updated_at }) => updated_at))
})

test('of more messages than one transaction looks at, all get theirs', async () => {
  await store(Array.from({ length: 1203 }, (_, n) => `{"n":${n}}`))
  expect(await fill()).toBe(1203)
  expect((await payloads()).every((payload) => payload !== null)).toBe(true)
})

test('while something is sent, nine tenths of the time are left to that', async () => {
  await store(Array.from({ length: 1500 }, (_, n) => `{"n":${n}}`))
  await database.sql`insert into dlq.dlq_slots (slot, owner) values (1, 'r')`
  let isSending = true
  const sending = (async () => {
    for (; isSending; await sleep(5)) await database.sql`update dlq.dlq_slots set batch = batch + 1`
  })()
  const time = async () => {
    const began = performance.now()
    expect(await fill()).toBe(1500)
    return performance.now() - began
  }
  const beside = await time()
  isSending = false
  await sending
  await database.sql`update dlq.dlq_messages set payload = null`
  await database.sql`
    insert into dlq.dlq_deferred_payloads (cluster, topic, partition, from_id, until_id)
    select '', 'orders.dlq.v1', 0, min(id::text)::uuid, max(id::text)::uuid from dlq.dlq_messages`
  expect(beside).toBeGreaterThan(3 * (await time()))
})

test('a policy that says "derived" by now keeps them away', async () => {
  await store([big])
  expect(await fill('derived')).toBe(0)
  expect(await payloads()).toEqual([null])
})

test('a backlog that is still worked off waits', async () => {
  await store([big])
  const policyOf = () => defaultRetryPolicy
  expect(await fillPayloads({ sql: service.sql, reader: null, policyOf }, new AbortController().signal)).toBe(0)
  expect(await payloads()).toEqual([null])
})

test('a change of anything else moves updated_at', async () => {
  await store([big])
  const [before] = await read()
  await database.sql`update dlq.dlq_messages set payload = '1', status = 'DEAD', next_retry_at = null`
  expect((await read())[0]!.updated_at).not.toBe(before!.updated_at)
})
