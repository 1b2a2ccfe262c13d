// Tokens of the configuration and of an identity provider.
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type AuthConfig, auth } from 'dlq-core/runtime/auth-schema.ts'
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import * as v from 'valibot'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAuthenticate } from './authenticate.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const rejection = (code: string) => expect.objectContaining({ code })

describe('a token of the configuration', () => {
  const authenticate = createAuthenticate(
    v.parse(auth, {
      tokens: [
        { name: 'ci', sha256: sha256('secret-ci'), role: 'sys_operator', topics: 'orders.*, payments' },
        { name: 'root', sha256: sha256('secret-root').toUpperCase(), role: 'sys_admin' },
        { name: 'gone', sha256: sha256('secret-gone'), role: 'sys_admin', expires_at: '2020-01-01T00:00:00Z' },
      ],
    }),
  )

  test('says who asks, and what they may', async () => {
    expect(await authenticate('Bearer secret-ci')).toEqual({
      actor: 'ci',
      role: 'write',
      topics: ['orders.*', 'payments'],
    })
    expect(await authenticate('bearer  secret-root ')).toEqual({ actor: 'root', role: 'admin', topics: null })
  })

  test.each([
    undefined,
    '',
    'secret-ci',
    'Bearer',
    'Bearer secret-c',
    'Bearer secret-cii',
    'Bearer Secret-ci',
    'Basic secret-ci',
    `Bearer ${sha256('secret-ci')}`,
    'Bearer secret-gone',
    'Bearer a.b.c',
    'Bearer secret-ci, Bearer secret-root',
  ])('is not "%s"', async (header) => {
    await expect(authenticate(header)).rejects.toEqual(rejection('SYS_DLQ_UNAUTHENTICATED'))
  })

  test('is compared with all of them whatever it is, so that the time tells nothing', async () => {
    const tokens = Array.from({ length: 2000 }, (_, n) => ({
      name: `t${n}`,
      sha256: sha256(`secret-${n}`),
      role: 'sys_admin' as const,
    }))
    const authenticate = createAuthenticate(v.parse(auth, { tokens }))
    const timeOf = async (token: string) => {
      const times = []
      for (let n = 0; n < 300; n += 1) {
        const start = process.hrtime.bigint()
        await authenticate(`Bearer ${token}`).catch(() => {})
        times.push(Number(process.hrtime.bigint() - start))
      }
      return times.toSorted((a, b) => a - b)[150]!
    }
    await timeOf('secret-0')
    const medians = [await timeOf('secret-0'), await timeOf('secret-1999'), await timeOf('secret-x')]
    // A search that stopped at the first match would make them differ a thousandfold.
    expect(Math.max(...medians) / Math.min(...medians)).toBeLessThan(10)
  })
})

test('without any, everybody is nobody in particular', async () => {
  expect(await createAuthenticate(v.parse(auth, {}))(undefined)).toEqual({
    actor: 'anonymous',
    role: 'admin',
    topics: null,
  })
})

