// Record keys that are given as JSON: in the filter of a list, and in the selection of a run that erases.

import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { avroFingerprint } from 'dlq-core/domain/payload/avro/avro-fingerprint.ts'
import { parseAvroSchema } from 'dlq-core/domain/payload/avro/avro-schema.ts'
import { encodeHeaders } from 'dlq-core/domain/record/header-json.ts'
import { createPayloadReader, type PayloadReader } from 'dlq-core/runtime/schemas/payload-reader.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { orderBytes, orderSchema } from 'dlq-testing/schemas/avro-orders.ts'
import { schemasSection } from 'dlq-testing/schemas/schemas-section.ts'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { answerOf, createTestApp } from '../test-app.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const schemas = schemasSection()
const reader = () => createPayloadReader({ sql: service.sql, schemas, now: Date.now })
const avro = orderBytes(5, 'order-1', 42)

beforeEach(() => emptyTables(database.sql, 'dlq.dlq_messages', 'dlq.dlq_schemas', 'dlq.dlq_audit'))

const request = (methodAndPath: string, init?: RequestInit, payloads: PayloadReader | null = reader()) =>
  createTestApp(service.sql, { payloads })(methodAndPath, init)

const knownSchema = (id: number) => database.sql`
  insert into dlq.dlq_schemas (registry, id_kind, schema_id, state, type, name, definition)
  values ('main', 'id', ${String(id)}, 'known', 'avro', 'com.example.Order', ${orderSchema})`

const insert = (record_value: Buffer, more = {}) =>
  insertMessageRow(database.sql, { dlq_topic: 'orders.dlq.v1', record_value, record_headers: [], ...more })

