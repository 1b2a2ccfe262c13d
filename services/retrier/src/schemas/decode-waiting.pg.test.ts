// The job that decodes what was stored before its schema was known.

import { defaultRetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { createPayloadReader } from 'dlq-core/runtime/schemas/payload-reader.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { orderBytes, orderSchema } from 'dlq-testing/schemas/avro-orders.ts'
import { schemasSection } from 'dlq-testing/schemas/schemas-section.ts'
import { beforeEach, expect, test } from 'vitest'
import { decodeWaiting } from './decode-waiting.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
beforeEach(() => emptyTables(database.sql, 'dlq.dlq_messages', 'dlq.dlq_schemas'))

const schemas = schemasSection()
const decode = (signal = new AbortController().signal) => {
  const reader = createPayloadReader({ sql: service.sql, schemas, now: Date.now })
  return decodeWaiting({ sql: service.sql, reader, policyOf: () => defaultRetryPolicy }, signal)
}

async function want(id: number): Promise<number> {
  const [row] = await database.sql`
    insert into dlq.dlq_schemas (registry, id_kind, schema_id) values ('main', 'id', ${String(id)}) returning id`
  return row!.id
}
const makeKnown = (number: number) =>
  database.sql`update dlq.dlq_schemas set state = 'known', type = 'avro', definition = ${orderSchema} where id = ${number}`

const waiting = (value_schema: number, record_value: Buffer, more = {}) =>
  insertMessageRow(database.sql, {
    ...{ dlq_topic: 'orders.dlq.v1', record_value, record_headers: [], value_schema, decode_state: 2, ...more },
  })

test('values get their payload once the schema has come, whatever became of their messages', async () => {
  const schema = await want(5)
  const ids: string[] = []
  for (let n = 0; n < 60; n += 1) ids.push(await waiting(schema, orderBytes(5, `order-${n}`, n)))
  const resolved = await waiting(schema, orderBytes(5, 'resolved', 1), { status: 'RESOLVED' })
  const other = await waiting(await want(6), orderBytes(6, 'other', 1))
  expect(await decode()).toEqual({ decoded: 0 })

  await makeKnown(schema)
  expect(await decode()).toEqual({ decoded: 61 })
  expect(await readMessageRow(database.sql, ids[59]!)).toMatchObject({
    payload: { id: 'order-59', cents: 59, note: null },
    ...{ value_schema: schema, decode_state: 1, record_value: orderBytes(5, 'order-59', 59), status: 'PENDING' },
  })
  expect(await readMessageRow(database.sql, resolved)).toMatchObject({
    payload: { id: 'resolved' },
    status: 'RESOLVED',
  })
  expect(await readMessageRow(database.sql, other)).toMatchObject({ payload: null, decode_state: 2 })
  expect(await decode()).toEqual({ decoded: 0 })
})

test('a value that does not fit, or is too large, waits no longer', async () => {
  const schema = await want(5)
  const misfit = await waiting(schema, orderBytes(5, 'x', 1).subarray(0, 6))
  const large = await waiting(schema, Buffer.concat([orderBytes(5, 'x', 1), Buffer.alloc(300_000)]))
  await makeKnown(schema)
  expect(await decode()).toEqual({ decoded: 2 })
  expect(await readMessageRow(database.sql, misfit)).toMatchObject({
    payload: null,
    decode_state: 3,
    value_schema: schema,
  })
  expect(await readMessageRow(database.sql, large)).toMatchObject({ payload: null, decode_state: null })
  expect(await decode()).toEqual({ decoded: 0 })
})

test('a message that somebody else has locked is left for the next time', async () => {
  const schema = await want(5)
  const id = await waiting(schema, orderBytes(5, 'x', 1))
  await makeKnown(schema)
  await database.sql.begin(async (sql) => {
    await sql`select from dlq.dlq_messages where id = ${id} for update`
    expect(await decode()).toEqual({ decoded: 0 })
  })
  expect(await decode()).toEqual({ decoded: 1 })
})
