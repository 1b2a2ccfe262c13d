// Values in Avro, as the API shows them and takes them back.

import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { createMasks } from 'dlq-core/domain/masks/create-masks.ts'
import { encodeHeaders } from 'dlq-core/domain/record/header-json.ts'
import { createPayloadReader, type PayloadReader } from 'dlq-core/runtime/schemas/payload-reader.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { orderBytes, orderSchema } from 'dlq-testing/schemas/avro-orders.ts'
import { schemasSection } from 'dlq-testing/schemas/schemas-section.ts'
import { beforeEach, describe, expect, test } from 'vitest'
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

  test.each(['{"a":"b"}', '[["a",5]]', '["a"]', '[["a",{"base64":5}]]', '[["a",{"column":"b"}]]', 'null'])(
    'whose headers SQL has written as %s is shown without them, says so, and takes others',
    async (json) => {
      const id = await insert(Buffer.from('no json'))
      await database.sql`update dlq.dlq_messages set record_headers = ${json}::text::json where id = ${id}`
      expect(await detailOf(id)).toMatchObject({
        ...{ id, headers: null, value_bytes: 7, retryable: false },
        not_retryable_because:
          'message cannot be sent: its headers were changed by SQL and cannot be read; give it other headers first',
      })
      for (const path of ['messages', 'messages/export', 'dlq/orders.events.v1'])
        expect(await (await request(`GET /api/v1/${path}`)).text()).toContain(id)

      const path = `/api/v1/dlq/messages/${id}`
      const sent = { headers: { 'content-type': 'application/json', 'if-match': '*' } }
      const body = JSON.stringify({ headers: [{ name: 'trace', value: { text: '1' } }] })
      expect((await request(`PATCH ${path}`, { ...sent, body })).status).toBe(200)
      expect(await detailOf(id)).toMatchObject({ retryable: true, headers: [{ name: 'trace', value: '1' }] })
      expect((await answerOf(request(`GET ${path}/edits/1`))).body).toMatchObject({ before: { headers: null } })
      expect((await request(`POST ${path}/edits/1/undo`, { ...sent, body: '{}' })).status).toBe(409)
    },
  )

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
