// What the registries answer, and what becomes of it in dlq_schemas.

import { create, toBinary } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt'
import type { SchemaRef } from 'dlq-core/domain/payload/schema-frames.ts'
import { schemas as schemasSchema } from 'dlq-core/runtime/config/schemas-schema.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { type PretendedRegistry, pretendRegistry } from 'dlq-testing/schemas/pretended-registry.ts'
import * as v from 'valibot'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { maxUnknownSchemas } from '../../queries/schemas/schemas.ts'
import { createSchemaFetcher } from './fetch-schemas.ts'
import { createSchemaSource } from './schema-source.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const log = createLog({ service: 'test', level: 'silent' })

let registry: PretendedRegistry
beforeAll(async () => {
  registry = await pretendRegistry()
})
afterAll(() => registry[Symbol.asyncDispose]())
beforeEach(async () => {
  registry.misbehave(null)
  registry.asked.length = 0
  await emptyTables(database.sql, 'dlq.dlq_schemas')
})

const refOf = (id: number | string): SchemaRef => ({ registry: 'main', kind: 'id', id: String(id) })

function parts({ url = registry.url, type = 'confluent' as const, timeout = '20s', now = Date.now } = {}) {
  const schemas = v.parse(schemasSchema, { registries: [{ name: 'main', type, url, timeout }] })
  return {
    fetchSchemas: createSchemaFetcher({ sql: service.sql, schemas, log, now }),
    source: createSchemaSource({ sql: service.sql, now }),
  }
}

async function want(...ids: number[]) {
  await createSchemaSource({ sql: service.sql, now: Date.now }).load(ids.map(refOf))
}

const rows = () => database.sql`
  select schema_id, state, type, name, problem, tries, next_try_at > now() + interval '30 seconds' as rests
  from dlq.dlq_schemas order by id`
const makeDue = () => database.sql`update dlq.dlq_schemas set next_try_at = now() where state <> 'known'`

test('a schema that is wanted is asked for, with those that it refers to, and then known everywhere', async () => {
  const money = '{"type":"record","name":"acme.Money","fields":[{"name":"cents","type":"long"}]}'
  const order = '{"type":"record","name":"acme.Order","fields":[{"name":"total","type":"Money"}]}'
  registry.answer('/schemas/ids/7', { schema: order, references: [{ name: 'Money', subject: 'money/eu', version: 2 }] })
  registry.answer('/subjects/money%2Feu/versions/2', { schema: money, subject: 'money/eu', version: 2 })
  const { fetchSchemas, source } = parts()
  await source.load([refOf(7)])
  expect(source.schemaOf(refOf(7))).toMatchObject({ state: 'wanted', problem: null })

  await fetchSchemas()
  expect([...(await rows())]).toMatchObject([{ state: 'known', type: 'avro', name: 'acme.Order', tries: 1 }])
  await source.load([refOf(7)], { maxAgeMs: 0 })
  const known = source.schemaOf(refOf(7))
  expect(known).toMatchObject({ state: 'known' })
  if (known?.state === 'known') expect(known.codec.read(Buffer.from([8]), 0)).toBe('{"total":{"cents":4}}')

  // Nobody asks again.
  await fetchSchemas()
  expect(registry.asked).toEqual(['/schemas/ids/7', '/subjects/money%2Feu/versions/2'])
})

test('a registry of Apicurio gives the text alone', async () => {
  registry.answer('/ids/globalIds/9', 'string')
  registry.answer('/ids/globalIds/9/references', [])
  const schemas = v.parse(schemasSchema, { registries: [{ name: 'main', type: 'apicurio', url: registry.url }] })
  const ref: SchemaRef = { registry: 'main', kind: 'global', id: '9' }
  await createSchemaSource({ sql: service.sql, now: Date.now }).load([ref])
  await createSchemaFetcher({ sql: service.sql, schemas, log, now: Date.now })()
  expect([...(await rows())]).toMatchObject([{ state: 'known', type: 'avro' }])
})

test.each([
  ['JSON', 'json', '{"title":"Order"}', 'Order'],
  ['PROTOBUF', 'protobuf', 'syntax = "proto3";', null],
])('a schema of type %s is kept', async (schemaType, type, schema, name) => {
  registry.answer('/schemas/ids/3', { schema, schemaType })
  await want(3)
  await parts().fetchSchemas()
  expect([...(await rows())]).toMatchObject([{ state: 'known', type, name }])
})

