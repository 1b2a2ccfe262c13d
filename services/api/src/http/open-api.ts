// Makes the OpenAPI 3.1 document from the declared routes: the schemas that validate also document.

import { type ConversionConfig, toJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { roleNames } from '../access/access.ts'
import { bodyHasReason } from '../masks/unmask.ts'
import { type ApiErrorCode, errorSchema, statusOf } from './api-error.ts'
import type { Answer, Route } from './define-route.ts'

type Json = Record<string, unknown>
type Schemas = Record<string, v.GenericSchema>

const documentTitle = 'dlq-manager'

/** The document as an object, ready for JSON. */
export function openApiDocument(routes: readonly Route[], { version }: { version: string }): Json {
  const schemas = titledSchemas(routes)
  const paths: Record<string, Json> = {}
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method]: operationOf(route, schemas) }
  }
  const components = Object.entries(schemas).map(([name, schema]) => [
    name,
    convert(schema, { mode: 'output', schemas: without(schemas, name) }),
  ])
  return {
    openapi: '3.1.0',
    info: {
      title: documentTitle,
      version,
      description: 'Dead letters of Kafka: see, group, edit, retry and archive them.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'Not needed where none is configured.' },
      },
      schemas: Object.fromEntries(components),
    },
  }
}

function operationOf(route: Route, schemas: Schemas): Json {
  const { method, path, summary, description, role, allTopics } = route
  const roleNote =
    role === null ? '' : `Needs the role \`${roleNames[role]}\`${allTopics ? ', and a token for all topics' : ''}.`
  return {
    operationId: operationId(route),
    tags: [tagOf(route)],
    summary,
    description: [description, roleNote].filter(Boolean).join('\n\n') || summary,
    ...(role === null && { security: [] }),
    ...parametersOf(route, schemas),
    ...(method === 'get' || isEmpty(route.body) ? {} : { requestBody: requestBodyOf(route, schemas) }),
    responses: {
      ...Object.fromEntries(
        Object.entries(answersOf(route)).map(([status, answer]) => [status, answerOf(answer, schemas)]),
      ),
      ...errorsOf(route, { path }),
    },
  }
}

/** Those that are declared, and 304 where clients may ask whether anything has changed. */
export function answersOf({ answers, revalidates }: Pick<Route, 'answers' | 'revalidates'>): Route['answers'] {
  if (!revalidates) return answers
  const headers = { ...answers[200]!.headers, ETag: 'For If-None-Match.' }
  return {
    ...answers,
    200: { ...answers[200]!, headers },
    304: { description: 'If-None-Match names the answer as it is.' },
  }
}

/** "GET /api/v1/dlq/messages/:id" → "getDlqMessagesById" */
export function operationId({ method, path }: Pick<Route, 'method' | 'path'>): string {
  const words =
    path
      .replace(/^\/api\/v1/, '')
      .replaceAll(/:(\w+)/g, 'by-$1')
      .match(/\w+/g) ?? []
  return [method, ...words].map((word, at) => (at === 0 ? word : word[0]!.toUpperCase() + word.slice(1))).join('')
}

/** The first part of the path that names a resource. */
function tagOf({ path, role }: Pick<Route, 'path' | 'role'>): string {
  if (role === null) return 'operations'
  return path.split('/').find((part, at) => at > 0 && part !== 'api' && part !== 'v1')!
}

const unmaskParameter = {
  ...{ name: 'unmask', in: 'query' as const, required: false, schema: { type: 'boolean' } as Json },
  description: 'true: without masks. For tokens with `payloads: full`; what is shown so is recorded.',
}
/** Of routes whose body has none. */
const reasonParameter = {
  ...{ name: 'reason', in: 'query' as const, required: false, schema: { type: 'string', maxLength: 1000 } as Json },
  description: 'With `unmask`: why, for the record; required where `audit.unmask_reason` says so.',
}

function parametersOf(route: Route, schemas: Schemas): Json {
  const places = [
    ['path', route.params],
    ['query', route.query],
    ['header', route.headers],
  ] as const
  const parameters = places.flatMap(([place, schema]) => {
    const { properties } = convert(schema, { mode: 'input', schemas }) as { properties: Record<string, Json> }
    return Object.entries(entriesOf(schema)).map(([name, entry]) => {
      const { description, default: given, ...converted } = properties[name]!
      return {
        name,
        in: place,
        required: place === 'path' || !isOptional(entry),
        ...(description !== undefined && { description }),
        // Routes declare their defaults as text, as a query would have them.
        schema: {
          ...converted,
          ...(given !== undefined && { default: converted.type === 'integer' ? Number(given) : given }),
        },
      }
    })
  })
  if (route.masks !== 'none') parameters.push(unmaskParameter, ...(bodyHasReason(route) ? [] : [reasonParameter]))
  return parameters.length === 0 ? {} : { parameters }
}

