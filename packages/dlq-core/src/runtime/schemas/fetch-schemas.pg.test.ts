// What the registries answer, and what becomes of it in dlq_schemas.

import { create, toBinary } from '@bufbuild/protobuf'
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt'
import type { SchemaRef } from 'dlq-core/domain/payload/schema-frames.ts'
import { schemas as schemasSchema } from 'dlq-core/runtime/config/schemas-schema.ts'
import type { PretendedRegistry } from 'dlq-testing/schemas/pretended-registry.ts'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { maxUnknownSchemas } from '../../queries/schemas/schemas.ts'
import { createSchemaFetcher } from './fetch-schemas.ts'
import { createSchemaSource } from './schema-source.ts'
import { fetchingLog, type Parts, refOf, useFetching } from './test-fetching.ts'

const fetching = useFetching()
const { database, service, parts, want } = fetching

const rows = () => database.sql`
  select schema_id, state, type, name, problem, tries, next_try_at > now() + interval '30 seconds' as rests
  from dlq.dlq_schemas order by id`
const makeDue = () => database.sql`update dlq.dlq_schemas set next_try_at = now() where state <> 'known'`

test('a schema that is wanted is asked for, with those that it refers to, and then known everywhere', async () => {
  const money = '{"type":"record","name":"acme.Money","fields":[{"name":"cents","type":"long"}]}'
  const order = '{"type":"record","name":"acme.Order","fields":[{"name":"total","type":"Money"}]}'
  fetching.registry.answer('/schemas/ids/7', {
    schema: order,
    references: [{ name: 'Money', subject: 'money/eu', version: 2 }],
  })
  fetching.registry.answer('/subjects/money%2Feu/versions/2', { schema: money, subject: 'money/eu', version: 2 })
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
  expect(fetching.registry.asked).toEqual(['/schemas/ids/7', '/subjects/money%2Feu/versions/2'])
})

test('a registry of Apicurio gives the text alone', async () => {
  fetching.registry.answer('/ids/globalIds/9', 'string')
  fetching.registry.answer('/ids/globalIds/9/references', [])
  const schemas = v.parse(schemasSchema, {
    registries: [{ name: 'main', type: 'apicurio', url: fetching.registry.url }],
  })
  const ref: SchemaRef = { registry: 'main', kind: 'global', id: '9' }
  await createSchemaSource({ sql: service.sql, now: Date.now }).load([ref])
  await createSchemaFetcher({ sql: service.sql, schemas, log: fetchingLog, now: Date.now, env: {} })()
  expect([...(await rows())]).toMatchObject([{ state: 'known', type: 'avro' }])
})

