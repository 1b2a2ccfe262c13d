// The OpenAPI document is valid, its examples match their schemas, and it has every declared route.
import { createConfig, lintFromString } from '@redocly/openapi-core'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { allRoutes } from '../routes/all-routes.ts'
import { statusOf } from './api-error.ts'
import { defineRoute } from './define-route.ts'
import { openApiDocument, operationId } from './open-api.ts'

type Operation = {
  operationId: string
  responses: Record<string, unknown>
  parameters?: Parameter[]
  requestBody?: { content: { 'application/json': { schema: { properties: Record<string, Described> } } } }
}

const document = openApiDocument(allRoutes, { version: '0.1.0' }) as {
  openapi: string
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, object> }
}
const routes = allRoutes.map((route) => [`${route.method.toUpperCase()} ${route.path}`, route] as const)

type Answered = { content?: { 'application/json'?: { schema: object } } }

test('the document is OpenAPI 3.1, and lint finds no fault', async () => {
  const config = await createConfig({
    extends: ['recommended-strict'],
    rules: {
      // The server serves the API under the same address as the document.
      'no-server-example.com': 'off',
      'info-license-url': 'off',
      // /dlq/messages/{id} is matched before /dlq/{topic}/…, as routes/all-routes.ts says.
      'no-ambiguous-paths': 'off',
      // A client cannot send a wrong request to /healthz, /readyz and /metrics.
      'operation-4xx-response': 'off',
      'operation-tag-defined': 'off',
    },
  })
  const problems = await lintFromString({ source: JSON.stringify(document), config })
  expect(problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} at ${location[0]?.pointer}`)).toEqual(
    [],
  )
})

test('every operation has a unique name', () => {
  const names = allRoutes.map(operationId)
  expect(new Set(names).size).toBe(names.length)
})

test('every code of an error begins with SYS_DLQ_', () => {
  for (const code of Object.keys(statusOf)) expect(code).toMatch(/^SYS_DLQ_[A-Z]+(_[A-Z]+)*$/)
})

type Described = { description?: string; type?: string; default?: unknown }
type Parameter = Described & { name: string; schema: Described }

test('parameters and fields keep the descriptions that stand behind a transformation', () => {
  const parameters = document.paths['/api/v1/messages']!.get!.parameters!
  const describedBy = (wanted: string) => parameters.find(({ name }) => name === wanted)?.description
  expect(describedBy('to')).toBe('Created before this time.')
  expect(describedBy('status')).toMatch(/^One or more statuses/)
  const { snoozed_until } =
    document.paths['/api/v1/groups/{id}']!.patch!.requestBody!.content['application/json'].schema.properties
  expect(snoozed_until?.description).toBe('With the state snoozed, and only then.')
})

test('the default of a number is a number', () => {
  const parameters = Object.values(document.paths).flatMap((path) =>
    Object.values(path).flatMap((one) => one.parameters ?? []),
  )
  const numbers = parameters.filter(({ schema }) => schema.type === 'integer' && schema.default !== undefined)
  expect(numbers.length).toBeGreaterThan(5)
  expect(numbers.filter(({ schema }) => typeof schema.default !== 'number')).toEqual([])
})

test('the answer of /dlq-status is the schema DLQStatus', () => {
  const { content } = document.paths['/dlq-status']!.get!.responses['200'] as Answered
  expect(content?.['application/json']?.schema).toEqual({ $ref: '#/components/schemas/DLQStatus' })
  expect(document.components.schemas).toHaveProperty('DLQStatus')
})

describe.each(routes)('%s', (_, route) => {
  const operation = document.paths[route.path.replaceAll(/:(\w+)/g, '{$1}')]?.[route.method]

  test('is in the document with every status that it answers', () => {
    expect(operation?.operationId).toBe(operationId(route))
    for (const status of Object.keys(route.answers)) expect(operation?.responses).toHaveProperty(status)
    expect(operation?.responses).toHaveProperty('500')
    if (route.role !== null)
      for (const status of ['401', '403', '429', '503']) expect(operation?.responses).toHaveProperty(status)
  })

  test('names the schema of each JSON answer, so that generators make types of them', () => {
    const bodies = Object.values(operation!.responses as Record<string, Answered>).map(
      ({ content }) => content?.['application/json']?.schema,
    )
    // Without a schema: bytes that may be JSON.
    for (const schema of bodies.filter((schema) => schema !== undefined && Object.keys(schema).length > 0))
      expect(schema).toEqual({ $ref: expect.stringMatching(/^#\/components\/schemas\/\w+$/) })
  })

  test.each(Object.entries(route.answers))('has an example for %s that matches its schema', (status, answer) => {
    if (!answer.schema) return expect(answer.types ?? status).not.toEqual([])
    expect(v.safeParse(answer.schema, answer.example).issues).toBeUndefined()
  })

  test('accepts the example of its body', () => {
    if (route.bodyExample === undefined) return expect(v.safeParse(route.body, undefined).success).toBe(true)
    expect(v.safeParse(route.body, route.bodyExample).issues).toBeUndefined()
  })
})

test('a route whose mask class nobody has named is a type error', () => {
  const spec = { method: 'get', path: '/api/v1/new', summary: 'New', role: null, answers: {} } as const
  const handle = async () => new Response()
  // @ts-expect-error masks is missing. The compiler is the judge: with a default, this line would be its error.
  const route = defineRoute(spec, handle)
  expect(route.masks).toBeUndefined()
})
