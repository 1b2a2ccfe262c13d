// Values in Avro, as the API shows them and takes them back.

import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { createMasks } from 'dlq-core/domain/masks/create-masks.ts'
import { avroFingerprint } from 'dlq-core/domain/payload/avro/avro-fingerprint.ts'
import { parseAvroSchema } from 'dlq-core/domain/payload/avro/avro-schema.ts'
import { encodeHeaders } from 'dlq-core/domain/record/header-json.ts'
import { createPayloadReader, type PayloadReader } from 'dlq-core/runtime/schemas/payload-reader.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { orderBytes, orderSchema } from 'dlq-testing/schemas/avro-orders.ts'
import { schemasSection } from 'dlq-testing/schemas/schemas-section.ts'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { answerOf, createTestApp } from '../../test-app.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const schemas = schemasSection()
const reader = () => createPayloadReader({ sql: service.sql, schemas, now: Date.now })

beforeEach(() =>
  emptyTables(database.sql, 'dlq.dlq_message_edits', 'dlq.dlq_messages', 'dlq.dlq_schemas', 'dlq.dlq_audit'),
)

const request = (methodAndPath: string, init?: RequestInit, payloads: PayloadReader | null = reader()) =>
  createTestApp(service.sql, { payloads })(methodAndPath, init)
const detailOf = async (id: string, payloads: PayloadReader | null = reader()) =>
  (await answerOf(request(`GET /api/v1/dlq/messages/${id}`, {}, payloads))).body as Record<string, unknown>

async function knownSchema(id = 5): Promise<number> {
  const [row] = await database.sql`
    insert into dlq.dlq_schemas (registry, id_kind, schema_id, state, type, name, definition)
    values ('main', 'id', ${String(id)}, 'known', 'avro', 'com.example.Order', ${orderSchema}) returning id`
  return row!.id
}

const insert = (record_value: Buffer, more = {}) =>
  insertMessageRow(database.sql, { dlq_topic: 'orders.dlq.v1', record_value, record_headers: [], ...more })

const shown = { id: 'order-1', cents: 42, note: null }
const avro = orderBytes(5, 'order-1', 42)