describe('a JWT', () => {
  type Key = { kid: string; privateKey: CryptoKey; publicKey: CryptoKey }
  let published: Key[]
  let old: Key
  let isDown = false
  let asked = 0
  const server = createServer(async (_, response) => {
    asked += 1
    if (isDown) return response.writeHead(500).end()
    const keys = await Promise.all(
      published.map(async ({ kid, publicKey }) => ({ ...(await exportJWK(publicKey)), kid, alg: 'RS256' })),
    )
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys }))
  })
  let config: AuthConfig

  const makeKey = async (kid: string): Promise<Key> => ({ kid, ...(await generateKeyPair('RS256')) })
  const sign = (claims: JWTPayload, { key = published[0]!, exp = '5m' }: { key?: Key; exp?: string | number } = {}) =>
    new SignJWT({ iss: 'https://id.example.com', aud: 'dlq-manager', sub: 'maria', ...claims })
      .setProtectedHeader({ alg: 'RS256', kid: key.kid })
      .setExpirationTime(exp)
      .sign(key.privateKey)
  const ask = async (token: string, with_ = createAuthenticate(config)) => with_(`Bearer ${token}`)

  beforeAll(async () => {
    old = await makeKey('old')
    published = [await makeKey('one')]
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    config = v.parse(auth, {
      jwt: {
        issuer: 'https://id.example.com',
        audience: 'dlq-manager',
        jwks_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`,
        roles_claim: 'realm_access.roles',
      },
    })
  })
  afterAll(() => server.close())

  const roles = (...names: string[]) => ({ realm_access: { roles: names } })

  test('says who asks by its subject, and what they may by its roles; the greatest counts', async () => {
    expect(await ask(await sign(roles('offline_access', 'sys_auditor', 'sys_operator')))).toEqual({
      actor: 'maria',
      role: 'write',
      topics: null,
    })
    expect(await ask(await sign({ ...roles('sys_auditor'), dlq_topics: ['orders.*'] }))).toEqual({
      actor: 'maria',
      role: 'read',
      topics: ['orders.*'],
    })
    expect(await ask(await sign({ ...roles('sys_auditor'), dlq_topics: 'orders.* payments' }))).toMatchObject({
      topics: ['orders.*', 'payments'],
    })
  })

  test('whose topics are of no known form allows none', async () => {
    for (const dlq_topics of [5, null, {}, [5]])
      expect(await ask(await sign({ ...roles('sys_admin'), dlq_topics }))).toMatchObject({ topics: [] })
  })

  test('without a role of ours is forbidden', async () => {
    for (const claims of [{}, roles(), roles('admin', '__proto__', 'constructor'), { roles: ['sys_admin'] }])
      await expect(ask(await sign(claims))).rejects.toEqual(rejection('SYS_DLQ_FORBIDDEN'))
  })

  test('of another issuer, audience, key or time is not one', async () => {
    const admin = roles('sys_admin')
    const now = Math.floor(Date.now() / 1000)
    const tokens = [
      await sign({ ...admin, iss: 'https://evil.example.com' }),
      await sign({ ...admin, aud: 'another' }),
      await sign(admin, { key: old }),
      await sign(admin, { key: { ...old, kid: 'one' } }),
      await sign(admin, { exp: now - 40 }),
      await sign({ ...admin, nbf: now + 40 }),
      await sign({ ...admin, sub: undefined } as unknown as JWTPayload),
      `${(await sign(admin)).split('.').slice(0, 2).join('.')}.`,
      `${Buffer.from('{"alg":"none"}').toString('base64url')}.${(await sign(admin)).split('.')[1]}.`,
      await new SignJWT({ iss: 'https://id.example.com', aud: 'dlq-manager', sub: 'x', ...admin })
        .setProtectedHeader({ alg: 'HS256', kid: 'one' })
        .setExpirationTime('5m')
        .sign(new TextEncoder().encode('a secret that is long enough for HS256')),
    ]
    for (const token of tokens) await expect(ask(token)).rejects.toEqual(rejection('SYS_DLQ_UNAUTHENTICATED'))
  })

  test('is forgiven clocks that differ a little', async () => {
    const now = Math.floor(Date.now() / 1000)
    expect(await ask(await sign(roles('sys_auditor'), { exp: now - 10 }))).toMatchObject({ role: 'read' })
    expect(await ask(await sign({ ...roles('sys_auditor'), nbf: now + 10 }))).toMatchObject({ role: 'read' })
  })

  test('of a new key is taken as soon as the provider shows the key, and the set is not asked for each time', async () => {
    const authenticate = createAuthenticate(config, { keysCooldownMs: 0 })
    await ask(await sign(roles('sys_auditor')), authenticate)
    const before = asked
    for (let n = 0; n < 5; n += 1) await ask(await sign(roles('sys_auditor')), authenticate)
    expect(asked).toBe(before)
    const next = await makeKey('two')
    await expect(ask(await sign(roles('sys_auditor'), { key: next }), authenticate)).rejects.toEqual(
      rejection('SYS_DLQ_UNAUTHENTICATED'),
    )
    published = [next]
    expect(await ask(await sign(roles('sys_auditor')), authenticate)).toMatchObject({ actor: 'maria' })
  })

  test('is nobody’s fault while the provider is down', async () => {
    isDown = true
    await expect(ask(await sign(roles('sys_admin')))).rejects.toEqual(rejection('SYS_DLQ_UNAVAILABLE'))
    isDown = false
    expect(await ask(await sign(roles('sys_admin')))).toMatchObject({ role: 'admin' })
  })
})