describe('a key given as JSON', () => {
  const listed = async (query: string, payloads: PayloadReader | null = reader()) => {
    const { status, body } = await answerOf(request(`GET /api/v1/messages?${query}`, {}, payloads))
    return status === 200 ? (body as { messages: { id: string }[] }).messages.map(({ id }) => id).sort() : body
  }
  const asJson = (key: unknown) => `key=${encodeURIComponent(`{"json":${JSON.stringify(key)}}`)}`
  const key = { id: 'order-1', cents: 42, note: null }

  test('finds what the schemas of keys make of it, and the JSON itself', async () => {
    await knownSchema(5)
    await knownSchema(6)
    const found = [
      await insert(avro, { record_key: orderBytes(5, 'order-1', 42) }),
      await insert(avro, { record_key: orderBytes(6, 'order-1', 42) }),
      await insert(avro, { record_key: Buffer.from(JSON.stringify(key)) }),
    ].sort()
    await insert(avro, { record_key: orderBytes(6, 'order-2', 42) })
    // A frame whose schema nobody knows, a text, and a key that is only a zero.
    for (const other of [orderBytes(9, 'order-1', 42), Buffer.from('order-1'), Buffer.from([0])])
      await insert(avro, { record_key: other })
    expect(await listed(asJson(key))).toEqual(found)
    expect(await listed(asJson({ id: 'order-1' }))).toEqual([])
    // Where only JSON is read, a key is its text.
    expect(await listed(asJson(key), null)).toEqual(
      await listed(`key=${encodeURIComponent(JSON.stringify(key))}`, null),
    )
    expect(await listed(asJson(key), null)).toHaveLength(1)
  })

  const guid = '6bd5a1c2-0001-4f00-8000-0123456789ab'
  const int64 = (value: number) => Buffer.concat([Buffer.alloc(7), Buffer.from([value])])
  const bare = orderBytes(5, 'order-1', 42).subarray(5)
  test.each([
    ['Confluent', 'confluent', 'guid', guid, '__key_schema_id', Buffer.from(`01${guid.replaceAll('-', '')}`, 'hex')],
    ['Apicurio, by global id', 'apicurio', 'global', '9', 'apicurio.key.globalId', int64(9)],
    ['Apicurio, by content id', 'apicurio', 'content', '8', 'apicurio.key.contentId', int64(8)],
  ])('finds keys whose schema stands in a header of %s', async (_, type, kind, schemaId, name, value) => {
    await database.sql`
      insert into dlq.dlq_schemas (registry, id_kind, schema_id, state, type, definition)
      values ('main', ${kind}, ${schemaId}, 'known', 'avro', ${orderSchema})`
    const record_headers = JSON.parse(encodeHeaders([[name, value]]))
    const id = await insert(avro, { record_key: bare, record_headers })
    await insert(avro, { record_key: orderBytes(5, 'order-2', 42).subarray(5), record_headers })
    const section = { ...schemas, registries: schemas.registries.map((registry) => ({ ...registry, type })) }
    const payloads = createPayloadReader({ sql: service.sql, schemas: section as typeof schemas, now: Date.now })
    expect(await listed(asJson(key), payloads)).toEqual([id])
    expect(await listed(`topic=orders.events.v1&${asJson(key)}`, payloads)).toEqual([id])
    expect(await listed(asJson({ ...key, cents: 43 }), payloads)).toEqual([])
    // The schema stays noted when other messages are the newest ones, or none is left.
    await database.sql`update dlq.dlq_messages set record_headers = '[]' where id = ${id}`
    const another = createPayloadReader({ sql: service.sql, schemas: section as typeof schemas, now: Date.now })
    expect(await listed(asJson(key), another)).toEqual([id])
  })

  test('finds keys in the frame of AWS Glue, and single objects of Avro', async () => {
    await database.sql`
      insert into dlq.dlq_schemas (registry, id_kind, schema_id, state, type, definition)
      values ('main', 'guid', ${guid}, 'known', 'avro', ${orderSchema})`
    const files = mkdtempSync(join(tmpdir(), 'dlq-files-'))
    onTestFinished(() => rmSync(files, { recursive: true }))
    writeFileSync(join(files, 'order.avsc'), orderSchema)
    const section = {
      ...schemas,
      files,
      registries: schemas.registries.map((of) => ({ ...of, type: 'glue' as const })),
    }
    const payloads = createPayloadReader({ sql: service.sql, schemas: section as typeof schemas, now: Date.now })
    const fingerprint = Buffer.from(avroFingerprint(parseAvroSchema(orderSchema)), 'hex')
      .reverse()
      .toString('hex')
    const found: string[] = []
    for (const frame of [`0300${guid.replaceAll('-', '')}`, `c301${fingerprint}`])
      found.push(await insert(avro, { record_key: Buffer.concat([Buffer.from(frame, 'hex'), bare]) }))
    expect(await listed(asJson(key), payloads)).toEqual(found.sort())
  })

  test('is written by the rule of the topic that is named', async () => {
    const rules = [{ topics: 'orders.events.v1', key: { format: 'msgpack' } }]
    const packed = createPayloadReader({ sql: service.sql, schemas: schemasSection({ rules }), now: Date.now })
    const id = await insert(avro, { record_key: Buffer.from('81a2696407', 'hex') })
    expect(await listed(`topic=orders.events.v1&${asJson({ id: 7 })}`, packed)).toEqual([id])
    expect(await listed(asJson({ id: 7 }), packed)).toEqual([])
  })

  test('that fits more schemas than ten is refused, with the remedy', async () => {
    for (let id = 1; id <= 12; id += 1) {
      await knownSchema(id)
      await insert(avro, { record_key: orderBytes(id, 'order-1', 42) })
    }
    expect(await listed(asJson(key))).toMatchObject({
      error: { details: [{ field: 'key', message: expect.stringContaining('name the topic') }] },
    })
  })

  test('is found by a run that erases, too', async () => {
    await knownSchema(5)
    const framed = await insert(avro, { record_key: orderBytes(5, 'order-1', 42) })
    const body = JSON.stringify({
      ...{ kind: 'erase', dry_run: true, reason: 'ticket 17' },
      selection: { keys: [{ json: key }], topics: ['orders.events.v1'] },
    })
    const sha256 = createHash('sha256').update('admin').digest('hex')
    const tokens = [{ name: 'admin', sha256, role: 'sys_admin' as const, payloads: 'full' as const }]
    const app = createTestApp(service.sql, { payloads: reader(), auth: { tokens } })
    const headers = { 'content-type': 'application/json', authorization: 'Bearer admin' }
    const answer = await answerOf(app('POST /api/v1/runs', { headers, body }))
    expect(answer).toMatchObject({ status: 200, body: { matched: { value: 1 }, sample: [framed] } })
  })
})