describe('a message', () => {
  test('whose payload was decoded when it was stored is shown with its schema’s name, in lists too', async () => {
    const number = await knownSchema()
    const id = await insert(avro, { payload: shown, value_schema: number, decode_state: 1 })
    const decoding = {
      ...{ state: 'decoded', format: 'avro', compression: null, labels: [], problem: null, since: null },
      schema: { number, registry: 'main', id_kind: 'id', id: '5', name: 'com.example.Order' },
    }
    expect(await detailOf(id)).toMatchObject({ payload: shown, decoding, value_bytes: avro.length })
    const lists = ['messages?topic=orders.events.v1', 'dlq/orders.events.v1?limit=5', 'messages?show=preview']
    for (const list of lists) {
      const { body } = await answerOf(request(`GET /api/v1/${list}`))
      const [row] = (body as { messages: Record<string, unknown>[] }).messages
      expect(row).toMatchObject({ id, decoding })
      if (list.includes('preview')) expect(row!.preview).toBe('{"id": "order-1", "note": null, "cents": 42}')
      else expect(row!.payload).toEqual(shown)
    }
    const exported = await (await request('GET /api/v1/messages/export')).text()
    expect(JSON.parse(exported)).toMatchObject({ payload: shown, decoding })
  })

  test('that was stored before its schema was known, or before there was a registry, is decoded when it is read', async () => {
    await knownSchema()
    const id = await insert(avro)
    expect(await detailOf(id)).toMatchObject({ payload: shown, decoding: { state: 'decoded', format: 'avro' } })
    const { body } = await answerOf(request('GET /api/v1/messages'))
    expect(body).toMatchObject({ messages: [{ payload: shown, decoding: { state: 'decoded' } }] })
  })

  test('whose schema nobody has asked for is asked for, and shown when it has come', async () => {
    const id = await insert(avro)
    const answer = detailOf(id)
    while ((await database.sql`select from dlq.dlq_schemas`).length === 0);
    await database.sql`update dlq.dlq_schemas set state = 'known', type = 'avro', definition = ${orderSchema}`
    expect(await answer).toMatchObject({ payload: shown, decoding: { state: 'decoded' } })
  })

  test('whose registry does not answer is shown as bytes at once, with the reason', async () => {
    await database.sql`
      insert into dlq.dlq_schemas (registry, id_kind, schema_id, problem) values ('main', 'id', '5', 'registry_unreachable')`
    const id = await insert(avro)
    expect(await detailOf(id)).toMatchObject({
      payload: null,
      decoding: { state: 'waiting', problem: 'registry_unreachable', since: expect.any(String), schema: { id: '5' } },
    })
  })

  test('with a key in Avro shows the key decoded', async () => {
    await knownSchema()
    const id = await insert(avro, { record_key: orderBytes(5, 'key', 1) })
    expect(await detailOf(id)).toMatchObject({ decoded_key: { id: 'key', cents: 1, note: null } })
    const plain = await insert(avro, { record_key: Buffer.from('7') })
    expect(await detailOf(plain)).toMatchObject({ decoded_key: null, key: { value: '7', encoding: 'text' } })
  })

  test('that was gzipped by its producer says so', async () => {
    const id = await insert(gzipSync(Buffer.from('{"a":1}')), { payload: { a: 1 }, decode_state: 1 })
    expect(await detailOf(id)).toMatchObject({ payload: { a: 1 }, decoding: { format: null, compression: 'gzip' } })
  })

  test('in a wrapper of Debezium is named so, and not unwrapped', async () => {
    const payload = { op: 'c', source: { db: 'shop' }, before: null, after: { id: 1 } }
    const id = await insert(Buffer.from(JSON.stringify(payload)), { payload })
    expect(await detailOf(id)).toMatchObject({ payload, decoding: { labels: ['debezium'], format: null } })
    const { body } = await answerOf(request('GET /api/v1/messages'))
    expect(body).toMatchObject({ messages: [{ decoding: { labels: ['debezium'] } }] })
  })

  test('is shown as before where the configuration has no registries', async () => {
    await knownSchema()
    const id = await insert(avro)
    expect(await detailOf(id, null)).toMatchObject({ payload: null, decoding: null, decoded_key: null })
  })

  test('of a topic whose rule says none is shown as bytes, also where it is JSON', async () => {
    const rules = [{ topics: 'orders.events.v1', value: { format: 'none' } }]
    const none = createPayloadReader({ sql: service.sql, schemas: schemasSection({ rules }), now: Date.now })
    const id = await insert(Buffer.from('{"a":1}'))
    expect(await detailOf(id, none)).toMatchObject({ payload: null, decoding: null })
    const { body } = await answerOf(request('GET /api/v1/messages', {}, none))
    expect(body).toMatchObject({ messages: [{ payload: null }] })
  })

  test('in MessagePack is decoded by the rule of its topic, in lists too', async () => {
    const rules = [{ topics: 'orders.events.v1', value: { format: 'msgpack' } }]
    const packed = createPayloadReader({ sql: service.sql, schemas: schemasSection({ rules }), now: Date.now })
    const bytes = Buffer.from('81a161cf7fffffffffffffff', 'hex')
    const decoding = { state: 'decoded', format: 'msgpack', schema: null, problem: null }
    const id = await insert(bytes)
    const text = await (await request(`GET /api/v1/dlq/messages/${id}`, {}, packed)).text()
    expect(text).toContain('"payload":{"a":9223372036854775807}')
    expect(JSON.parse(text)).toMatchObject({ decoding })
    await database.sql`update dlq.dlq_messages set payload = '{"a":1}', decode_state = 1 where id = ${id}`
    const { body } = await answerOf(request('GET /api/v1/messages', {}, packed))
    expect(body).toMatchObject({ messages: [{ payload: { a: 1 }, decoding }] })
  })

  test('of plain JSON has no decoding', async () => {
    const id = await insert(Buffer.from('{"a":1}'), { payload: { a: 1 } })
    expect(await detailOf(id)).toMatchObject({ payload: { a: 1 }, decoding: null })
  })
})