test('a Protobuf schema is kept with its descriptors, where the registry gives them', async () => {
  // As Confluent's registry answers: the descriptor in base64 in place of the text.
  const file = (name: string, message: object, dependency: string[] = []) => {
    const proto = create(FileDescriptorProtoSchema, {
      name,
      package: 'acme',
      syntax: 'proto3',
      dependency,
      messageType: [message],
    })
    return Buffer.from(toBinary(FileDescriptorProtoSchema, proto)).toString('base64')
  }
  const cents = { name: 'cents', number: 1, type: 3, label: 1, jsonName: 'cents' }
  const total = { name: 'total', number: 1, type: 11, label: 1, jsonName: 'total', typeName: '.acme.Money' }
  const references = [{ name: 'money.proto', subject: 'money', version: 1 }]
  registry.answer('/schemas/ids/3', { schema: 'syntax = "proto3"; …', schemaType: 'PROTOBUF', references })
  const order = file('default', { name: 'Order', field: [total] }, ['money.proto'])
  registry.answer('/schemas/ids/3?format=serialized', { schema: order, schemaType: 'PROTOBUF', references })
  registry.answer('/subjects/money/versions/1?format=serialized', {
    schema: file('x', { name: 'Money', field: [cents] }),
  })
  await want(3)
  const { fetchSchemas, source } = parts()
  await fetchSchemas()
  await source.load([refOf(3)])
  const known = source.schemaOf(refOf(3))
  expect(known).toMatchObject({ state: 'known', type: 'protobuf' })
  if (known?.state === 'known')
    expect(known.codec.read(Buffer.from([0, 0, 0, 0, 3, 0, 0x0a, 2, 8, 42]), 5)).toBe('{"total":{"cents":"42"}}')
})

describe('a registry', () => {
  test('that has no such schema is asked again after a minute, and later after longer', async () => {
    const { fetchSchemas } = parts()
    await want(404)
    await fetchSchemas()
    expect([...(await rows())]).toMatchObject([
      { state: 'missing', problem: expect.stringContaining('/schemas/ids/404'), rests: true },
    ])
    await makeDue()
    await fetchSchemas()
    const [row] = await database.sql`select next_try_at > now() + interval '100 seconds' as later from dlq.dlq_schemas`
    expect(row).toEqual({ later: true })
  })

  test('that does not let us read says so', async () => {
    registry.misbehave((response) => response.writeHead(403).end())
    await want(1)
    await parts().fetchSchemas()
    expect([...(await rows())]).toMatchObject([
      { state: 'refused', problem: expect.stringContaining('403'), rests: true },
    ])
  })

  test.each<[string, Parameters<PretendedRegistry['misbehave']>[0]]>([
    ['answers 500', (response) => response.writeHead(500).end()],
    ['answers with HTML', (response) => response.end('<html>')],
    ['sends us elsewhere', (response) => response.writeHead(302, { location: '/schemas/ids/2' }).end()],
    ['hangs', () => {}],
    ['hangs in the middle of its answer', (response) => response.write('{"schema":')],
    ['ends the connection', (response) => response.destroy()],
    [
      'answers without end',
      (response) => {
        const more = () => {
          while (response.write(Buffer.alloc(65_536, 0x20)));
          response.once('drain', more)
        }
        more()
      },
    ],
  ])('that %s is unreachable, and asked again soon', async (_, how) => {
    registry.misbehave(how)
    await want(1)
    await parts({ timeout: '300ms' }).fetchSchemas()
    expect([...(await rows())]).toMatchObject([{ state: 'wanted', problem: 'registry_unreachable', rests: false }])
  })

  test('that is away five times in a row is left alone for a while', async () => {
    let now = 0
    registry.misbehave((response) => response.writeHead(503).end())
    const { fetchSchemas } = parts({ now: () => now })
    await want(1, 2, 3, 4, 5)
    await fetchSchemas()
    await makeDue()
    await fetchSchemas()
    expect(registry.asked).toHaveLength(5)
    now = 30_000
    await fetchSchemas()
    expect(registry.asked).toHaveLength(10)
  })

  test('that does not listen is unreachable', async () => {
    await want(1)
    await parts({ url: 'http://127.0.0.1:1' }).fetchSchemas()
    expect([...(await rows())]).toMatchObject([{ state: 'wanted', problem: 'registry_unreachable' }])
  })

  test('whose schema refers to itself is asked for each reference once', async () => {
    registry.answer('/schemas/ids/8', { schema: '"int"', references: [{ subject: 'a', version: 1 }] })
    registry.answer('/subjects/a/versions/1', { schema: '"int"', references: [{ subject: 'a', version: 1 }] })
    await want(8)
    await parts().fetchSchemas()
    expect(registry.asked).toHaveLength(2)
    expect([...(await rows())]).toMatchObject([{ state: 'known' }])
  })
})

test('strangers cannot have more than a thousand ids asked for', async () => {
  await want(...Array.from({ length: maxUnknownSchemas }, (_, n) => n + 1))
  const { source } = parts()
  await source.load([refOf(5000)])
  expect(source.schemaOf(refOf(5000))).toBeUndefined()
  const [count] = await database.sql`select count(*)::int as n from dlq.dlq_schemas`
  expect(count!.n).toBe(maxUnknownSchemas)
})

test('two services that ask at the same time ask for each schema once', async () => {
  registry.answer('/schemas/ids/7', { schema: '"int"' })
  await want(7)
  await Promise.all([parts().fetchSchemas(), parts().fetchSchemas()])
  expect(registry.asked).toEqual(['/schemas/ids/7'])
})
