// The console's files as the API serves them.

import { createServer } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { loadConfig } from 'dlq-core/runtime/config/config.ts'
import type { Config } from 'dlq-core/runtime/config/config-schema.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { listen } from 'dlq-core/runtime/operations-server.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { afterAll, describe, expect, test } from 'vitest'
import { createTestApp, type TestAppOptions } from '../test-app.ts'
import { prepareConsole } from './prepare-console.ts'
import { makeTestBuild, testScript } from './test-build.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const build = makeTestBuild()
afterAll(() => build.remove())

const sha256 = 'a'.repeat(64)
const log = createLog({ service: 'api', level: 'silent' })

function configOf(yaml: string): Config {
  return loadConfig({ env: {}, yaml, needs: [] }).config
}

function withConsole(yaml = '', options: TestAppOptions = {}) {
  return createTestApp(service.sql, { ...options, ...prepareConsole(configOf(yaml), log, build.folder) })
}

const page = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const script = '/console/assets/index-C0ffee01.js'

test('the root, and /console, lead to the console', async () => {
  for (const path of ['/', '/console']) {
    const answer = await withConsole()(`GET ${path}`)
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/console/'])
  }
})

test('index.html is asked for again each time, and known by its ETag', async () => {
  const app = withConsole()
  const answer = await app('GET /console/')
  expect(answer.status).toBe(200)
  expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(answer.headers.get('cache-control')).toBe('no-cache')
  const text = await answer.text()
  expect(text).toContain('<base href="/console/">')
  expect(text).toContain('src="/console/assets/index-C0ffee01.js"')
  const etag = answer.headers.get('etag')!
  const again = await app('GET /console/', { headers: { 'if-none-match': `"other", W/${etag}` } })
  expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', etag])
  expect((await app('GET /console/index.html')).status).toBe(200)
  const head = await app('HEAD /console/')
  expect([head.status, await head.text()]).toEqual([200, ''])
})

test('the policy lets nothing in from elsewhere, and nothing inline', async () => {
  const { headers } = await withConsole()('GET /console/')
  expect(headers.get('content-security-policy')).toBe(
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; connect-src 'self'; worker-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types dlq-worker",
  )
  expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
  expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
  expect(headers.get('referrer-policy')).toBe('no-referrer')
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  const framed = await withConsole('console: { frame_ancestors: ["https://portal.example.com"] }')('GET /console/')
  expect(framed.headers.get('content-security-policy')).toContain('frame-ancestors https://portal.example.com;')
})

test('answers of the API keep their own policy, and are not stored', async () => {
  const { headers } = await withConsole()('GET /console/config.json')
  expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'")
  expect(headers.get('cache-control')).toBe('no-store')
})

