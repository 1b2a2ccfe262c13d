// Sends wrong input of each kind to every declared route: each answers 4xx in the form of every error, and
// none answers 500.

import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import * as v from 'valibot'
import { beforeAll, describe, expect, test } from 'vitest'
import { errorSchema } from '../http/api-error.ts'
import type { Route } from '../http/define-route.ts'
import { allRoutes } from '../routes/all-routes.ts'
import { createTestApp, type TestApp } from '../test-app.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const id = '550e8400-e29b-41d4-a716-446655440000'

let request: TestApp
beforeAll(async () => {
  request = createTestApp(service.sql)
  await insertMessageRow(database.sql, { id })
})

const values: Record<string, string> = {
  id,
  attempt_id: id,
  jobId: id,
  job: 'archive',
  topic: 'orders',
  pattern: 'orders.*',
  number: '1',
}
const pathOf = (route: Route, wrong: Record<string, string> = {}) =>
  route.path.replaceAll(/:(\w+)/g, (_, name: string) => wrong[name] ?? values[name] ?? '1')
const entriesOf = (schema: v.GenericSchema) => Object.keys('entries' in schema ? (schema.entries as object) : {})

async function expectRefused(
  route: Route,
  path: string,
  { status = 400, ...init }: RequestInit & { status?: number } = {},
) {
  const headers = { 'if-match': '*', prefer: 'wait=0', ...init.headers }
  const response = await request(`${route.method.toUpperCase()} ${path}`, { ...init, headers })
  const body = await response.json()
  expect({ status: response.status, body }, path).toMatchObject({
    status,
    body: { error: { message: expect.any(String) } },
  })
  expect(v.safeParse(errorSchema, body).success).toBe(true)
  return body as { error: { message: string; details: { field: string; message: string }[] } }
}

/** Declares the test only where it applies, so that no test passes without a check. */
function testWhere(applies: boolean, title: string, check: () => Promise<void>): void {
  if (applies) test(title, check)
}

const json = { 'content-type': 'application/json' }
const takingBodies = allRoutes.filter(({ method }) => method !== 'get')
const named = (routes: readonly Route[]) =>
  routes.map((route) => [`${route.method.toUpperCase()} ${route.path}`, route] as const)

describe.each(named(allRoutes))('%s', (_, route) => {
  test('refuses undeclared parameters by their names', async () => {
    for (const name of ['unknown', '__proto__', 'Page', 'page%00']) {
      const { error } = await expectRefused(route, `${pathOf(route)}?${name}=1`)
      expect(error.details).toEqual([
        expect.objectContaining({ message: `unknown query parameter: ${decodeURIComponent(name)}` }),
      ])
    }
  })

  testWhere(entriesOf(route.params).length > 0, 'refuses paths that make no sense', async () => {
    for (const name of entriesOf(route.params)) {
      for (const wrong of ['%00', '%ff', 'x'.repeat(600), '%ed%a0%80'])
        await expectRefused(route, pathOf(route, { [name]: wrong }))
      if (name === 'id')
        for (const wrong of ['not-a-uuid', '1', `${id}0`, "'--", '%F0%9F%9A%9A'])
          await expectRefused(route, pathOf(route, { id: wrong }))
    }
  })

  const single = entriesOf(route.query).filter((name) => !isList(route, name))
  testWhere(single.length > 0, 'refuses a parameter given twice', async () => {
    for (const name of single) {
      const { error } = await expectRefused(route, `${pathOf(route)}?${name}=1&${name}=2`)
      // Unless it is a list, of other names.
      expect(error.message).toMatch(new RegExp(`^${name}:? must be (.*given once|one or more of .*|ids of .*)$`))
    }
  })

  const texts = entriesOf(route.query).filter((name) => takes(route, name, 'x'))
  testWhere(texts.length > 0, 'never fails for a text that PostgreSQL does not hold', async () => {
    for (const name of texts) {
      const answer = await request(`${route.method.toUpperCase()} ${pathOf(route)}?${name}=x%00`)
      expect(answer.status, name).toBeLessThan(500)
    }
  })

  const times = single.filter((name) => takes(route, name, '2026-02-20T10:30:00Z') && !takes(route, name, 'yesterday'))
  testWhere(times.length > 0, 'refuses times whose year PostgreSQL does not take from us', async () => {
    for (const name of times)
      for (const time of ['9999-12-31T23:59:59-01:00', '0001-01-01T00:00:00%2B01:00']) {
        const { error } = await expectRefused(route, `${pathOf(route)}?${name}=${time}`)
        expect(error.details).toEqual([{ field: name, message: 'must be within the years 1 to 9999 (UTC)' }])
      }
  })

  test('refuses a query that is too long', async () => {
    await expectRefused(route, `${pathOf(route)}?unknown=${'x'.repeat(9000)}`, { status: 414 })
  })
})

function needsBody({ body }: Route): boolean {
  return !v.safeParse(body, undefined).success
}

test('some routes need a body and some do not', () => {
  expect(new Set(takingBodies.map(needsBody))).toEqual(new Set([true, false]))
})

/** Whether the parameter may be given several times. */
function isList(route: Route, name: string): boolean {
  return v.safeParse(route.query, { [name]: ['PENDING', 'DEAD'] }).success
}

/** Whether the parameter may have the value, whatever the route says of others. */
function takes(route: Route, name: string, value: string): boolean {
  const { issues = [] } = v.safeParse(route.query, { [name]: value })
  return issues.every((issue) => v.getDotPath(issue) !== name)
}

describe.each(named(allRoutes.filter(({ query }) => entriesOf(query).includes('page'))))('%s', (_, route) => {
  test.each(['page=0', 'page=-1', 'page=x', 'page_size=1000000000', 'page_size=0'])('refuses %s', async (query) => {
    const { error } = await expectRefused(route, `${pathOf(route)}?${query}`)
    expect(error.details).toHaveLength(1)
  })
})

describe.each(named(allRoutes.filter(({ query }) => entriesOf(query).includes('cursor'))))('%s', (_, route) => {
  test.each(['x', '%00', 'e30', `${'A'.repeat(300)}`, '00000000-0000-0000-0000-000000000000'])(
    'refuses the cursor %s',
    async (cursor) => {
      await expectRefused(route, `${pathOf(route)}?cursor=${cursor}`)
    },
  )
})

describe.each(named(takingBodies))('%s', (_, route) => {
  const path = pathOf(route)

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json; charset=latin1',
    'multipart/form-data',
    '',
  ])('refuses a body of the type "%s"', async (type) => {
    await expectRefused(route, path, { headers: { 'content-type': type }, body: new Blob(['{}']), status: 415 })
  })

  test.each([
    ['not JSON', '{'],
    ['two values', '{} {}'],
    ['a list', '[]'],
    ['null', 'null'],
    ['a number', '1'],
    ['not UTF-8', Buffer.from([0x7b, 0xff, 0x7d])],
    ['an unknown field', '{"unknown":1}'],
    ['a field called __proto__', '{"__proto__":{"force":true}}'],
    ['a value that nests too deeply', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`],
  ])('refuses a body that is %s', async (_, body) => {
    await expectRefused(route, path, { headers: json, body })
  })

  test('refuses ten megabytes', async () => {
    await expectRefused(route, path, { headers: json, body: Buffer.alloc(10_000_000, ' '), status: 413 })
  })

  testWhere(needsBody(route), 'refuses a request without a body', async () => {
    const { error } = await expectRefused(route, path, { headers: json })
    expect(error.message).toBe('a JSON body is required')
  })
})
