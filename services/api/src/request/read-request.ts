// Reads and validates the declared parts of a request. The answer has one fault per field, each with its remedy.

import { isUtf8 } from 'node:buffer'
import { setImmediate } from 'node:timers/promises'
import { createExactJson } from 'dlq-core/domain/record/exact-json.ts'
import { beyondJsonBounds } from 'dlq-core/domain/record/json-bounds.ts'
import type { HonoRequest } from 'hono'
import * as v from 'valibot'
import { ApiError, type ErrorDetail, invalidField } from '../http/api-error.ts'
import type { Call, Route } from '../http/define-route.ts'
import { bodyHasReason } from '../masks/unmask.ts'
import { misplacedLists } from './misplaced-lists.ts'
import { plainWords } from './plain-words.ts'

type Read = Pick<
  Call<v.GenericSchema, v.GenericSchema, v.GenericSchema, v.GenericSchema>,
  'params' | 'query' | 'headers' | 'body' | 'exactJson'
>

/** From this size on, a body's steps have other requests between them: at the bounds each takes some ten milliseconds. */
export const largeBody = 64 * 1024

/** @throws {ApiError} 400 with one detail per faulty field, 415 where the body is not JSON */
export async function readRequest(request: HonoRequest, bytes: Buffer, route: Route): Promise<Read> {
  const params = parse(route.params, request.param(), 'path')
  const query = parse(route.query, withoutUnmask(singles(request.queries()), route), 'query')
  const headers = parse(route.headers, declaredHeaders(route.headers, request), 'header')
  const text = bytes.length === 0 ? '' : readText(request, bytes)
  await letOthers(bytes)
  const body = parse(route.body, text === '' ? undefined : parseJson(text), 'body')
  await letOthers(bytes)
  const exactJson = createExactJson(text)
  return { params, query, headers, body, exactJson: (...path) => exactJson(path) }
}

/** Between two steps of work on a large body: whoever else waits is answered. */
export async function letOthers({ length }: { length: number }): Promise<void> {
  if (length >= largeBody) await setImmediate()
}

/** What asks to see behind masks is no part of the route's own query (masks/unmask.ts). */
function withoutUnmask(query: Record<string, unknown>, route: Route): Record<string, unknown> {
  if (route.masks === 'none') return query
  const { unmask, reason, ...rest } = query
  // Beside a body that has one, the reason of a change would be taken for given, and lost.
  return reason !== undefined && unmask === undefined && bodyHasReason(route) ? { ...rest, reason } : rest
}

/** A parameter given twice stays a list, which its schema refuses unless it wants one. */
function singles(queries: Record<string, string[]>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(queries).map(([name, values]) => [name, values.length === 1 ? values[0] : values]),
  )
}

function declaredHeaders(schema: v.GenericSchema, request: HonoRequest): Record<string, string> {
  const entries = 'entries' in schema ? Object.keys(schema.entries as object) : []
  return Object.fromEntries(
    entries.flatMap((name) => {
      const value = request.header(name)
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

function readText(request: HonoRequest, bytes: Buffer): string {
  const type = request.header('content-type') ?? ''
  if (!/^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(type))
    throw new ApiError('SYS_DLQ_UNSUPPORTED_MEDIA_TYPE', 'the body must be JSON: content-type application/json')
  if (!isUtf8(bytes)) throw new ApiError('SYS_DLQ_VALIDATION_ERROR', 'the body is not UTF-8')
  const problem = beyondJsonBounds(bytes, 'the body')
  if (problem !== null) throw new ApiError('SYS_DLQ_VALIDATION_ERROR', problem)
  return bytes.toString('utf8')
}

/** Every body is an object; an array would pass for one without fields. */
function parseJson(text: string): unknown {
  const body = toJson(text)
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) {
    // Schemas do not see a field of this name.
    if (Object.hasOwn(body, '__proto__')) throw invalidField('__proto__', 'unknown field: __proto__')
    return body
  }
  throw new ApiError('SYS_DLQ_VALIDATION_ERROR', 'the body must be a JSON object', [
    { field: '', message: 'must be a JSON object' },
  ])
}

function toJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Without the parser's words, which quote the body.
    throw new ApiError('SYS_DLQ_VALIDATION_ERROR', 'the body is not JSON')
  }
}

type Place = 'path' | 'query' | 'header' | 'body'

function parse<Schema extends v.GenericSchema>(schema: Schema, input: unknown, place: Place): v.InferOutput<Schema> {
  const parsed = v.safeParse(schema, input, { message: plainWords })
  const lists = misplacedLists(schema, input)
  if (parsed.success && lists.length === 0) return parsed.output
  const details = new Map<string, ErrorDetail>(lists.map((field) => [field, { field, message: 'must be an object' }]))
  for (const issue of parsed.issues ?? []) {
    const field = v.getDotPath(issue) ?? ''
    const isWithin = lists.some((list) => field.startsWith(`${list}.`))
    if (!isWithin && !details.has(field)) details.set(field, { field, message: messageOf(issue, field, place) })
  }
  const message = [...details.values()].map(({ field, message }) => withField(field, message)).join('; ')
  // A fault of the path has one sentence and no details, as in the specification's example.
  throw new ApiError('SYS_DLQ_VALIDATION_ERROR', message, place === 'path' ? [] : [...details.values()])
}

function messageOf(issue: v.BaseIssue<unknown>, field: string, place: Place): string {
  if (field === '' && issue.received === 'undefined') return 'a JSON body is required'
  if (issue.type === 'strict_object' && issue.expected === 'never')
    return place === 'query' ? `unknown query parameter: ${field}` : `unknown field: ${field}`
  if (issue.type === 'strict_object' && issue.received === 'undefined') return `${field} is required`
  const isRepeated = place === 'query' && issue.kind === 'schema' && Array.isArray(issue.input)
  if (isRepeated && !issue.message.endsWith('given once')) return 'must be given once'
  return issue.message
}

function withField(field: string, message: string): string {
  const isNamed = message.startsWith(`${field} `) || message.endsWith(`: ${field}`) || message.startsWith('invalid ')
  return field === '' || isNamed ? message : `${field}: ${message}`
}