describe('an edit of what was decoded', () => {
  const edit = (id: string, body: object, payloads: PayloadReader | null = reader()) =>
    answerOf(
      request(
        `PATCH /api/v1/dlq/messages/${id}`,
        { body: JSON.stringify(body), headers: { 'content-type': 'application/json', 'if-match': '*' } },
        payloads,
      ),
    )
  const bytesOf = async (id: string) => (await readMessageRow(database.sql, id)).record_value

  test('is written with the same schema, and changes no other byte', async () => {
    const number = await knownSchema()
    const id = await insert(avro, { payload: shown, value_schema: number, decode_state: 1 })
    const answer = await edit(id, { value: { decoded: { ...shown, cents: 43 } }, reason: 'the price was wrong' })
    expect(answer).toMatchObject({ status: 200, body: { payload: { ...shown, cents: 43 } } })
    expect(await bytesOf(id)).toEqual(orderBytes(5, 'order-1', 43))
    expect(await readMessageRow(database.sql, id)).toMatchObject({ value_schema: number, decode_state: 1, edits: 1 })
  })

  test('may be a JSON Patch', async () => {
    await knownSchema()
    const id = await insert(avro)
    // As text: JavaScript has no such number.
    const body = '{"patch":[{"op":"replace","path":"/cents","value":9007199254740993}]}'
    const answer = await request(`PATCH /api/v1/dlq/messages/${id}`, {
      body,
      headers: { 'content-type': 'application/json', 'if-match': '*' },
    })
    expect(await answer.text()).toContain('"cents": 9007199254740993')
  })

  test('that changes nothing is no edit', async () => {
    await knownSchema()
    const id = await insert(avro)
    expect(await edit(id, { value: { decoded: { note: null, cents: 42, id: 'order-1' } } })).toMatchObject({
      status: 200,
    })
    expect(await readMessageRow(database.sql, id)).toMatchObject({ edits: 0, record_value: avro })
  })

  test('that does not fit the schema names the path, and changes nothing', async () => {
    await knownSchema()
    const id = await insert(avro)
    expect(await edit(id, { value: { decoded: { ...shown, note: 7 } } })).toMatchObject({
      status: 400,
      body: { error: { details: [{ field: 'value', message: '/note must be text' }] } },
    })
    expect(await edit(id, { patch: [{ op: 'remove', path: '/cents' }] })).toMatchObject({
      status: 400,
      body: { error: { message: 'value: /cents of com.example.Order is missing' } },
    })
    expect(await edit(id, { patch: [{ op: 'remove', path: '/other' }] })).toMatchObject({ status: 400 })
    expect(await bytesOf(id)).toEqual(avro)
  })

  test('of bytes that their writer encoded otherwise is refused, until that is accepted', async () => {
    await knownSchema()
    // The length of the id in two bytes, where one would do.
    const long = Buffer.concat([avro.subarray(0, 5), Buffer.from([0x8e, 0x00]), avro.subarray(6)])
    const id = await insert(long)
    const change = { value: { decoded: { ...shown, cents: 43 } } }
    expect(await edit(id, change)).toMatchObject({ status: 409, body: { error: { code: 'SYS_DLQ_NOT_EXACT' } } })
    expect(await edit(id, { ...change, reencode: true })).toMatchObject({ status: 200 })
    expect(await bytesOf(id)).toEqual(orderBytes(5, 'order-1', 43))
  })

  test('of a value whose schema is not known is refused', async () => {
    await database.sql`
      insert into dlq.dlq_schemas (registry, id_kind, schema_id, state) values ('main', 'id', '5', 'missing')`
    const id = await insert(avro)
    expect(await edit(id, { value: { decoded: shown } })).toMatchObject({
      status: 409,
      body: { error: { message: expect.stringContaining('schema_missing') } },
    })
  })

  test('of JSON works without any registry', async () => {
    const id = await insert(Buffer.from('{"a":1}'), { payload: { a: 1 } })
    expect(await edit(id, { patch: [{ op: 'replace', path: '/a', value: 2 }] }, null)).toMatchObject({
      status: 200,
      body: { payload: { a: 2 } },
    })
    expect(await edit(id, { patch: [], value: { json: 1 } }, null)).toMatchObject({ status: 400 })
  })

  test('may be undone', async () => {
    const number = await knownSchema()
    const id = await insert(avro, { payload: shown, value_schema: number, decode_state: 1 })
    await edit(id, { value: { text: 'x' } })
    expect(await readMessageRow(database.sql, id)).toMatchObject({
      payload: null,
      value_schema: null,
      decode_state: null,
    })
    const undone = await request(`POST /api/v1/dlq/messages/${id}/edits/1/undo`, { headers: { 'if-match': '*' } })
    expect(undone.status).toBe(200)
    expect(await readMessageRow(database.sql, id)).toMatchObject({
      payload: shown,
      value_schema: number,
      decode_state: 1,
    })
  })

  test('of the key is written with the key’s schema, and of the headers keeps the value’s', async () => {
    const number = await knownSchema()
    const record_headers = JSON.parse(encodeHeaders([['a', Buffer.from('b')]]))
    const id = await insert(avro, {
      record_key: orderBytes(5, 'k', 1),
      record_headers,
      payload: shown,
      value_schema: number,
      decode_state: 1,
    })
    expect(await edit(id, { key: { decoded: { id: 'k', cents: 2, note: null } }, headers: [] })).toMatchObject({
      status: 200,
    })
    expect(await readMessageRow(database.sql, id)).toMatchObject({
      ...{ record_key: orderBytes(5, 'k', 2), record_value: avro, payload: shown, value_schema: number },
    })
  })
})

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
    const registries = schemas.registries.map((registry) => ({ ...registry, type: 'glue' as const }))
    const section = { ...schemas, registries, files }
    const payloads = createPayloadReader({ sql: service.sql, schemas: section as typeof schemas, now: Date.now })
    const glueFrame = Buffer.from(`0300${guid.replaceAll('-', '')}`, 'hex')
    const fingerprint = Buffer.from(avroFingerprint(parseAvroSchema(orderSchema)), 'hex').reverse()
    const found: string[] = []
    for (const frame of [glueFrame, Buffer.concat([Buffer.from('c301', 'hex'), fingerprint])])
      found.push(await insert(avro, { record_key: Buffer.concat([frame, bare]) }))
    for (const id of found) expect(await detailOf(id, payloads)).toMatchObject({ decoded_key: key })
    expect(await listed(asJson(key), payloads)).toEqual(found.sort())
    expect(await listed(`topic=orders.events.v1&${asJson(key)}`, payloads)).toEqual(found)
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

