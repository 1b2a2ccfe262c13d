// The single rules of the guard. browser-matrix.pg.test.ts has every route behind it.

import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { sendError } from '../http/api-error.ts'
import type { ApiEnv } from '../http/define-route.ts'
import { type BrowserGuardDeps, createBrowserGuard } from './browser-guard.ts'

const local = 'localhost:8080'
const page = (origin: string, site?: string) => ({ origin, ...(site && { 'sec-fetch-site': site }) })

async function statusOf(
  method: string,
  headers: Record<string, string>,
  deps: Partial<BrowserGuardDeps> = {},
  path = '/',
) {
  const guard = createBrowserGuard({ isAuthenticated: true, corsOrigins: [], probed: new Set(['/healthz']), ...deps })
  const app = new Hono<ApiEnv>().use(guard).all('*', (c) => c.body(null, 204))
  app.onError((error, c) => sendError(c, error as never))
  return (await app.request(path, { method, headers: { host: local, ...headers } })).status
}

test.each([
  ['GET', 204],
  ['HEAD', 204],
  ['OPTIONS', 204],
  ['POST', 403],
  ['PUT', 403],
  ['PATCH', 403],
  ['DELETE', 403],
])('%s of another page is answered %i', async (method, status) => {
  expect(await statusOf(method, page('https://evil.example.com', 'cross-site'))).toBe(status)
})

test.each(['authorization', 'x-broker-channel-token', 'x-broker-consumer-token'])(
  'the header %s lets another page change things with authentication alone',
  async (name) => {
    const headers = { ...page('https://evil.example.com'), [name]: '' }
    expect(await statusOf('POST', headers)).toBe(204)
    expect(await statusOf('POST', headers, { isAuthenticated: false })).toBe(403)
  },
)

test.each([
  [`http://${local}`, 204],
  [`https://${local}`, 204],
  ['http://localhost', 403],
  ['http://localhost:8081', 403],
  [`http://evil.${local}`, 403],
  ['null', 403],
])('a change from the origin %s is answered %i, with and without a session', async (origin, status) => {
  expect(await statusOf('POST', page(origin))).toBe(status)
  expect(await statusOf('POST', { ...page(origin), cookie: 'dlq-session=x' })).toBe(status)
})

test('what the browser says of the page counts before its origin, where nobody has named that', async () => {
  expect(await statusOf('POST', page(`http://${local}`, 'cross-site'))).toBe(403)
  const publicUrl = `http://${local}/dlq`
  expect(await statusOf('POST', page(`http://${local}`, 'cross-site'), { publicUrl })).toBe(204)
  const session = { ...page(`http://${local}`, 'cross-site'), cookie: 'dlq-session=x' }
  expect(await statusOf('POST', session, { publicUrl })).toBe(403)
})

test('a session behind a proxy is proved by the origin of server.public_url alone', async () => {
  const publicUrl = 'https://dlq.example.com/'
  const corsOrigins = ['https://console.example.com']
  const ask = (origin: string, cookie: string) =>
    statusOf('POST', { ...page(origin), cookie }, { publicUrl, corsOrigins })
  expect(await ask('https://dlq.example.com', '__Host-dlq-session=x')).toBe(204)
  expect(await ask('https://console.example.com', '__Host-dlq-session=x')).toBe(403)
  expect(await ask('https://console.example.com', 'dlq-session=x')).toBe(204)
})

test('allowed hosts count in upper case too, with any port, and probes need none', async () => {
  const allowedHosts = ['DLQ.Internal']
  expect(await statusOf('GET', { host: 'dlq.internal:1234' }, { allowedHosts })).toBe(204)
  expect(await statusOf('GET', { host: local }, { allowedHosts })).toBe(204)
  expect(await statusOf('GET', { host: 'other.internal' }, { allowedHosts })).toBe(403)
  expect(await statusOf('GET', { host: 'other.internal' }, { allowedHosts }, '/healthz')).toBe(204)
  expect(await statusOf('GET', { host: 'other.internal' }, { isAuthenticated: false }, '/healthz')).toBe(403)
  expect(await statusOf('GET', { host: 'other.internal' })).toBe(204)
})
