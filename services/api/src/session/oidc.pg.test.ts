// Signing in at a real identity provider, as a browser goes through it.

import { createServer, type Server } from 'node:http'
import { auth as authSchema } from 'dlq-core/runtime/config/auth-schema.ts'
import { loadConfig } from 'dlq-core/runtime/config/config.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { Provider } from 'oidc-provider'
import * as v from 'valibot'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createFindToken, createVerifyIdToken } from '../access/authenticate.ts'
import { prepareConsole } from '../console/prepare-console.ts'
import { ownPath } from '../console/serve-sign-in.ts'
import { makeTestBuild } from '../console/test-build.ts'
import { createTestApp } from '../test-app.ts'
import { createOidc } from './oidc.ts'
import { createSeal } from './seal.ts'
import { createSessions } from './sessions.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const build = makeTestBuild()
const publicUrl = 'https://ops.example.com/dlq'
const client = { id: 'dlq-console', secret: 'a secret of the client, and no other' }
const key = 'k'.repeat(32)

let server: Server
let issuer = ''

beforeAll(async () => {
  server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  issuer = `http://127.0.0.1:${(server.address() as { port: number }).port}`
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [`${publicUrl}/console/callback`],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    claims: { openid: ['sub'], roles: ['roles', 'dlq_topics'] },
    conformIdTokenClaims: false,
    cookies: { keys: ['a key of the provider'] },
    pkce: { required: () => true },
    features: { devInteractions: { enabled: true } },
    findAccount: (_, sub) => ({
      accountId: sub,
      claims: () => ({
        sub,
        ...(sub !== 'stranger' && { roles: ['sys_operator'] }),
        ...(sub === 'limited' && { dlq_topics: ['payments.*'] }),
        ...(sub === 'everywhere' && { dlq_topics: Array.from({ length: 300 }, (_, n) => `orders.events.v${n}`) }),
      }),
    }),
  })
  server.on('request', provider.callback())
})

afterAll(async () => {
  build.remove()
  await new Promise((resolve) => server.close(resolve).closeAllConnections())
})

function createApi(settings: { secret?: string; seal?: string; issuer?: string; now?: () => number } = {}) {
  const jwt = { issuer: settings.issuer ?? issuer, audience: 'dlq-manager', jwks_url: `${issuer}/jwks` }
  const oidc = { client_id: client.id, client_secret: settings.secret ?? client.secret, scopes: ['openid', 'roles'] }
  const config = v.parse(authSchema, { jwt, oidc })
  const seal = createSeal(settings.seal ?? key)
  const { now = Date.now } = settings
  const yaml = JSON.stringify({ server: { public_url: publicUrl } })
  const log = createLog({ service: 'api', level: 'silent' })
  return createTestApp(service.sql, {
    auth: { jwt, oidc },
    publicUrl,
    sessions: createSessions({ auth: config, seal, findToken: createFindToken([]), now }),
    oidc: createOidc({ auth: config, seal, verifyIdToken: createVerifyIdToken(config), now }),
    ...prepareConsole(loadConfig({ env: {}, yaml, needs: [] }).config, log, build.folder),
  })
}

type Api = ReturnType<typeof createApi>

const cookiesOf = (answer: Response) => answer.headers.getSetCookie().map((cookie) => cookie.split(';')[0]!)

async function begin(api: Api, returnTo = '/dlq/console/groups?state=open') {
  const answer = await api(`GET /console/login?${new URLSearchParams({ return: returnTo })}`)
  expect(answer.status).toBe(302)
  const [cookie] = answer.headers.getSetCookie()
  expect(cookie).toMatch(/^__Host-dlq-login=\S+; Path=\/; Max-Age=300; HttpOnly; Secure; SameSite=Lax$/)
  return { location: new URL(answer.headers.get('location')!), cookie: cookie!.split(';')[0]! }
}

