// Sessions of the console. A browser has a sealed cookie instead of a token, so that links, streams and downloads are
// signed in, and no script can read it. A session of a configured token says only which token it is: it ends when that
// token ends, and has what the token may do now. One of an identity provider keeps what its claims said.

import { type AuthConfig, isAuthConfigured, payloadSights } from 'dlq-core/runtime/config/auth-schema.ts'
import * as v from 'valibot'
import { type Access, roles } from '../access/access.ts'
import type { FindToken } from '../access/authenticate.ts'
import { ApiError } from '../http/api-error.ts'
import { type CookiePlace, maxCookieBytes, readCookie, sessionCookieName, setCookie } from './cookies.ts'
import type { Seal } from './seal.ts'

export type Sessions = {
  /** The Set-Cookie header of a new session, and when the session ends. @throws {ApiError} 400 where a cookie cannot hold it */
  begin(access: Access, place: CookiePlace): Promise<{ cookie: string; expiresAt: number }>
  /** The Set-Cookie header that takes the session away. */
  end(place: CookiePlace): string
  /** Who the request's session belongs to; null where it has no session. @throws {ApiError} 401 where the session has ended */
  find(cookies: string | undefined, place: CookiePlace): Promise<Access | null>
}

const purpose = 'session'

const ofToken = v.object({ exp: v.number(), token: v.string() })
const ofProvider = v.object({
  exp: v.number(),
  issuer: v.string(),
  actor: v.string(),
  grants: v.array(v.object({ role: v.picklist(roles), topics: v.nullable(v.array(v.string())) })),
  payloads: v.exactOptional(v.picklist(payloadSights)),
})

export function createSessions({
  auth,
  seal,
  findToken,
  now = Date.now,
}: {
  auth: AuthConfig
  seal: Seal
  findToken: FindToken
  now?: () => number
}): Sessions {
  const isOn = isAuthConfigured(auth)
  return {
    async begin(access, place) {
      const expiresAt = Math.min(now() + auth.session.ttl, access.expiresAt ?? Number.POSITIVE_INFINITY)
      const { actor, grants, tokenId, payloads } = access
      const own = { issuer: auth.jwt.issuer, actor, grants, ...(payloads && { payloads }) }
      const claims = tokenId === undefined ? own : { token: tokenId }
      const value = await seal.close(purpose, claims, { now: now(), expiresAt })
      const name = sessionCookieName(place)
      if (name.length + value.length > maxCookieBytes)
        throw new ApiError(
          'SYS_DLQ_VALIDATION_ERROR',
          'the token names too many topics for a session; send it with each request, or name the topics by globs',
        )
      const maxAgeSeconds = Math.max(0, Math.floor((expiresAt - now()) / 1000))
      return { cookie: setCookie(name, value, { maxAgeSeconds, sameSite: 'Strict' }), expiresAt }
    },

    end: (place) => setCookie(sessionCookieName(place), '', { maxAgeSeconds: 0, sameSite: 'Strict' }),

    async find(cookies, place) {
      const value = isOn ? readCookie(cookies, sessionCookieName(place)) : undefined
      if (value === undefined || value === '') return null
      const claims = await seal.open(purpose, value, { now: now() })
      const access = accessOf(claims)
      if (access === null)
        throw new ApiError('SYS_DLQ_UNAUTHENTICATED', 'the session has ended, or its token has; sign in again')
      return access
    },
  }

  function accessOf(claims: unknown): Access | null {
    const byToken = v.safeParse(ofToken, claims)
    if (byToken.success) {
      const { token, exp } = byToken.output
      const access = findToken(token)
      return access && { ...access, via: 'session', expiresAt: Math.min(exp * 1000, access.expiresAt ?? Infinity) }
    }
    const byProvider = v.safeParse(ofProvider, claims)
    if (!byProvider.success || byProvider.output.issuer !== auth.jwt.issuer) return null
    const { actor, grants, exp, payloads } = byProvider.output
    return { actor, grants, via: 'session', expiresAt: exp * 1000, ...(payloads && { payloads }) }
  }
}
