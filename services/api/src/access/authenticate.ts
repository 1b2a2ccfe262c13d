// Who asks: a bearer token of the configuration, known by its SHA-256, or a JWT that an identity
// provider has signed. Tokens never reach logs or answers.

import { createHash, timingSafeEqual } from 'node:crypto'
import { type AuthConfig, isAuthConfigured } from 'dlq-core/runtime/auth-schema.ts'
import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from 'jose'
import { type Access, anonymous, type Role, roles } from './access.ts'
import { ApiError } from './api-error.ts'

/** From an Authorization header to who asks. @throws {ApiError} 401, 403, or 503 where the provider's keys cannot be had */
export type Authenticate = (authorization: string | undefined) => Promise<Access>

const roleOf = { sys_auditor: 'read', sys_operator: 'write', sys_admin: 'admin' } as const satisfies Record<
  string,
  Role
>

const unauthenticated = (message: string) => new ApiError('SYS_DLQ_UNAUTHENTICATED', message)

export function createAuthenticate(config: AuthConfig, { now = Date.now, keysCooldownMs = 5000 } = {}): Authenticate {
  if (!isAuthConfigured(config)) return async () => anonymous
  const findToken = createTokens(config.tokens, now)
  const verify = createVerify(config.jwt, keysCooldownMs)
  return async (authorization) => {
    const token = /^Bearer +([\w.~+/=-]+) *$/i.exec(authorization ?? '')?.[1]
    if (token === undefined) throw unauthenticated('a bearer token is required')
    const known = findToken(token)
    if (known) return known
    if (verify !== null && token.split('.').length === 3) return verify(token)
    throw unauthenticated('the token is not known, or has expired')
  }
}

/** Looks at every token's hash, each in constant time: how long it takes tells nothing of any of them. */
function createTokens(tokens: AuthConfig['tokens'], now: () => number): (token: string) => Access | null {
  const known = tokens.map(({ name, sha256, role, topics, expires_at }) => ({
    hash: Buffer.from(sha256, 'hex'),
    access: { actor: name, role: roleOf[role], topics: topics ?? null },
    expiresAt: expires_at === undefined ? Number.POSITIVE_INFINITY : Date.parse(expires_at),
  }))
  return (token) => {
    const hash = createHash('sha256').update(token).digest()
    const matches = known.filter((entry) => timingSafeEqual(entry.hash, hash))
    return matches.find(({ expiresAt }) => expiresAt > now())?.access ?? null
  }
}

// A key set may hold symmetric keys; whoever can verify with one could sign as well.
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']

function createVerify(jwt: AuthConfig['jwt'], keysCooldownMs: number): ((token: string) => Promise<Access>) | null {
  const { issuer, audience, jwks_url, roles_claim, topics_claim, clock_skew } = jwt
  if (jwks_url === undefined || issuer === undefined || audience === undefined) return null
  // A key that is not known makes it ask for the set again, at most every few seconds: that is how keys rotate.
  const keys = createRemoteJWKSet(new URL(jwks_url), { cooldownDuration: keysCooldownMs, timeoutDuration: 5_000 })
  const options = {
    issuer,
    audience,
    algorithms,
    clockTolerance: clock_skew / 1000,
    requiredClaims: ['exp', 'sub'],
  }
  return async (token) => {
    const { payload } = await jwtVerify(token, keys, options).catch((error: unknown) => {
      throw toApiError(error)
    })
    return accessOf(payload, { roles_claim, topics_claim })
  }
}

function toApiError(error: unknown): unknown {
  if (error instanceof errors.JWTExpired) return unauthenticated('the token has expired')
  if (error instanceof errors.JWTClaimValidationFailed) return unauthenticated(`the token is not valid: ${error.claim}`)
  // What the server of the keys did is no fault of the token.
  const isKeysFault =
    error instanceof errors.JWKSTimeout ||
    error instanceof errors.JWKSInvalid ||
    !('code' in (error as object)) ||
    (error as { code: string }).code === 'ERR_JOSE_GENERIC'
  if (isKeysFault)
    return new ApiError('SYS_DLQ_UNAVAILABLE', 'the identity provider’s keys cannot be read; try again in a moment')
  return unauthenticated('the token is not valid')
}

function accessOf(payload: JWTPayload, claims: { roles_claim: string; topics_claim: string }): Access {
  const given = listOf(claimAt(payload, claims.roles_claim)).flatMap(
    (name) => roleOf[name as keyof typeof roleOf] ?? [],
  )
  const role = roles.findLast((role) => given.includes(role))
  if (role === undefined) throw new ApiError('SYS_DLQ_FORBIDDEN', 'the token gives none of the roles of dlq-manager')
  const topics = claimAt(payload, claims.topics_claim)
  return { actor: payload.sub!, role, topics: topics === undefined ? null : listOf(topics) }
}

function claimAt(payload: JWTPayload, path: string): unknown {
  // A claim may have dots in its name, as URLs do.
  if (path in payload) return payload[path]
  return path.split('.').reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], payload)
}

/** A list of texts, or a text with spaces; anything else is an empty list, which allows nothing. */
function listOf(claim: unknown): string[] {
  if (typeof claim === 'string') return claim.split(' ').filter((part) => part !== '')
  return Array.isArray(claim) ? claim.filter((part) => typeof part === 'string') : []
}