/** Follows the provider's pages as its user does, until it sends the browser back to us. */
async function signInAt(start: URL, login: string): Promise<URL> {
  const jar = new Map<string, string>()
  let request: { url: URL; body?: URLSearchParams } = { url: start }
  for (let pages = 0; pages < 12; pages++) {
    const answer = await fetch(request.url, {
      redirect: 'manual',
      headers: { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(request.body && { method: 'POST', body: request.body }),
    })
    for (const cookie of cookiesOf(answer)) {
      const at = cookie.indexOf('=')
      jar.set(cookie.slice(0, at), cookie.slice(at + 1))
    }
    const location = answer.headers.get('location')
    if (location !== null) {
      const url = new URL(location, request.url)
      if (url.href.startsWith(publicUrl)) return url
      request = { url }
      continue
    }
    const html = await answer.text()
    const action = /<form[^>]* action="([^"]+)"/.exec(html)?.[1]
    const prompt = /name="prompt" value="(\w+)"/.exec(html)?.[1]
    if (!action || !prompt) throw new Error(`the provider answered ${answer.status}: ${html.slice(0, 500)}`)
    request = { url: new URL(action, request.url), body: new URLSearchParams({ prompt, login, password: 'any' }) }
  }
  throw new Error('the provider has more pages than expected')
}

const callback = (api: Api, { search }: URL, cookie: string) =>
  api(`GET /console/callback${search}`, { headers: { cookie, 'sec-fetch-site': 'cross-site' } })

async function signIn(login: string, api = createApi()) {
  const { location, cookie } = await begin(api)
  const came = await signInAt(location, login)
  return { came, cookie, answer: await callback(api, came, cookie) }
}

