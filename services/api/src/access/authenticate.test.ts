// Tokens of the configuration and of an identity provider.
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type AuthConfig, auth } from 'dlq-core/runtime/config/auth-schema.ts'
import { type CryptoKey, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import * as v from 'valibot'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { actAs } from './access.ts'
import { createAuthenticate } from './authenticate.ts'

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const rejection = (code: string) => expect.objectContaining({ code })

describe('a token of the configuration', () => {
  const authenticate = createAuthenticate(
    v.parse(auth, {
      tokens: [
        { name: 'ci', sha256: sha256('secret-ci'), role: 'sys_operator', topics: 'orders.*, payments' },
        { name: 'root', sha256: sha256('secret-root').toUpperCase(), role: 'sys_admin' },
        {
          name: 'two',
          sha256: sha256('secret-two'),
          grants: [{ role: 'sys_operator', topics: 'payments.*' }, { role: 'sys_auditor' }],
        },
        { name: 'gone', sha256: sha256('secret-gone'), role: 'sys_admin', expires_at: '2020-01-01T00:00:00Z' },
      ],
    }),
  )

  test('gives the actor and the role', async () => {
    expect(await authenticate('Bearer secret-ci')).toMatchObject({
      actor: 'ci',
      grants: [{ role: 'write', topics: ['orders.*', 'payments'] }],
    })
    expect(await authenticate('bearer  secret-root ')).toMatchObject({
      actor: 'root',
      grants: [{ role: 'admin', topics: null }],
    })
  })

  test('has several roles, each with topics of its own', async () => {
    expect(await authenticate('Bearer secret-two')).toMatchObject({
      actor: 'two',
      grants: [
        { role: 'write', topics: ['payments.*'] },
        { role: 'read', topics: null },
      ],
    })
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

  test('is always compared with all tokens, so that the time tells nothing', async () => {
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

test('without any tokens, every request is anonymous', async () => {
  expect(await createAuthenticate(v.parse(auth, {}))(undefined)).toEqual({
    actor: 'anonymous',
    via: 'anonymous',
    grants: [{ role: 'admin', topics: null }],
  })
})

test.each([
  ['https://id.example.com/jwks', true],
  ['http://127.0.0.1:8080/jwks', true],
  ['http://localhost/jwks', true],
  ['http://[::1]:8080/jwks', true],
  ['http://id.example.com/jwks', false],
  ['http://localhost.example.com/jwks', false],
  ['http://127.0.0.1.example.com/jwks', false],
  ['http://127.0.0.1@example.com/jwks', false],
])('the keys at %s are trusted: %s', (jwks_url, isTrusted) => {
  expect(v.safeParse(auth, { jwt: { issuer: 'i', audience: 'a', jwks_url } }).success).toBe(isTrusted)
})

test.each([
  [{}],
  [{ role: 'sys_admin', grants: [{ role: 'sys_auditor' }] }],
  [{ topics: 'a', grants: [{ role: 'sys_auditor' }] }],
  [{ grants: [] }],
  [{ grants: [{ role: 'root' }] }],
])('a token with %j is refused', (what) => {
  expect(v.safeParse(auth, { tokens: [{ name: 'a', sha256: sha256('a'), ...what }] }).success).toBe(false)
})

/** What a token sees that says nothing of it. */
const seen = { payloads: 'masked', exports: true } as const

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
        groups: [{ group: 'payments-on-call', grants: [{ role: 'sys_operator', topics: 'payments.*' }] }],
      },
    })
  })
  afterAll(() => server.close())

  const maria = 'oidc:id.example.com:maria'
  const roles = (...names: string[]) => ({ realm_access: { roles: names } })

  test('says who asks by its subject, and what they may by its roles; the greatest counts', async () => {
    expect(actAs(await ask(await sign(roles('offline_access', 'sys_auditor', 'sys_operator'))), 'read')).toEqual({
      ...seen,
      actor: maria,
      role: 'write',
      topics: null,
    })
    expect(actAs(await ask(await sign({ ...roles('sys_auditor'), dlq_topics: ['orders.*'] })), 'read')).toEqual({
      ...seen,
      actor: maria,
      role: 'read',
      topics: ['orders.*'],
    })
    expect(
      actAs(await ask(await sign({ ...roles('sys_auditor'), dlq_topics: 'orders.* payments' })), 'read'),
    ).toMatchObject({
      topics: ['orders.*', 'payments'],
    })
  })

  test('names its actor by its issuer, so that none is taken for a token of the configuration', async () => {
    const asCi = await sign({ ...roles('sys_auditor'), sub: 'ci' })
    expect(await ask(asCi)).toMatchObject({ actor: 'oidc:id.example.com:ci' })
    expect(v.safeParse(auth, { tokens: [{ name: maria, sha256: sha256('x'), role: 'sys_admin' }] }).success).toBe(false)
    for (const sub of ['', ' ', 'a\0b', 'x'.repeat(300)])
      await expect(ask(await sign({ ...roles('sys_admin'), sub }))).rejects.toEqual(
        rejection('SYS_DLQ_UNAUTHENTICATED'),
      )
  })

  test('gives its roles, its grants and those of its groups together, each for its own topics', async () => {
    const access = await ask(
      await sign({
        ...roles('sys_auditor'),
        ...{ dlq_topics: ['orders.*'], groups: ['payments-on-call', 'staff'] },
        dlq_grants: [{ role: 'sys_admin', topics: ['test.*'] }],
      }),
    )
    expect(actAs(access, 'admin')).toEqual({ ...seen, actor: maria, role: 'admin', topics: ['test.*'] })
    expect(actAs(access, 'write')).toMatchObject({ topics: ['test.*', 'payments.*'] })
    expect(actAs(access, 'read')).toMatchObject({ topics: ['orders.*', 'test.*', 'payments.*'] })
    expect(actAs(await ask(await sign({ groups: 'payments-on-call' })), 'admin')).toBeNull()
  })

  test('whose grants are of no known form allows none', async () => {
    const grants: unknown[] = [
      ...[null, 5, 'sys_admin', { role: 'sys_admin' }, [null], ['sys_admin'], [{ role: 5 }], [{ role: 'admin' }]],
      [{ role: 'constructor' }],
    ]
    for (const dlq_grants of grants)
      await expect(ask(await sign({ dlq_grants }))).rejects.toEqual(rejection('SYS_DLQ_FORBIDDEN'))
    for (const topics of [null, 5, {}, [5]])
      expect(await ask(await sign({ dlq_grants: [{ role: 'sys_admin', topics }] }))).toMatchObject({
        grants: [{ role: 'admin', topics: [] }],
      })
    await expect(ask(await sign({ groups: ['staff', 'constructor'] }))).rejects.toEqual(rejection('SYS_DLQ_FORBIDDEN'))
  })

  test('whose topics have an unknown form allows no topics', async () => {
    for (const dlq_topics of [5, null, {}, [5]])
      expect(await ask(await sign({ ...roles('sys_admin'), dlq_topics }))).toMatchObject({
        grants: [{ role: 'admin', topics: [] }],
      })
  })

  test('without a role of ours is forbidden', async () => {
    for (const claims of [{}, roles(), roles('admin', '__proto__', 'constructor'), { roles: ['sys_admin'] }])
      await expect(ask(await sign(claims))).rejects.toEqual(rejection('SYS_DLQ_FORBIDDEN'))
  })

  test('of another issuer, audience, key or time is refused', async () => {
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

  test('is accepted when clocks differ a little', async () => {
    const now = Math.floor(Date.now() / 1000)
    expect(await ask(await sign(roles('sys_auditor'), { exp: now - 10 }))).toMatchObject({
      grants: [{ role: 'read' }],
    })
    expect(await ask(await sign({ ...roles('sys_auditor'), nbf: now + 10 }))).toMatchObject({
      grants: [{ role: 'read' }],
    })
  })

  test('of a new key is accepted as soon as the provider has the key, and keys are not fetched for each request', async () => {
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
    expect(await ask(await sign(roles('sys_auditor')), authenticate)).toMatchObject({ actor: maria })
  })

  test('answers 503 while the provider is down', async () => {
    isDown = true
    await expect(ask(await sign(roles('sys_admin')))).rejects.toEqual(rejection('SYS_DLQ_UNAVAILABLE'))
    isDown = false
    expect(await ask(await sign(roles('sys_admin')))).toMatchObject({ grants: [{ role: 'admin' }] })
  })
})
