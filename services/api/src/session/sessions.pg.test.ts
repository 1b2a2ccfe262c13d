// Sessions: from a token to a cookie and back, and how they end.

import { createHash } from 'node:crypto'
import { auth as authSchema } from 'dlq-core/runtime/config/auth-schema.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import * as v from 'valibot'
import { beforeAll, describe, expect, test } from 'vitest'
import { createFindToken } from '../access/authenticate.ts'
import { answerOf, createTestApp } from '../test-app.ts'
import { createSeal } from './seal.ts'
import { createSessions } from './sessions.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

const hour = 3_600_000
const start = Date.UTC(2030, 0, 1)
const key = 'k'.repeat(32)
const host = 'localhost:8080'

const token = (name: string, role: 'sys_auditor' | 'sys_operator' | 'sys_admin', rest = {}) => ({
  name,
  sha256: createHash('sha256').update(`secret-${name}`).digest('hex'),
  role,
  ...rest,
})
const guestUntil = new Date(start + hour / 2).toISOString()
const tokens = [
  token('maria', 'sys_operator'),
  token('limited', 'sys_admin', { topics: ['payments.*'] }),
  token('guest', 'sys_auditor', { expires_at: guestUntil }),
]

type Options = { tokens?: typeof tokens; key?: string; now?: () => number; publicUrl?: string }

/** An API of its own, as a replica or a later start is. */
function replica({ tokens: given = tokens, key: secret = key, now = () => start, publicUrl }: Options = {}) {
  const auth = { tokens: given }
  const config = v.parse(authSchema, auth)
  return createTestApp(service.sql, {
    auth,
    publicUrl,
    sessions: createSessions({
      auth: config,
      seal: createSeal(secret),
      findToken: createFindToken(config.tokens, { now }),
      now,
    }),
  })
}

async function signIn(name: string, app = replica(), headers: Record<string, string> = {}) {
  const answer = await app('POST /api/v1/session', {
    headers: { host, authorization: `Bearer secret-${name}`, ...headers },
  })
  expect(answer.status).toBe(201)
  const set = answer.headers.get('set-cookie')!
  return { set, cookie: set.split(';')[0]!, body: (await answer.json()) as { actor: string; expires_at: string } }
}

const read = async (app: ReturnType<typeof replica>, cookie: string, path = '/api/v1/messages') =>
  (await app(`GET ${path}`, { headers: { host, cookie } })).status

let id: string
beforeAll(async () => {
  id = await insertMessageRow(database.sql, { original_topic: 'orders', dlq_topic: 'orders.dlq.v1' })
})

test('a token becomes a cookie that no script can read, and the cookie stands for it', async () => {
  const { set, cookie, body } = await signIn('maria')
  expect(set).toMatch(/^dlq-session=[\w.-]+; Path=\/; Max-Age=28800; HttpOnly; SameSite=Strict$/)
  expect(set).not.toMatch(/maria|secret/)
  expect(body).toEqual({ actor: 'maria', expires_at: new Date(start + 8 * hour).toISOString() })
  expect(await read(replica(), cookie)).toBe(200)
  const made = await replica()(`POST /api/v1/dlq/messages/${id}/dead`, {
    headers: { host, cookie, 'sec-fetch-site': 'same-origin', 'if-match': '*' },
  })
  expect(made.status).toBe(200)
  const [entry] = await database.sql`select actor, role from dlq.dlq_audit`
  expect({ ...entry }).toEqual({ actor: 'maria', role: 'write' })
})

test('elsewhere than on this machine the cookie is bound to HTTPS and to the host', async () => {
  const far = 'dlq.example.com'
  const { set, cookie } = await signIn('maria', replica(), { host: far })
  expect(set).toMatch(/^__Host-dlq-session=\S+; Path=\/; Max-Age=28800; HttpOnly; Secure; SameSite=Strict$/)
  const ask = async (headers: Record<string, string>) => (await replica()('GET /api/v1/messages', { headers })).status
  expect(await ask({ host: far, cookie })).toBe(200)
  // A page on another port of this host could set the plain name.
  expect(await ask({ host: far, cookie: cookie.replace('__Host-', '') })).toBe(401)
  const behind = replica({ publicUrl: 'https://ops.example.com/dlq' })
  expect((await signIn('maria', behind)).set).toMatch(/^__Host-/)
})