function requestBodyOf({ body, bodyExample }: Route, schemas: Schemas): Json {
  const schema = convert(body, { mode: 'input', schemas })
  return {
    required: !isOptional(body),
    content: { 'application/json': { schema, ...(bodyExample !== undefined && { example: bodyExample }) } },
  }
}

function answerOf({ description, schema, example, types = [], headers }: Answer, schemas: Schemas): Json {
  const json = schema && {
    'application/json': {
      schema: convert(schema, { mode: 'output', schemas }),
      ...(example !== undefined && { example }),
    },
  }
  const others = Object.fromEntries(types.map((type) => [type, { schema: {} }]))
  const named = Object.entries(headers ?? {}).map(([name, description]) => [
    name,
    { description, schema: { type: 'string' } },
  ])
  return {
    description,
    ...(named.length > 0 && { headers: Object.fromEntries(named) }),
    ...((json || types.length > 0) && { content: { ...json, ...others } }),
  }
}

/** An example of each error's message. */
const errorExamples: Record<ApiErrorCode, string> = {
  SYS_DLQ_VALIDATION_ERROR: 'page must be a whole number from 1 to 1000000',
  SYS_DLQ_UNAUTHENTICATED: 'a bearer token is required',
  SYS_DLQ_FORBIDDEN: 'this needs the role sys_operator',
  SYS_DLQ_NOT_FOUND: 'dlq message not found: 550e8400-e29b-41d4-a716-446655440000',
  SYS_DLQ_METHOD_NOT_ALLOWED: 'PUT is not allowed here; allowed: GET',
  SYS_DLQ_REQUEST_TIMEOUT: 'the body has not come within 15 s',
  SYS_DLQ_PUBLISH_REFUSED: 'message was not sent: the record is too large. It is DEAD: no attempts are left',
  SYS_DLQ_NOT_EXACT:
    'the value cannot be written so that only the change differs; send it with "reencode": true to accept that',
  SYS_DLQ_CONFLICT: 'message is not retryable: status=DEAD, retry_count=3/3',
  SYS_DLQ_PRECONDITION_FAILED: 'the message has changed since it was read; read it again',
  SYS_DLQ_PAYLOAD_TOO_LARGE: 'the body is larger than 1048576 bytes',
  SYS_DLQ_URI_TOO_LONG: 'the path and query are longer than 8192 bytes',
  SYS_DLQ_UNSUPPORTED_MEDIA_TYPE: 'the body must be JSON: content-type application/json',
  SYS_DLQ_PRECONDITION_REQUIRED: 'send the ETag of the message as If-Match',
  SYS_DLQ_TOO_MANY_REQUESTS: 'too many requests; try again in a moment',
  SYS_DLQ_HEADERS_TOO_LARGE: 'the path, the query and the headers are together longer than 16384 bytes',
  SYS_DLQ_INTERNAL_ERROR: 'internal error; the log has the details under this request id',
  SYS_DLQ_KAFKA_UNAVAILABLE:
    'no retrier has Kafka configured: set kafka.brokers, or retry.without_kafka for development',
  SYS_DLQ_UNAVAILABLE: 'the database does not answer; try again in a moment',
}

/** The codes that a route may answer with. */
export function faultsOf(route: Route): ApiErrorCode[] {
  const codes: ApiErrorCode[] = [
    ...(['SYS_DLQ_VALIDATION_ERROR', 'SYS_DLQ_FORBIDDEN', 'SYS_DLQ_URI_TOO_LONG'] as const),
    ...(['SYS_DLQ_HEADERS_TOO_LARGE', 'SYS_DLQ_INTERNAL_ERROR'] as const),
  ]
  if (route.method !== 'get')
    codes.push('SYS_DLQ_REQUEST_TIMEOUT', 'SYS_DLQ_PAYLOAD_TOO_LARGE', 'SYS_DLQ_UNSUPPORTED_MEDIA_TYPE')
  if (route.role !== null) {
    codes.push('SYS_DLQ_UNAUTHENTICATED', 'SYS_DLQ_TOO_MANY_REQUESTS', 'SYS_DLQ_UNAVAILABLE')
  }
  return [...new Set([...codes, ...(route.faults ?? [])])]
}

