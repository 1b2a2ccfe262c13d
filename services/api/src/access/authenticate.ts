// Who asks: a bearer token of the configuration, known by its SHA-256, or a JWT that an identity
// provider has signed. Tokens never reach logs or answers.

import { createHash, timingSafeEqual } from 'node:crypto'
import { type AuthConfig, isAuthConfigured } from 'dlq-core/runtime/config/auth-schema.ts'
import { createRemoteJWKSet, errors, jwtVerify } from 'jose'
import { ApiError } from '../http/api-error.ts'
import { type Access, anonymous } from './access.ts'
import { grantsOf, jwtActor, payloadsOf, roleOf } from './jwt-grants.ts'

/** How often the provider is asked for keys that are not known, at most. */
const usualKeysCooldownMs = 5000

/** From an Authorization header to who asks. @throws {ApiError} 401, 403, or 503 where the provider's keys cannot be had */
export type Authenticate = (authorization: string | undefined) => Promise<Access>

const unauthenticated = (message: string) => new ApiError('SYS_DLQ_UNAUTHENTICATED', message)

const unknownOrExpired = 'the token is not known, or has expired'

/** Nobody was ever given this token; one that has expired was. Whoever sends several is slowed (slow-guesses.ts). */
export class WrongToken extends ApiError {
  constructor(message: string) {
    super('SYS_DLQ_UNAUTHENTICATED', message)
  }
}

export function createAuthenticate(
  config: AuthConfig,
  { now = Date.now, keysCooldownMs = usualKeysCooldownMs } = {},
): Authenticate {
  if (!isAuthConfigured(config)) return async () => anonymous
  const tokens = readTokens(config.tokens)
  const verify = createVerify(config.jwt, keysCooldownMs)
  return async (authorization) => {
    const token = /^Bearer +([\w.~+/=-]+) *$/i.exec(authorization ?? '')?.[1]
    if (token === undefined) throw unauthenticated('a bearer token is required')
    const known = knownToken(tokens, token, now())
    if (known) return known
    if (verify !== null && token.split('.').length === 3) return verify(token)
    throw new WrongToken(unknownOrExpired)
  }
}

/** The access of a configured token by the beginning of its hash; null where it is not configured any more, or has expired. */
export type FindToken = (tokenId: string) => Access | null

export function createFindToken(tokens: AuthConfig['tokens'], { now = Date.now } = {}): FindToken {
  const byId = Map.groupBy(readTokens(tokens), ({ access }) => access.tokenId)
  return (tokenId) => byId.get(tokenId)?.find(({ expiresAt }) => expiresAt > now())?.access ?? null
}

/**
 * Verifies the ID tokens that the console's client is given. One is used at once, as the proof of who signed in: it may
 * expire within minutes, and says nothing of how long they stay.
 */
export function createVerifyIdToken({ jwt, oidc }: AuthConfig) {
  const verify = createVerify(jwt, usualKeysCooldownMs, oidc.client_id)
  return async (token: string): Promise<Access> => {
    if (verify === null) throw unauthenticated('no identity provider is configured')
    const { expiresAt: _, ...access } = await verify(token)
    return access
  }
}

type KnownToken = { hash: Buffer; expiresAt: number; access: Access & { tokenId: string } }

/** Half of the hash says which token it is, and does not check one. */
const tokenIdLength = 32

function readTokens(tokens: AuthConfig['tokens']): KnownToken[] {
  return tokens.map(({ name, sha256, role, topics, grants, expires_at, payloads, exports }) => {
    const expiresAt = expires_at === undefined ? Number.POSITIVE_INFINITY : Date.parse(expires_at)
    return {
      hash: Buffer.from(sha256, 'hex'),
      expiresAt,
      access: {
        actor: name,
        grants: (grants ?? [{ role: role!, topics }]).map(({ role, topics }) => ({
          role: roleOf[role],
          topics: topics ?? null,
        })),
        via: 'token',
        ...(expires_at !== undefined && { expiresAt }),
        tokenId: sha256.slice(0, tokenIdLength),
        ...(payloads !== 'masked' && { payloads }),
        ...(!exports && { exports }),
      },
    }
  })
}

/** Looks at every token's hash, each in constant time: how long it takes tells nothing of any of them. */
function knownToken(known: readonly KnownToken[], token: string, now: number): Access | null {
  const hash = createHash('sha256').update(token).digest()
  const matches = known.filter((entry) => timingSafeEqual(entry.hash, hash))
  if (matches.length === 0) return null
  const valid = matches.find(({ expiresAt }) => expiresAt > now)
  if (valid === undefined) throw unauthenticated(unknownOrExpired)
  return valid.access
}

// No symmetric algorithms, because a symmetric key that verifies tokens can also sign them.
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']

/** Null where no provider is configured. `audience` is another one for ID tokens, which are meant for the client. */
function createVerify(
  jwt: AuthConfig['jwt'],
  keysCooldownMs: number,
  audience = jwt.audience,
): ((token: string) => Promise<Access>) | null {
  const { issuer, jwks_url, clock_skew } = jwt
  if (jwks_url === undefined || issuer === undefined || audience === undefined) return null
  // A key that is not known makes it ask for the set again, at most every few seconds: that is how keys rotate.
  const keys = createRemoteJWKSet(new URL(jwks_url), { cooldownDuration: keysCooldownMs, timeoutDuration: 10_000 })
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
    const actor = jwtActor({ issuer, subject: payload.sub })
    if (actor === null) throw unauthenticated('the token is not valid: sub')
    const grants = grantsOf(payload, jwt)
    if (grants.length === 0) throw new ApiError('SYS_DLQ_FORBIDDEN', 'the token gives none of the roles of dlq-manager')
    return { actor, grants, via: 'jwt', expiresAt: payload.exp! * 1000, ...payloadsOf(payload, jwt) }
  }
}

function toApiError(error: unknown): unknown {
  if (error instanceof errors.JWTExpired) return unauthenticated('the token has expired')
  if (error instanceof errors.JWTClaimValidationFailed) return unauthenticated(`the token is not valid: ${error.claim}`)
  // A fault of the key server says nothing about the token.
  const isKeysFault =
    error instanceof errors.JWKSTimeout ||
    error instanceof errors.JWKSInvalid ||
    !('code' in (error as object)) ||
    (error as { code: string }).code === 'ERR_JOSE_GENERIC'
  if (isKeysFault)
    return new ApiError('SYS_DLQ_UNAVAILABLE', 'the identity provider’s keys cannot be read; try again in a moment')
  return new WrongToken('the token is not valid')
}