test('a session has its token’s role and topics', async () => {
  const { cookie } = await signIn('limited')
  expect(await read(replica(), cookie, `/api/v1/dlq/messages/${id}`)).toBe(404)
  const operator = (await signIn('maria')).cookie
  expect(await read(replica(), operator, `/api/v1/dlq/messages/${id}`)).toBe(200)
  const headers = { host, cookie: operator, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' }
  const refused = await replica()('PUT /api/v1/policies/orders', { headers, body: '{"max_retries":1}' })
  expect(refused.status).toBe(403)
})

describe('a session ends', () => {
  test('after auth.session.ttl', async () => {
    const { cookie } = await signIn('maria')
    expect(await read(replica({ now: () => start + 8 * hour - 2000 }), cookie)).toBe(200)
    expect(await read(replica({ now: () => start + 8 * hour + 2000 }), cookie)).toBe(401)
  })

  test('with its token, at the latest', async () => {
    const { cookie, set, body } = await signIn('guest')
    expect(body.expires_at).toBe(guestUntil)
    expect(set).toContain('Max-Age=1800;')
    expect(await read(replica({ now: () => start + hour / 2 + 1 }), cookie)).toBe(401)
  })

  test('when its token is not configured any more, or is another one', async () => {
    const { cookie } = await signIn('maria')
    expect(await read(replica({ tokens: tokens.slice(1) }), cookie)).toBe(401)
    const replaced = { ...token('other', 'sys_operator'), name: 'maria' }
    expect(await read(replica({ tokens: [replaced] }), cookie)).toBe(401)
  })

  test('and has what its token may do now, not what it could do then', async () => {
    const { cookie } = await signIn('maria')
    const lesser = [token('maria', 'sys_auditor', { topics: ['payments.*'] })]
    expect(await read(replica({ tokens: lesser }), cookie, `/api/v1/dlq/messages/${id}`)).toBe(404)
  })

  test('by DELETE, also after it has ended', async () => {
    const { cookie } = await signIn('maria')
    for (const sent of [cookie, `${cookie}x`]) {
      const answer = await replica()('DELETE /api/v1/session', {
        headers: { host, cookie: sent, 'sec-fetch-site': 'same-origin' },
      })
      expect(answer.status).toBe(204)
      expect(answer.headers.get('set-cookie')).toBe('dlq-session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict')
    }
  })
})

test('replicas with one key open each other’s cookies; with keys of their own they do not', async () => {
  const { cookie } = await signIn('maria', replica())
  expect(await read(replica(), cookie)).toBe(200)
  expect(await read(replica({ key: 'another key of thirty-two letters' }), cookie)).toBe(401)
})

test('a cookie that somebody has changed, or made up, is none', async () => {
  const { cookie } = await signIn('maria')
  const [name, value] = cookie.split('=') as [string, string]
  const parts = value.split('.')
  const flip = (text: string) => (text.startsWith('A') ? 'B' : 'A') + text.slice(1)
  const tampered = [
    ...parts.keys().map((at) => parts.map((part, n) => (n === at ? flip(part) : part)).join('.')),
    parts.slice(0, 4).join('.'),
    'a.b.c.d.e',
    Buffer.from('{"alg":"none"}').toString('base64url'),
  ]
  for (const forged of tampered) expect(await read(replica(), `${name}=${forged}`), forged).toBe(401)
  // What was sealed for another purpose, with the same key, is no session.
  const claims = { token: tokens[0]!.sha256.slice(0, 32) }
  const times = { now: start, expiresAt: start + hour }
  expect(await read(replica(), `${name}=${await createSeal(key).close('login', claims, times)}`)).toBe(401)
  expect(await read(replica(), `${name}=${await createSeal(key).close('session', claims, times)}`)).toBe(200)
})

test('a token that is sent with the request wins over the session', async () => {
  const { cookie } = await signIn('limited')
  const answer = await replica()(`GET /api/v1/dlq/messages/${id}`, {
    headers: { host, cookie, authorization: 'Bearer secret-maria' },
  })
  expect(answer.status).toBe(200)
  expect(
    (await replica()('GET /api/v1/messages', { headers: { host, cookie, authorization: 'Bearer no' } })).status,
  ).toBe(401)
})

test('a session is not begun with a session, nor without authentication', async () => {
  const { cookie } = await signIn('maria')
  const headers = { host, cookie, 'sec-fetch-site': 'same-origin' }
  expect(await answerOf(replica()('POST /api/v1/session', { headers }))).toMatchObject({ status: 400 })
  expect(await answerOf(createTestApp(service.sql)('POST /api/v1/session', { headers: { host } }))).toMatchObject({
    status: 409,
    body: { error: { code: 'SYS_DLQ_CONFLICT' } },
  })
})

test('without authentication a cookie is not looked at', async () => {
  expect(await read(createTestApp(service.sql), 'dlq-session=whatever')).toBe(200)
})