function errorsOf(route: Route, { path }: { path: string }): Json {
  const byStatus = Map.groupBy(faultsOf(route), (code) => statusOf[code])
  // An answer that the route declares itself takes precedence, such as the 503 of /readyz.
  const statuses = [...byStatus].filter(([status]) => !(status in route.answers)).sort(([a], [b]) => a - b)
  return Object.fromEntries(
    statuses.map(([status, codes]) => {
      const examples = codes.map((code) => [
        code,
        { value: { error: { code, message: errorExamples[code], request_id: 'req_abc123def456', details: [] } } },
      ])
      const content = { schema: { $ref: '#/components/schemas/Error' }, examples: Object.fromEntries(examples) }
      return [status, { description: `${codes.join(' or ')}, of ${path}`, content: { 'application/json': content } }]
    }),
  )
}

function convert(schema: v.GenericSchema, { mode, schemas }: { mode: 'input' | 'output'; schemas: Schemas }): Json {
  const {
    $schema: _,
    $defs: __,
    ...converted
  } = toJsonSchema(schema, {
    target: 'draft-2020-12',
    typeMode: mode,
    // The document omits checks that JSON Schema cannot express. The server makes them all the same.
    errorMode: 'ignore',
    definitions: schemas,
    ...(mode === 'input' && { overrideSchema: addDescriptions }),
    overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
  })
  return converted
}

/** A conversion of inputs ends at the first transformation, and leaves out a description behind it. */
function addDescriptions({
  valibotSchema,
  jsonSchema,
}: Parameters<NonNullable<ConversionConfig['overrideSchema']>>[0]) {
  for (const [name, entry] of Object.entries(entriesOf(valibotSchema as v.GenericSchema))) {
    const property = jsonSchema.properties?.[name]
    const description = descriptionOf(entry)
    if (typeof property === 'object' && description !== undefined) property.description ??= description
  }
  return undefined
}

function descriptionOf(schema: v.GenericSchema): string | undefined {
  const { wrapped } = schema as Inner
  return v.getDescription(schema) ?? (wrapped && descriptionOf(wrapped))
}

function without(schemas: Schemas, name: string): Schemas {
  const { [name]: _, ...others } = schemas
  return others
}

type Inner = Partial<{
  entries: Record<string, v.GenericSchema>
  item: v.GenericSchema
  wrapped: v.GenericSchema
  rest: v.GenericSchema
  value: v.GenericSchema
  options: readonly unknown[]
  items: readonly v.GenericSchema[]
  pipe: readonly { kind: string; type: string; title?: string }[]
}>

/** Every schema with a title, at any depth of the routes' answers, and every answer: generators make types of them. */
function titledSchemas(routes: readonly Route[]): Schemas {
  const found: Schemas = {}
  const seen = new Set<unknown>()
  const visit = (schema: unknown) => {
    if (typeof schema !== 'object' || schema === null || seen.has(schema)) return
    seen.add(schema)
    const { entries, item, wrapped, rest, value, options, items, pipe } = schema as Inner
    const title = pipe?.find(({ type }) => type === 'title')?.title
    if (title !== undefined) {
      if (found[title]) throw new Error(`two schemas are called ${title}`)
      found[title] = schema as v.GenericSchema
    }
    for (const inner of [
      ...Object.values(entries ?? {}),
      item,
      wrapped,
      rest,
      value,
      ...(options ?? []),
      ...(items ?? []),
    ])
      visit(inner)
    // The first entry of a pipe is the schema itself, without its title.
    for (const step of pipe?.slice(1) ?? []) visit(step)
  }
  visit(errorSchema)
  for (const { answers } of routes) for (const { schema } of Object.values(answers)) visit(schema)
  const named = new Set(Object.values(found))
  for (const route of routes) {
    const [first = '', ...rest] = operationId(route)
    for (const [status, { schema }] of Object.entries(route.answers)) {
      if (schema === undefined || named.has(schema)) continue
      const name = `${first.toUpperCase()}${rest.join('')}Answer`
      found[name in found ? `${name}${status}` : name] = schema
      named.add(schema)
    }
  }
  return found
}

function entriesOf(schema: v.GenericSchema): Record<string, v.GenericSchema> {
  return (schema as Inner).entries ?? {}
}

function isOptional(schema: v.GenericSchema): boolean {
  return ['optional', 'nullish', 'exact_optional'].includes(schema.type)
}

function isEmpty(schema: v.GenericSchema): boolean {
  const inner = (schema as Inner).wrapped ?? schema
  return inner.type === 'strict_object' && Object.keys(entriesOf(inner)).length === 0
}