test('an edit that is refused quotes nothing that masks hide', async () => {
  const definition = JSON.stringify({ properties: { card: { maximum: 10 } } })
  await database.sql`
    insert into dlq.dlq_schemas (registry, id_kind, schema_id, state, type, definition)
    values ('main', 'id', '6', 'known', 'json', ${definition})`
  const framed = Buffer.concat([Buffer.from([0, 0, 0, 0, 6]), Buffer.from('{"card":4111,"note":"a"}')])
  const id = await insert(framed, { original_topic: 'orders' })
  const sha256 = createHash('sha256').update('secret').digest('hex')
  const auth = { tokens: [{ name: 'masked', role: 'sys_operator' as const, sha256 }] }
  const patched = async (hide: string[]) => {
    const masks = createMasks([{ topics: ['orders'], hide, key: 'show', headers: [], errors: [] }], undefined)
    const body = JSON.stringify({ patch: [{ op: 'replace', path: '/note', value: 'b' }] })
    const headers = { authorization: 'Bearer secret', 'if-match': '*', 'content-type': 'application/json' }
    const app = createTestApp(service.sql, { auth, masks, payloads: reader() })
    return JSON.stringify((await answerOf(app(`PATCH /api/v1/dlq/messages/${id}`, { headers, body }))).body)
  }
  expect(await patched([])).toContain('4111 is greater than 10')
  const hidden = await patched(['/card'])
  expect(hidden).toContain('masks hide why')
  expect(hidden).toContain('\\"force\\": true')
  expect(hidden).not.toMatch(/4111|greater/)
})