test('who signs in at the provider comes back to the page where they were, with a session', async () => {
  const api = createApi()
  const { answer } = await signIn('maria', api)
  expect([answer.status, answer.headers.get('location')]).toEqual([302, '/dlq/console/groups?state=open'])
  const [ended, session] = answer.headers.getSetCookie()
  expect(ended).toMatch(/^__Host-dlq-login=; .*Max-Age=0/)
  expect(session).toMatch(/^__Host-dlq-session=\S+; Path=\/; Max-Age=28[78]\d\d; HttpOnly; Secure; SameSite=Strict$/)
  const headers = { cookie: session!.split(';')[0]! }
  expect((await api('GET /api/v1/messages', { headers })).status).toBe(200)
  const own = { ...headers, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' }
  const body = JSON.stringify({ original_topic: 'payments.events', error_message: 'x' })
  expect((await api('POST /api/v1/dlq/messages', { headers: own, body })).status).toBe(201)
  const [entry] = await database.sql`select actor from dlq.dlq_audit`
  expect(entry!.actor).toBe(`oidc:${new URL(issuer).host}:maria`)
  // Only for all of auth.session.ttl, and only while the provider is the same one.
  const later = createApi({ now: () => Date.now() + 8.1 * 3_600_000 })
  expect((await later('GET /api/v1/messages', { headers })).status).toBe(401)
  const elsewhere = createApi({ issuer: 'https://id.example.com' })
  expect((await elsewhere('GET /api/v1/messages', { headers })).status).toBe(401)
})

test('topics of the ID token limit the session', async () => {
  const api = createApi()
  const { answer } = await signIn('limited', api)
  const headers = { cookie: cookiesOf(answer)[1]!, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' }
  const body = JSON.stringify({ original_topic: 'orders', error_message: 'x' })
  expect((await api('POST /api/v1/dlq/messages', { headers, body })).status).toBe(403)
})

describe('nobody is signed in', () => {
  const failed = async (answer: Response, error: string) => {
    expect(answer.status).toBe(302)
    expect(answer.headers.get('location')).toMatch(new RegExp(`^/dlq/console/sign-in\\?error=${error}&return=`))
    expect(answer.headers.getSetCookie().join()).not.toContain('dlq-session')
  }

  test('who has none of the roles', async () => {
    await failed((await signIn('stranger')).answer, 'no-role')
  })

  test('by a callback that this browser has not asked for, or asked for too long ago', async () => {
    const { came, cookie } = await signIn('maria')
    await failed(await callback(createApi(), came, ''), 'expired')
    await failed(await callback(createApi({ now: () => Date.now() + 301_000 }), came, cookie), 'expired')
    await failed(await callback(createApi({ seal: 'another key of thirty-two letters' }), came, cookie), 'expired')
    const other = await begin(createApi())
    await failed(await callback(createApi(), came, other.cookie), 'provider')
  })

  test('twice by one code', async () => {
    const { came, cookie } = await signIn('maria')
    await failed(await callback(createApi(), came, cookie), 'provider')
  })

  test('where the provider refuses, or the client is not the one it knows', async () => {
    const { location, cookie } = await begin(createApi())
    const state = location.searchParams.get('state')!
    const denied = new URL(`${publicUrl}/console/callback`)
    denied.search = new URLSearchParams({ error: 'access_denied', state, iss: issuer }).toString()
    await failed(await callback(createApi(), denied, cookie), 'refused')
    await failed((await signIn('maria', createApi({ secret: 'wrong' }))).answer, 'provider')
  })

  test('whose topics no cookie can hold', async () => {
    await failed((await signIn('everywhere')).answer, 'too-many-topics')
  })

  test('while the provider is away', async () => {
    const away = createApi({ issuer: 'http://127.0.0.1:9' })
    await failed(await away('GET /console/login?return=/dlq/console/'), 'provider')
  })
})

test('from a page whose address no cookie can hold, people come to the first page', async () => {
  const api = createApi()
  const { location, cookie } = await begin(api, `/dlq/console/messages?q=${'x'.repeat(5000)}`)
  expect(cookie.length).toBeLessThan(4096)
  const answer = await callback(api, await signInAt(location, 'maria'), cookie)
  expect(answer.headers.get('location')).toBe('/dlq/console/')
})

test('another replica with the same key may answer the callback', async () => {
  const { location, cookie } = await begin(createApi())
  const answer = await callback(createApi(), await signInAt(location, 'maria'), cookie)
  expect(answer.headers.get('location')).toBe('/dlq/console/groups?state=open')
})

test.each([
  ['/dlq/console/topics/a%2Fb?x=1#y', '/dlq/console/topics/a%2Fb?x=1#y'],
  ['/dlq/console/../../api', '/dlq/console/'],
  ['https://evil.example.com/dlq/console/', '/dlq/console/'],
  ['//evil.example.com/dlq/console/', '/dlq/console/'],
  ['/\\evil.example.com', '/dlq/console/'],
  ['/dlq/console/%0d%0aset-cookie:x', '/dlq/console/%0d%0aset-cookie:x'],
  ['', '/dlq/console/'],
])('after signing in, %j leads to %j', (asked, path) => {
  expect(ownPath(asked, '/dlq/console/')).toBe(path)
})

test('without server.public_url only this machine’s names are believed', async () => {
  const config = v.parse(authSchema, {
    jwt: { issuer, audience: 'x', jwks_url: `${issuer}/jwks` },
    oidc: { client_id: client.id },
  })
  const yaml = JSON.stringify({ auth: {} })
  const log = createLog({ service: 'api', level: 'silent' })
  const api = createTestApp(service.sql, {
    auth: { tokens: [{ name: 'a', sha256: 'a'.repeat(64), role: 'sys_admin' }] },
    oidc: createOidc({ auth: config, seal: createSeal(key), verifyIdToken: createVerifyIdToken(config) }),
    ...prepareConsole(loadConfig({ env: {}, yaml, needs: [] }).config, log, build.folder),
  })
  const ask = (host: string) => api('GET /console/login', { headers: { host } })
  expect((await ask('evil.example.com')).status).toBe(409)
  const local = new URL((await ask('127.0.0.1:8080')).headers.get('location')!)
  expect(local.searchParams.get('redirect_uri')).toBe('http://127.0.0.1:8080/console/callback')
})
