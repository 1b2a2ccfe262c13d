// The middleware that identifies the actor of a request, and counts the request against the actor's rate limit.

import type { Context, MiddlewareHandler } from 'hono'
import type { ApiEnv } from '../http/define-route.ts'
import { createRateLimit } from '../http/rate-limit.ts'
import type { Sessions } from '../session/sessions.ts'
import { anonymous } from './access.ts'
import type { Authenticate } from './authenticate.ts'
import { authenticateWith, type BrokerTokens, brokerHeaders } from './broker-tokens.ts'
import { createClientAddress } from './client-address.ts'
import { hostOf } from './hosts.ts'
import { createSlowGuesses } from './slow-guesses.ts'

export type IdentifyDeps = {
  authenticate: Authenticate
  brokerTokens: BrokerTokens
  /** Requests per second and actor. Requests without authentication are not limited. */
  rateLimit: number
  sessions: Sessions
  publicUrl?: string | undefined
  /** Addresses and networks of proxies whose X-Forwarded-For is believed. */
  trustedProxies?: readonly string[]
}

/** Sets `access` of the request. @throws {ApiError} 401, 403, 429, or 503 where the provider's keys cannot be read */
export function createIdentify({
  authenticate,
  brokerTokens,
  rateLimit,
  sessions,
  publicUrl,
  trustedProxies = [],
}: IdentifyDeps): MiddlewareHandler<ApiEnv> {
  const limit = createRateLimit(rateLimit)
  const slowGuesses = createSlowGuesses()
  const clientAddress = createClientAddress(trustedProxies)
  return async (c, next) => {
    const asked = { path: c.req.path, header: (name: string) => c.req.header(name) }
    // Tokens that are sent with the request win over the session.
    const credentials = ['authorization', ...Object.values(brokerHeaders)]
      .map((name) => c.req.header(name) ?? '')
      .join('\n')
      .trim()
    const identify = async () =>
      (credentials === '' ? await sessions.find(c.req.header('cookie'), { publicUrl, host: hostOf(c) }) : null) ??
      authenticateWith(brokerTokens, asked, () => authenticate(c.req.header('authorization')))
    const address = clientAddress({ remote: remoteOf(c), forwardedFor: c.req.header('x-forwarded-for') })
    const access = await slowGuesses({ address, credentials }, identify)
    if (access !== anonymous) limit(access.actor)
    c.set('access', access)
    c.set('identifyAgain', identify)
    return next()
  }
}

/** The other end of the connection. Tests that do not listen have none. */
function remoteOf(c: Context): string {
  const { incoming } = (c.env ?? {}) as { incoming?: { socket: { remoteAddress?: string } } }
  return incoming?.socket.remoteAddress ?? ''
}

/** For routes that everybody may use, also without a token. */
export const letAnybodyIn: MiddlewareHandler<ApiEnv> = (c, next) => {
  c.set('access', anonymous)
  return next()
}
