// Values of every type for every declared field: no answer has the words of the library that found the fault.

import { HonoRequest } from 'hono/request'
import type * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { ApiError, type ErrorDetail } from '../http/api-error.ts'
import type { Route } from '../http/define-route.ts'
import { allRoutes } from '../routes/all-routes.ts'
import { readRequest } from './read-request.ts'

/** What is read of schemas of any kind. */
type Part = {
  kind: string
  type: string
  message?: unknown
  wrapped?: Part
  item?: Part
  entries?: Record<string, Part>
  options?: readonly (Part | string)[]
  pipe?: readonly Part[]
}
const partOf = (schema: v.GenericSchema) => schema as unknown as Part

/** The paths to all fields below, and what they must be. An entry of a list is `0`. */
function fieldsOf(part: Part, path: string[] = []): { path: string[]; part: Part }[] {
  if (part.wrapped) return fieldsOf(part.wrapped, path)
  const below = [...Object.entries(part.entries ?? {}), ...(part.item ? [['0', part.item] as const] : [])]
  const options = (part.options ?? []).filter((option) => typeof option === 'object')
  return [
    { path, part },
    ...below.flatMap(([key, entry]) => fieldsOf(entry, [...path, key])),
    ...options.flatMap((option) => fieldsOf(option, path)),
  ]
}

async function detailsOf(route: Route, { query = '', body = {} }: { query?: string; body?: unknown }) {
  const raw = new Request(`http://localhost/?${query}`, { headers: { 'content-type': 'application/json' } })
  const bytes = route.method === 'get' ? Buffer.alloc(0) : Buffer.from(JSON.stringify(body))
  try {
    const request = new HonoRequest(raw, '/', [[[undefined, {}]]] as never)
    await readRequest(request, bytes, { ...route, params: { ...route.params, entries: {} } as v.GenericSchema })
    return []
  } catch (error) {
    if (error instanceof ApiError) return [...error.details, { field: '', message: error.message }]
    throw error
  }
}

function expectPlain(details: readonly ErrorDetail[]): void {
  expect(details.filter(({ message }) => /Invalid \w+:|Expected |received /.test(message))).toEqual([])
}

const wrongValues = [null, true, -1, 0.5, '', 'x\0', [], [[]], ['x'], {}, { unknown: 1 }]

describe.each(allRoutes.map((route) => [`${route.method.toUpperCase()} ${route.path}`, route] as const))(
  '%s',
  (_, route) => {
    test('says in words of ours what each field of the body, and each parameter, must be', async () => {
      for (const { path } of fieldsOf(partOf(route.body)))
        for (const value of wrongValues) {
          const body = path
            .toReversed()
            .reduce<unknown>((inner, key) => (key === '0' ? [inner] : { [key]: inner }), value)
          expectPlain(await detailsOf(route, { body }))
        }
      for (const name of Object.keys(partOf(route.query).entries ?? {}))
        for (const query of [`${name}=%00`, `${name}=`, `${name}=-1`, `${name}=1&${name}=2`])
          expectPlain(await detailsOf(route, { query }))
    })

    test('has words for each rule of a field', () => {
      const parts = [route.params, route.query, route.headers, route.body].flatMap((schema) => fieldsOf(partOf(schema)))
      const rules = parts.flatMap(({ path, part }) => (part.pipe ?? []).map((rule) => ({ path, rule })))
      const silent = rules.filter(
        ({ rule }) => rule.kind === 'validation' && rule.type !== 'raw_check' && rule.message === undefined,
      )
      expect(silent.map(({ path, rule }) => `${path.join('.')}: ${rule.type}`)).toEqual([])
    })
  },
)

const startRun = allRoutes.find(({ method, path }) => method === 'post' && path === '/api/v1/runs')!
const listRuns = allRoutes.find(({ method, path }) => method === 'get' && path === '/api/v1/runs')!

test.each([
  [{ kind: 'retry', selection: [] }, 'selection'],
  [{ kind: 'retry', selection: { filter: [] } }, 'selection.filter'],
  [{ kind: 'retry', selection: { filter: ['x'] } }, 'selection.filter'],
  [{ kind: 'retry', selection: { group: '550e8400-e29b-41d4-a716-446655440000' }, canary: [] }, 'canary'],
])('a list is no object: %j', async (body, field) => {
  const message = 'must be an object'
  expect(await detailsOf(startRun, { body })).toEqual([
    { field, message },
    { field: '', message: `${field}: ${message}` },
  ])
})

test('names of which one is wanted are listed', async () => {
  const [detail] = await detailsOf(listRuns, { query: 'kind=x' })
  expect(detail).toEqual({ field: 'kind', message: expect.stringMatching(/^must be one of retry, redirect, /) })
})
