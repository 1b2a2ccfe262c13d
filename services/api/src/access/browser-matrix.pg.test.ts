// Every declared route that changes something with every kind of page that a browser may show.

import { createHash } from 'node:crypto'
import { auth as authSchema } from 'dlq-core/runtime/config/auth-schema.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import * as v from 'valibot'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Route } from '../http/define-route.ts'
import { allRoutes } from '../routes/all-routes.ts'
import { createSeal } from '../session/seal.ts'
import { createSessions } from '../session/sessions.ts'
import { createTestApp, type TestApp, type TestAppOptions } from '../test-app.ts'
import { createAuthenticate, createFindToken } from './authenticate.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const id = '550e8400-e29b-41d4-a716-446655440000'

const host = 'localhost:8080'
const sha256 = createHash('sha256').update('secret').digest('hex')
const auth = { tokens: [{ name: 'admin', sha256, role: 'sys_admin' as const }] }
const bearer = { authorization: 'Bearer secret' }

const sites = {
  'same-origin': { 'sec-fetch-site': 'same-origin', origin: `http://${host}` },
  'same-site': { 'sec-fetch-site': 'same-site', origin: 'http://localhost:3000' },
  'cross-site': { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example.com' },
  none: { 'sec-fetch-site': 'none' },
} as const
const foreign = ['same-site', 'cross-site'] as const
const own = ['same-origin', 'none'] as const

// There are thousands of requests, and each application takes longer to make than to ask.
const open = once(() => createTestApp(service.sql))
const guarded = once(() => createTestApp(service.sql, { auth }))

/** The application, and the cookie of an administrator's session with it. */
async function signIn(options: TestAppOptions = {}) {
  const config = v.parse(authSchema, auth)
  const sessions = createSessions({
    auth: config,
    seal: createSeal(undefined),
    findToken: createFindToken(config.tokens),
  })
  const { cookie } = await sessions.begin(await createAuthenticate(config)('Bearer secret'), {
    publicUrl: undefined,
    host,
  })
  return { app: createTestApp(service.sql, { auth, sessions, ...options }), cookie: cookie.split(';')[0]! }
}
const signedIn = once(() => signIn())
const besidePagesOf = (site: 'same-site' | 'cross-site') => once(() => signIn({ corsOrigins: [sites[site].origin] }))
const signedInBeside = { 'same-site': besidePagesOf('same-site'), 'cross-site': besidePagesOf('cross-site') }

/** Calls `make` when it is first needed, because the database is there only in hooks and tests. */
function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** A request that the route would take. */
async function send(route: Route, headers: Record<string, string>, app: TestApp = open()): Promise<Response> {
  const values: Record<string, string> = { id, topic: 'orders', pattern: 'orders.*' }
  const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => values[name] ?? '1')
  const hasBody = route.bodyExample !== undefined
  return app(`${route.method.toUpperCase()} ${path}`, {
    headers: {
      host,
      ...(hasBody && { 'content-type': 'application/json' }),
      'if-match': '*',
      prefer: 'wait=0',
      ...headers,
    },
    ...(hasBody && { body: JSON.stringify(route.bodyExample) }),
  })
}

/** The same with the session of an administrator. */
async function sendWithSession(route: Route, headers: Record<string, string>, session = signedIn()) {
  const { app, cookie } = await session
  return send(route, { ...headers, cookie }, app)
}

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_attempts', 'dlq.dlq_messages', 'dlq.dlq_audit')
  await insertMessageRow(database.sql, { id, original_topic: 'orders' })
})

const unsafe = allRoutes.filter(({ method }) => method !== 'get')
const named = unsafe.map((route) => [`${route.method.toUpperCase()} ${route.path}`, route] as const)

test('there are routes that change something', () => {
  expect(unsafe.length).toBeGreaterThan(15)
})

/** 429 as well, because the requests share an application, which counts them. */
const refusals = [403, 429]