test.each([
  ['JSON', 'json', '{"title":"Order"}', 'Order'],
  ['PROTOBUF', 'protobuf', 'syntax = "proto3";', null],
])('a schema of type %s is kept', async (schemaType, type, schema, name) => {
  fetching.registry.answer('/schemas/ids/3', { schema, schemaType })
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
  fetching.registry.answer('/schemas/ids/3', { schema: 'syntax = "proto3"; …', schemaType: 'PROTOBUF', references })
  const order = file('default', { name: 'Order', field: [total] }, ['money.proto'])
  fetching.registry.answer('/schemas/ids/3?format=serialized', { schema: order, schemaType: 'PROTOBUF', references })
  fetching.registry.answer('/subjects/money/versions/1?format=serialized', {
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

test('a Protobuf schema is kept with the descriptors of its texts, where the registry gives no others', async () => {
  const references = [{ name: 'money.proto', subject: 'money', version: 2 }]
  const order = 'import "money.proto"; message Order { optional acme.Money total = 1; }'
  const money = 'package acme; message Money { optional int64 cents = 1; }'
  fetching.registry.answer('/schemas/ids/4', { schema: order, schemaType: 'PROTOBUF', references })
  // Apicurio ignores the question for descriptors.
  fetching.registry.answer('/schemas/ids/4?format=serialized', { schema: order, schemaType: 'PROTOBUF', references })
  fetching.registry.answer('/subjects/money/versions/2', { schema: money })
  await want(4)
  const { fetchSchemas, source } = parts()
  await fetchSchemas()
  await source.load([refOf(4)])
  const known = source.schemaOf(refOf(4))
  if (known?.state !== 'known') return expect(known?.state).toBe('known')
  expect(known.codec.read(Buffer.from([0, 0, 0, 0, 4, 0, 0x0a, 2, 8, 42]), 5)).toBe('{"total":{"cents":"42"}}')
})

describe('a registry of Azure', () => {
  const id = '0123456789abcdef0123456789abcdef'
  const ref: SchemaRef = { registry: 'main', kind: 'guid', id }
  const path = `/$schemaGroups/$schemas/${id}?api-version=2023-07-01`

  test('gives the schema as it is', async () => {
    fetching.registry.answer(path, { type: 'record', name: 'Order', namespace: 'acme', fields: [] })
    const { fetchSchemas, source } = parts({ type: 'azure' })
    await source.load([ref])
    await fetchSchemas()
    expect(fetching.registry.asked).toEqual([path])
    expect([...(await rows())]).toMatchObject([{ state: 'known', type: 'avro', name: 'acme.Order' }])
  })

  test('that has none, or shows none, says so', async () => {
    const { fetchSchemas, source } = parts({ type: 'azure' })
    await source.load([{ ...ref, id: 'f'.repeat(32) }])
    await fetchSchemas()
    expect([...(await rows())]).toMatchObject([{ state: 'missing' }])
  })

  test('behind a page to sign in at is unreachable', async () => {
    fetching.registry.misbehave((response) => response.end('<html>'))
    const { fetchSchemas, source } = parts({ type: 'azure' })
    await source.load([ref])
    await fetchSchemas()
    expect([...(await rows())]).toMatchObject([{ state: 'wanted', problem: 'registry_unreachable' }])
  })
})

describe('AWS Glue', () => {
  const id = 'b7b4a7f0-9c96-4e4a-a687-fb5de9ef0c63'
  const ref: SchemaRef = { registry: 'main', kind: 'guid', id }
  const keys = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'secret' }
  const glue = { type: 'glue', more: { region: 'eu-central-1' } }
  /** As the service answers GetSchemaVersion. */
  const recorded = {
    DataFormat: 'AVRO',
    SchemaArn: 'arn:aws:glue:eu-central-1:123456789012:schema/default-registry/orders',
    SchemaDefinition: '{"type":"record","name":"Order","namespace":"acme","fields":[]}',
    ...{ SchemaVersionId: id, Status: 'AVAILABLE', VersionNumber: 1, CreatedTime: '2026-02-20 10:30:00.000 UTC' },
  }
  const fetchWith = async (more: Parts = {}) => {
    const { fetchSchemas, source } = parts({ ...glue, env: keys, ...more })
    await source.load([ref])
    await fetchSchemas()
    return [...(await rows())]
  }

  test('gives a version’s schema to a signed question', async () => {
    const seen: { headers: object; body: string }[] = []
    fetching.registry.misbehave(async (response) => {
      const chunks: Buffer[] = []
      for await (const chunk of response.req) chunks.push(chunk as Buffer)
      seen.push({ headers: response.req.headers, body: Buffer.concat(chunks).toString() })
      response.end(JSON.stringify(recorded))
    })
    expect(await fetchWith()).toMatchObject([{ state: 'known', type: 'avro', name: 'acme.Order' }])
    expect(seen).toMatchObject([
      {
        body: `{"SchemaVersionId":"${id}"}`,
        headers: {
          'x-amz-target': 'AWSGlue.GetSchemaVersion',
          'content-type': 'application/x-amz-json-1.1',
          authorization: expect.stringMatching(
            /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/eu-central-1\/glue\/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-target, Signature=[0-9a-f]{64}$/,
          ),
        },
      },
    ])
  })

  test.each([
    ['EntityNotFoundException', 'missing', 'Schema version is not found.'],
    ['AccessDeniedException', 'refused', 'User is not authorized to perform: glue:GetSchemaVersion'],
    [
      'com.amazon.coral.service#ExpiredTokenException',
      'refused',
      'The security token included in the request is expired',
    ],
    ['ThrottlingException', 'wanted', 'Rate exceeded'],
  ])('that answers %s leaves the schema %s', async (__type, state, Message) => {
    fetching.registry.misbehave((response) => response.writeHead(400).end(JSON.stringify({ __type, Message })))
    expect(await fetchWith()).toMatchObject([{ state }])
  })

  test('without credentials is not asked, and the schema says what to do', async () => {
    expect(await fetchWith({ env: {} })).toMatchObject([
      { state: 'refused', problem: expect.stringContaining('set AWS_ACCESS_KEY_ID') },
    ])
    expect(fetching.registry.asked).toEqual([])
  })

  test('is asked with what the container’s endpoint gives', async () => {
    fetching.registry.answer('/credentials', {
      ...{ AccessKeyId: 'ASIAEXAMPLE', SecretAccessKey: 's', Token: 't', Expiration: '2999-01-01T00:00:00Z' },
    })
    fetching.registry.answer('/', recorded)
    const env = { AWS_CONTAINER_CREDENTIALS_FULL_URI: `${fetching.registry.url}/credentials` }
    expect(await fetchWith({ env })).toMatchObject([{ state: 'known' }])
    expect(fetching.registry.asked).toEqual(['/credentials', '/'])
  })
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

  test.each([401, 403])('that does not let us read says so: %i', async (status) => {
    fetching.registry.misbehave((response) => response.writeHead(status).end())
    await want(1)
    await parts().fetchSchemas()
    expect([...(await rows())]).toMatchObject([
      { state: 'refused', problem: expect.stringContaining(String(status)), rests: true },
    ])
  })

  test.each<[string, Parameters<PretendedRegistry['misbehave']>[0]]>([
    ['answers 500', (response) => response.writeHead(500).end()],
    ['answers with HTML', (response) => response.end('<html>')],
    ['sends us elsewhere', (response) => response.writeHead(302, { location: '/schemas/ids/2' }).end()],
    ['hangs', () => {}],
    ['hangs in the middle of its answer', (response) => response.write('{"schema":')],
    ['ends the connection', (response) => response.destroy()],
  ])('that %s is unreachable, and asked again soon', async (_, how) => {
    fetching.registry.misbehave(how)
    await want(1)
    const [before] = await database.sql`select now() as at`
    const startedAt = performance.now()
    await parts({ timeout: '300ms' }).fetchSchemas()
    expect(performance.now() - startedAt).toBeLessThan(15_000)
    expect([...(await rows())]).toMatchObject([{ state: 'wanted', problem: 'registry_unreachable', rests: false }])
    const [after] =
      await database.sql`select next_try_at - ${before!.at} >= interval '1 s' as waits from dlq.dlq_schemas`
    expect(after).toEqual({ waits: true })
  })

  test('that answers without end is left after a mebibyte', async () => {
    let sent = 0
    fetching.registry.misbehave((response) => {
      const more = () => {
        do sent += 65_536
        while (response.write(Buffer.alloc(65_536, 0x20)))
        response.once('drain', more)
      }
      more()
    })
    await want(1)
    await parts({ timeout: '3s' }).fetchSchemas()
    expect([...(await rows())]).toMatchObject([{ state: 'wanted', problem: 'registry_unreachable', rests: false }])
    // What the system buffers has left here, too.
    expect(sent).toBeLessThan(64 * 1024 * 1024)
  })

  test('that is away five times in a row is left alone for a while', async () => {
    let now = 0
    fetching.registry.misbehave((response) => response.writeHead(503).end())
    const { fetchSchemas } = parts({ now: () => now })
    await want(1, 2, 3, 4, 5)
    await fetchSchemas()
    await makeDue()
    await fetchSchemas()
    expect(fetching.registry.asked).toHaveLength(5)
    now = 30_000
    await fetchSchemas()
    expect(fetching.registry.asked).toHaveLength(10)
  })

  test.each<[string, unknown]>([
    ['null', null],
    ['no list of references', { schema: '"int"', references: 5 }],
    ['references that are none', { schema: '"int"', references: [null] }],
    ['no list of rules', { schema: '"int"', ruleSet: { domainRules: {} } }],
    ['a reference that is null', { schema: '"int"', references: [{ subject: 'null', version: 1 }] }],
  ])('whose answer has %s says so', async (_, answer) => {
    fetching.registry.misbehave((response) =>
      response.end(JSON.stringify(response.req.url === '/schemas/ids/7' ? answer : null)),
    )
    await want(7)
    await parts().fetchSchemas()
    expect([...(await rows())]).toMatchObject([
      { state: 'missing', problem: expect.stringContaining('is of another form'), rests: true },
    ])
  })

  test('whose schema has a name that PostgreSQL cannot store is kept under another', async () => {
    fetching.registry.answer('/schemas/ids/3', { schema: '{"type":"record","name":"a\\u0000b","fields":[]}' })
    await want(3)
    await parts().fetchSchemas()
    expect([...(await rows())]).toMatchObject([{ state: 'known', name: 'a\ufffdb' }])
  })

  test('that does not listen is unreachable', async () => {
    await want(1)
    await parts({ url: 'http://127.0.0.1:1' }).fetchSchemas()
    expect([...(await rows())]).toMatchObject([{ state: 'wanted', problem: 'registry_unreachable' }])
  })

  test('whose schema refers to itself is asked for each reference once', async () => {
    fetching.registry.answer('/schemas/ids/8', { schema: '"int"', references: [{ subject: 'a', version: 1 }] })
    fetching.registry.answer('/subjects/a/versions/1', { schema: '"int"', references: [{ subject: 'a', version: 1 }] })
    await want(8)
    await parts().fetchSchemas()
    expect(fetching.registry.asked).toHaveLength(2)
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

test('an id beyond these is looked up once a second at most, however often values name it', async () => {
  await want(...Array.from({ length: maxUnknownSchemas }, (_, n) => n + 1))
  let now = 0
  const source = createSchemaSource({ sql: service.sql, now: () => now })
  const lookUp = async () => {
    let statements = 0
    const sql = new Proxy(service.sql, {
      apply(sql, self, args) {
        statements += 1
        return Reflect.apply(sql as never, self, args)
      },
    })
    await source.load([refOf(5000)], { sql })
    return statements
  }
  for (let second = 0; second < 2; second += 1) {
    expect(await lookUp()).toBeGreaterThan(0)
    expect(await lookUp()).toBe(0)
    now += 1000
  }
})

test('two services that ask at the same time ask for each schema once', async () => {
  fetching.registry.answer('/schemas/ids/7', { schema: '"int"' })
  await want(7)
  await Promise.all([parts().fetchSchemas(), parts().fetchSchemas()])
  expect(fetching.registry.asked).toEqual(['/schemas/ids/7'])
})