describe('a file with a hash in its name', () => {
  test('may be kept for ever', async () => {
    const answer = await withConsole()(`GET ${script}`)
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(answer.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(await answer.text()).toBe(testScript)
  })

  test.each([
    ['br, gzip', 'br', brotliDecompressSync],
    ['gzip, deflate', 'gzip', gunzipSync],
    ['br;q=0, gzip;q=0.5', 'gzip', gunzipSync],
    ['identity', null, (bytes: Buffer) => bytes],
  ])('comes to who takes %j as %j', async (accepted, coding, unpack) => {
    const answer = await withConsole()(`GET ${script}`, { headers: { 'accept-encoding': accepted } })
    expect(answer.headers.get('content-encoding')).toBe(coding)
    expect(answer.headers.get('vary')).toBe('Accept-Encoding')
    const bytes = Buffer.from(await answer.arrayBuffer())
    expect(Number(answer.headers.get('content-length'))).toBe(bytes.length)
    expect(unpack(bytes).toString()).toBe(testScript)
  })

  test('of an earlier build is not found, and index.html does not stand for it', async () => {
    const answer = await withConsole()('GET /console/assets/index-earlier.js', { headers: page })
    expect(answer.status).toBe(404)
  })
})

test.each(['/console/groups/550e8400', '/console/topics/a%2Fb', '/console/messages?status=DEAD'])(
  '%s is a page of the console',
  async (path) => {
    const answer = await withConsole()(`GET ${path}`, { headers: page })
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-cache'])
    expect(await answer.text()).toContain('<base href="/console/">')
    expect((await withConsole()(`GET ${path}`, { headers: { accept: '*/*' } })).status).toBe(404)
  },
)

test.each([
  '/console/../.env',
  '/console/..%2f.env',
  '/console/%2e%2e/.env',
  '/console/assets/..%2f..%2f.env',
  '/console/.vite/manifest.json',
  '/console//etc/passwd',
  '/console/assets',
  '/console/assets/',
  `${script}.br`,
  '/console/constructor',
])('%s leads to no file', async (path) => {
  const answer = await withConsole()(`GET ${path}`)
  expect(answer.status).toBe(404)
  expect(await answer.text()).toContain('SYS_DLQ_NOT_FOUND')
})

test('needs no token, whatever the API needs, and takes nothing but GET', async () => {
  const auth = { tokens: [{ name: 'a', sha256, role: 'sys_admin' as const }] }
  const app = withConsole('', { auth })
  for (const path of ['/', '/console/', script, '/console/config.json'])
    expect((await app(`GET ${path}`)).status, path).toBeLessThan(400)
  expect((await app('GET /api/v1/messages')).status).toBe(401)
  expect((await app('POST /console/', { headers: { cookie: 'dlq-session=x' } })).status).toBe(403)
})

test('server.console turns it off, and so does a build that is missing', async () => {
  const none = prepareConsole(configOf(''), log, `${build.folder}/nothing`)
  for (const off of [prepareConsole(configOf('server: { console: false }'), log, build.folder), none]) {
    expect(off).toEqual({ console: undefined, consoleConfig: null })
    const app = createTestApp(service.sql, off)
    for (const path of ['/', '/console/', script, '/console/config.json'])
      expect((await app(`GET ${path}`, { headers: page })).status, path).toBe(404)
  }
})

describe('config.json', () => {
  const ask = async (yaml: string) => (await withConsole(yaml)('GET /console/config.json')).json()

  test('says what the console needs before somebody signs in', async () => {
    expect(await ask('app: { environment: production }')).toEqual({
      version: '0.1.0',
      build: expect.stringMatching(/^[0-9a-f]{12}$/),
      environment: 'production',
      title: 'dlq-manager',
      sign_in: [],
      links: { trace: null, source: null, ticket: null, logs: null },
      payloads: 'shown',
      deployments: [],
    })
    const deployments = [{ name: 'Europe', url: 'https://dlq.eu.example.com/dlq' }]
    expect(await ask(`console: { deployments: ${JSON.stringify(deployments)} }`)).toMatchObject({ deployments })
    const links = 'links: { trace: "https://traces.example.com/{trace_id}" }'
    expect(await ask(`console: { title: Payments, payloads: hidden, ${links} }`)).toMatchObject({
      title: 'Payments',
      payloads: 'hidden',
      links: { trace: 'https://traces.example.com/{trace_id}', source: null },
    })
  })

  test('names the ways to sign in', async () => {
    const tokens = `tokens: [{ name: a, sha256: ${sha256}, role: sys_admin }]`
    const jwt = 'jwt: { issuer: "https://id.example.com", audience: dlq, jwks_url: "https://id.example.com/jwks" }'
    expect(await ask(`auth: { ${tokens} }`)).toMatchObject({ sign_in: ['token'] })
    expect(await ask(`auth: { ${jwt}, oidc: { client_id: dlq } }`)).toMatchObject({ sign_in: ['oidc', 'token'] })
  })
})

test('behind a proxy that strips a prefix, the page finds its files, the API and its own addresses', async () => {
  const app = withConsole('server: { public_url: "https://ops.example.com/dlq/" }')
  const proxy = createServer((request, response) => {
    void (async () => {
      const path = request.url!.replace(/^\/dlq/, '')
      const answer = request.url!.startsWith('/dlq/') ? await app(`GET ${path}`, { headers: page }) : null
      response.writeHead(answer?.status ?? 404, Object.fromEntries(answer?.headers ?? []))
      response.end(answer && Buffer.from(await answer.arrayBuffer()))
    })()
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  try {
    const { port } = proxy.address() as { port: number }
    const at = (path: string) => new URL(path, `http://127.0.0.1:${port}`).href
    const first = await fetch(at('/dlq/'))
    expect(new URL(first.url).pathname).toBe('/dlq/console/')
    const html = await first.text()
    const base = /<base href="([^"]+)">/.exec(html)![1]!
    expect(base).toBe('/dlq/console/')
    for (const [, address] of html.matchAll(/ (?:src|href)="([^"]+)"/g))
      expect((await fetch(new URL(address!, at(base)))).status, address).toBe(200)
    expect((await fetch(new URL('config.json', at(base)))).status).toBe(200)
    expect((await fetch(new URL('../healthz', at(base)))).status).toBe(200)
  } finally {
    proxy.close()
  }
})

test('over a real connection a file arrives with its length and once compressed', async () => {
  const app = withConsole()
  const server = await listen(
    { fetch: (request: Request) => app(`GET ${new URL(request.url).pathname}`, { headers: request.headers }) },
    { host: '127.0.0.1', port: 0, keep_alive: 1000 },
  )
  try {
    const answer = await fetch(`${server.url}${script}`, { headers: { 'accept-encoding': 'br' } })
    expect(answer.headers.get('content-encoding')).toBe('br')
    expect(await answer.text()).toBe(testScript)
  } finally {
    await server.close()
  }
})