describe.each(named)('%s', (_, route) => {
  test.each(foreign)('is refused to a %s page without authentication, and changes nothing', async (site) => {
    const both = sites[site]
    const { origin, 'sec-fetch-site': fetchSite } = both
    for (const headers of [both, { origin }, { 'sec-fetch-site': fetchSite }, { origin: 'null' }])
      expect((await send(route, headers)).status, JSON.stringify(headers)).toBe(403)
    expect(await database.sql`select from dlq.dlq_audit`).toHaveLength(0)
    expect(await database.sql`select from dlq.dlq_messages where status = 'PENDING'`).toHaveLength(1)
  })

  test.each(own)('is open to a %s page without authentication', async (site) => {
    expect(refusals).not.toContain((await send(route, sites[site])).status)
  })

  test.each(foreign)(
    'is refused to a %s page with a cookie, and open to who has a token, with authentication',
    async (site) => {
      expect((await send(route, { ...sites[site], cookie: 'session=secret' }, guarded())).status).toBe(403)
      expect(refusals).not.toContain((await send(route, { ...sites[site], ...bearer }, guarded())).status)
    },
  )

  test.each(foreign)('is refused to a %s page with a session, and changes nothing', async (site) => {
    const both = sites[site]
    const { origin, 'sec-fetch-site': fetchSite } = both
    const beside = signedInBeside[site]()
    for (const headers of [both, { origin }, { 'sec-fetch-site': fetchSite }, { origin: 'null' }]) {
      expect((await sendWithSession(route, headers)).status, JSON.stringify(headers)).toBe(403)
      // Origins that may use the API need a token.
      expect((await sendWithSession(route, headers, beside)).status, JSON.stringify(headers)).toBe(403)
    }
    expect(await database.sql`select from dlq.dlq_audit`).toHaveLength(0)
    expect(await database.sql`select from dlq.dlq_messages where status = 'PENDING'`).toHaveLength(1)
  })

  test('is refused with a session where no header says that the page is the API’s own', async () => {
    for (const headers of [{}, sites.none, { origin: 'http://localhost:8081' }])
      expect((await sendWithSession(route, headers)).status, JSON.stringify(headers)).toBe(403)
  })

  test('is open to the API’s own page with a session', async () => {
    const both = sites['same-origin']
    for (const headers of [both, { 'sec-fetch-site': both['sec-fetch-site'] }, { origin: both.origin }])
      expect([401, ...refusals], JSON.stringify(headers)).not.toContain((await sendWithSession(route, headers)).status)
  })

  test.each(own)('needs a token from a %s page with authentication', async (site) => {
    const { status } = await send(route, { ...sites[site], cookie: 'dlq-session=secret' }, guarded())
    // Who is nobody may take their cookie away.
    if (route.role === null) expect(status).toBe(site === 'same-origin' ? 204 : 403)
    else expect(status).toBe(site === 'same-origin' ? 401 : 403)
    if (route.role !== null)
      expect((await send(route, { ...sites[site], cookie: 'session=secret' }, guarded())).status).toBe(401)
    expect(refusals).not.toContain((await send(route, { ...sites[site], ...bearer }, guarded())).status)
  })
})

const get = async (headers: Record<string, string>, options: TestAppOptions | null = null, path = '/api/v1/messages') =>
  (await (options === null ? open() : createTestApp(service.sql, options))(`GET ${path}`, { headers })).status

test.each(allRoutes.filter(({ method }) => method === 'get').map(({ path }) => path))(
  'without authentication, GET %s is refused under a foreign host, as DNS rebinding has it',
  async (path) => {
    const asked = path.replaceAll(/:(\w+)/g, (_, name: string) => (name === 'id' ? id : '1'))
    expect(await get({ host: 'evil.example.com:8080' }, null, asked)).toBe(403)
  },
)

test.each([
  ['localhost', 200],
  ['LOCALHOST:8080', 200],
  ['127.0.0.1:8080', 200],
  ['127.1.2.3', 200],
  ['[::1]:8080', 200],
  ['localhost.evil.example.com', 403],
  ['127.0.0.1.evil.example.com', 403],
  ['evil-localhost', 403],
  ['10.0.0.1:8080', 403],
  ['dlq.example.com', 403],
])('without authentication, the host %s answers %i', async (host, status) => {
  expect(await get({ host })).toBe(status)
})

