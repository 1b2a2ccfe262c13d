// Values that are not JSON, from the record to the row: decoded where the schema is known, waiting where it is not.

import { deriveMessageId } from 'dlq-core/domain/record/message-id.ts'
import type { DeadLetterRecord } from 'dlq-core/domain/record/record.ts'
import { defaultRetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { createPayloadReader } from 'dlq-core/runtime/schemas/payload-reader.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { orderBytes, orderSchema } from 'dlq-testing/schemas/avro-orders.ts'
import { schemasSection } from 'dlq-testing/schemas/schemas-section.ts'
import { beforeEach, expect, test } from 'vitest'
import { batchOf, recordAt, storeBatch, storeDeps } from '../store/test-batch.ts'
import { createDecoder } from './decode-letters.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

beforeEach(() =>
  emptyTables(database.sql, 'dlq.dlq_positions', 'dlq.dlq_messages', 'dlq.dlq_messages_archive', 'dlq.dlq_schemas'),
)

const schemas = schemasSection({ rules: [{ topics: 'secrets', value: { format: 'none' } }] })

async function store(records: readonly DeadLetterRecord[], payload: 'stored' | 'derived' = 'stored') {
  const policyOf = () => ({ ...defaultRetryPolicy, payload })
  const reader = createPayloadReader({ sql: service.sql, schemas, now: Date.now })
  const settings = { policyOf, mappings: [], dlqPatterns: ['*.dlq.v1'] }
  const deps = storeDeps(service.sql, {
    settings,
    decoder: createDecoder({ reader, policyOf }),
  })
  return storeBatch(deps, batchOf(records))
}

const rowOf = (record: DeadLetterRecord) => readMessageRow(database.sql, deriveMessageId(record))
const known = (id: string) => database.sql`
  insert into dlq.dlq_schemas (registry, id_kind, schema_id, state, type, name, definition)
  values ('main', 'id', ${id}, 'known', 'avro', 'com.example.Order', ${orderSchema}) returning id`

test('a value whose schema is known is stored decoded, and found by what it holds', async () => {
  const [schema] = await known('5')
  const record = recordAt(0, { value: orderBytes(5, 'order-1', 42) })
  await store([record, recordAt(1), recordAt(2, { value: Buffer.from('text') })])
  expect(await rowOf(record)).toMatchObject({
    payload: { id: 'order-1', cents: 42, note: null },
    record_value: record.value,
    value_schema: schema!.id,
    decode_state: 1,
  })
  const plain =
    await database.sql`select payload, value_schema, decode_state from dlq.dlq_messages where dlq_offset > 0 order by dlq_offset`
  expect([...plain]).toEqual([
    { payload: { order_id: '1' }, value_schema: null, decode_state: null },
    { payload: null, value_schema: null, decode_state: null },
  ])
  const found = await database.sql`select dlq_offset from dlq.dlq_messages where payload @> '{"cents": 42}'`
  expect([...found]).toEqual([{ dlq_offset: '0' }])
})

test('a value whose schema is not known is stored with its bytes, and waits; nothing asks a registry', async () => {
  const record = recordAt(0, { value: orderBytes(6, 'order-1', 42) })
  expect(await store([record])).toMatchObject({ kind: 'stored', stored: 1, reduced: 0 })
  const [schema] = await database.sql`select id, registry, id_kind, schema_id, state, tries from dlq.dlq_schemas`
  expect(schema).toMatchObject({ registry: 'main', id_kind: 'id', schema_id: '6', state: 'wanted', tries: 0 })
  expect(await rowOf(record)).toMatchObject({
    ...{ payload: null, record_value: record.value, value_schema: schema!.id, decode_state: 2, status: 'PENDING' },
  })
})

test('a schema that a header of a key names is noted, once and also where somebody has asked for it', async () => {
  const guid = (last: string) => `0b0b0b0b-0b0b-0b0b-0b0b-0b0b0b0b0b${last}`
  const headersOf = (last: string) => ({
    __key_schema_id: Buffer.from(`01${guid(last).replaceAll('-', '')}`, 'hex'),
  })
  await database.sql`insert into dlq.dlq_schemas (registry, id_kind, schema_id) values ('main', 'guid', ${guid('01')})`
  await store([recordAt(0, { headers: headersOf('01') }), recordAt(1, { headers: headersOf('02') }), recordAt(2)])
  const rows = await database.sql`select schema_id, state, is_of_keys from dlq.dlq_schemas order by schema_id`
  expect([...rows]).toEqual(['01', '02'].map((last) => ({ schema_id: guid(last), state: 'wanted', is_of_keys: true })))
})

test('a value that does not fit its schema is stored with its bytes, and does not wait', async () => {
  await known('5')
  const record = recordAt(0, { value: Buffer.concat([orderBytes(5, 'order-1', 42), Buffer.from('x')]) })
  await store([record])
  expect(await rowOf(record)).toMatchObject({ payload: null, record_value: record.value, decode_state: 3 })
})

test('a decoded value that jsonb cannot hold stays decoded for the API, without a payload', async () => {
  await known('5')
  const record = recordAt(0, { value: orderBytes(5, 'a\0b', 1) })
  await store([record])
  expect(await rowOf(record)).toMatchObject({ payload: null, decode_state: 1 })
})

test('a topic whose policy derives payloads, and one whose rule says none, are left alone', async () => {
  await known('5')
  const derived = recordAt(0, { value: orderBytes(5, 'order-1', 42) })
  await store([derived], 'derived')
  expect(await rowOf(derived)).toMatchObject({ payload: null, value_schema: null, decode_state: null })
  const secret = recordAt(1, { headers: { 'dlq-original-topic': 'secrets' } })
  await store([secret])
  expect(await rowOf(secret)).toMatchObject({ payload: null, decode_state: null })
})

test('the archive keeps what was decoded, and gives it back', async () => {
  const [schema] = await known('5')
  const record = recordAt(0, { value: orderBytes(5, 'order-1', 42) })
  await store([record])
  const id = deriveMessageId(record)
  await database.sql`update dlq.dlq_messages set status = 'DEAD'`
  await database.sql`select dlq.archive_messages(array[${id}::uuid])`
  const [archived] = await database.sql`select value_schema, decode_state from dlq.dlq_messages_archive`
  expect(archived).toEqual({ value_schema: schema!.id, decode_state: 1 })
  await database.sql`select dlq.restore_messages(array[${id}::uuid])`
  expect(await rowOf(record)).toMatchObject({ value_schema: schema!.id, decode_state: 1 })
})
