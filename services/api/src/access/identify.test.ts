// Who is slowed for wrong tokens where a proxy stands in between: the client that the proxy names, not the proxy.

import { createHash } from 'node:crypto'
import { auth as authSchema } from 'dlq-core/runtime/config/auth-schema.ts'
import { Hono } from 'hono'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import type { ApiError } from '../http/api-error.ts'
import type { ApiEnv } from '../http/define-route.ts'
import { createSeal } from '../session/seal.ts'
import { createSessions } from '../session/sessions.ts'

import { createAuthenticate, createFindToken } from './authenticate.ts'
import { createBrokerTokens } from './broker-tokens.ts'
import { createIdentify } from './identify.ts'

const proxy = '10.0.0.5'
const [attacker, colleague] = ['198.51.100.1', '198.51.100.2']
const sha256 = createHash('sha256').update('right').digest('hex')
const auth = v.parse(authSchema, { tokens: [{ name: 'somebody', sha256, role: 'sys_auditor' }] })

function start({ trustedProxies }: { trustedProxies: string[] }) {
  const app = new Hono<ApiEnv>()
  app.onError((error, c) => c.text((error as ApiError).code))
  const identify = createIdentify({
    authenticate: createAuthenticate(auth),
    brokerTokens: createBrokerTokens(auth),
    rateLimit: 1000,
    sessions: createSessions({ auth, seal: createSeal(undefined), findToken: createFindToken(auth.tokens) }),
    trustedProxies,
  })
  app.get('/', identify, (c) => c.text('in'))
  return async (token: string, client: string) => {
    const headers = { authorization: `Bearer ${token}`, 'x-forwarded-for': client }
    const response = await app.request('/', { headers }, { incoming: { socket: { remoteAddress: proxy } } })
    return await response.text()
  }
}

async function guess(ask: ReturnType<typeof start>, clientOf: (n: number) => string): Promise<void> {
  for (let n = 0; n < 30; n += 1) await ask(`guess-${n}`, clientOf(n))
}

const refused = 'SYS_DLQ_TOO_MANY_REQUESTS'

test('behind a trusted proxy, who guesses tokens is slowed, and nobody beside them', async () => {
  const ask = start({ trustedProxies: ['10.0.0.0/8'] })
  await guess(ask, () => attacker)
  expect(await ask('right', attacker)).toBe(refused)
  expect(await ask('right', colleague)).toBe('in')
})

test('who is no trusted proxy cannot escape by naming another address each time', async () => {
  const ask = start({ trustedProxies: [] })
  await guess(ask, (n) => `203.0.113.${n}`)
  expect(await ask('right', colleague)).toBe(refused)
})