test('server.allowed_hosts and the host of server.public_url are the API’s own as well', async () => {
  const named = { allowedHosts: ['dlq.internal'], publicUrl: 'https://dlq.example.com' }
  for (const host of ['dlq.internal:8080', 'DLQ.example.com']) expect(await get({ host }, named)).toBe(200)
  expect(await get({ host: 'evil.example.com' }, named)).toBe(403)
  // With authentication any name will do, unless somebody has said which.
  expect(await get({ host: 'any.example.com', ...bearer }, { auth })).toBe(200)
  expect(await get({ host: 'any.example.com', ...bearer }, { auth, allowedHosts: ['dlq.internal'] })).toBe(403)
  expect(await get({ host: '10.1.2.3:8080' }, { auth, allowedHosts: ['dlq.internal'] }, '/healthz')).toBe(200)
})

test('a page at server.public_url, or of server.cors_origins, is the API’s own behind a proxy that names another host', async () => {
  const route = unsafe.find(({ path }) => path === '/api/v1/dlq/messages/:id/dead')!
  const page = (origin: string, site: string) => ({ origin, 'sec-fetch-site': site })
  const named = createTestApp(service.sql, {
    publicUrl: 'https://dlq.example.com/',
    corsOrigins: ['https://console.example.com'],
  })
  expect((await send(route, page('https://dlq.example.com', 'same-origin'))).status).toBe(403)
  expect((await send(route, page('https://dlq.example.com', 'same-origin'), named)).status).toBe(200)
  expect((await send(route, page('https://console.example.com', 'cross-site'), named)).status).toBe(409)
  expect((await send(route, page('https://other.example.com', 'same-site'), named)).status).toBe(403)
})

test('who is no browser sends neither header, and is let in', async () => {
  const route = unsafe.find(({ path }) => path === '/api/v1/dlq/messages/:id/dead')!
  expect((await send(route, {})).status).toBe(200)
})

test('a page of server.cors_origins may send all that routes take, and read all that they answer with', async () => {
  const origin = 'https://console.example.com'
  const ask = async (of: string, more: Record<string, string> = {}, corsOrigins = [origin]) =>
    createTestApp(service.sql, { auth, corsOrigins })(of, { headers: { host, origin, ...more } })
  const listed = (answer: Response, name: string) =>
    answer.headers.get(`access-control-${name}`)?.toLowerCase().split(',').sort()
  const sorted = (names: string[]) => [...new Set(names.map((name) => name.toLowerCase()))].sort()

  const preflight = await ask('OPTIONS /api/v1/messages', { 'access-control-request-method': 'PATCH' })
  expect(preflight.status).toBe(204)
  expect(preflight.headers.get('access-control-allow-origin')).toBe(origin)
  expect(preflight.headers.get('access-control-max-age')).toBe('600')
  expect(listed(preflight, 'allow-methods')).toEqual(['delete', 'get', 'head', 'patch', 'post', 'put'])
  const read = allRoutes.flatMap(({ headers }) => Object.keys((headers as unknown as { entries: object }).entries))
  const ofAll = ['authorization', 'content-type', 'traceparent', 'x-request-id']
  expect(listed(preflight, 'allow-headers')).toEqual(sorted([...ofAll, ...read]))
  const told = allRoutes.flatMap(({ answers }) =>
    Object.values(answers).flatMap(({ headers = {} }) => Object.keys(headers)),
  )

  // Also of a fault, so that the page can tell it from a network that is down.
  for (const [headers, status] of [
    [bearer, 200],
    [{}, 401],
  ] as const) {
    const answer = await ask('GET /api/v1/messages', headers)
    expect(answer.status).toBe(status)
    expect(answer.headers.get('access-control-allow-origin')).toBe(origin)
    expect(answer.headers.get('vary')).toContain('Origin')
    // No page ever reads Set-Cookie.
    expect(sorted([...listed(answer, 'expose-headers')!, 'set-cookie'])).toEqual(
      sorted([...told, 'retry-after', 'x-request-id']),
    )
  }
  for (const [headers, origins] of [
    [{ origin: 'https://other.example.com' }, [origin]],
    [{}, []],
  ] as const) {
    const answer = await ask('GET /api/v1/messages', { ...bearer, ...headers }, [...origins])
    expect(answer.headers.has('access-control-allow-origin')).toBe(false)
  }
})
