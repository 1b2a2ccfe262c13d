// The section "auth" of config.yaml: who may ask the API for what. Tokens stand there as SHA-256, so that
// whoever reads the file can use none of them.

import * as v from 'valibot'
import { decimal, duration, text, textList } from './config-values.ts'

export const roleNames = ['sys_auditor', 'sys_operator', 'sys_admin'] as const

const topicGlobs = v.pipe(
  textList,
  v.everyItem(
    (glob) => /^[\w.*?-]{1,249}$/.test(glob),
    'must be topic globs: letters, digits, ".", "_", "-", "*" and "?"',
  ),
)

const tokenHash = v.pipe(
  v.string('must be text'),
  v.regex(/^[0-9a-f]{64}$/i, 'must be the SHA-256 of the token: 64 hexadecimal digits'),
  v.toLowerCase(),
)

const token = v.strictObject({
  /** Who it is, in the audit. */
  name: v.pipe(text, v.maxLength(200, 'must be at most 200 characters')),
  sha256: tokenHash,
  role: v.picklist(roleNames, `must be one of ${roleNames.join(', ')}`),
  /** Only these topics; absent: all. */
  topics: v.optional(topicGlobs),
  expires_at: v.optional(v.pipe(text, v.isoTimestamp('must be a time such as 2027-01-31T00:00:00Z'))),
})

const httpUrl = v.pipe(text, v.regex(/^https?:\/\//, 'must start with https:// or http://'))

const jwt = v.strictObject({
  issuer: v.optional(text),
  audience: v.optional(text),
  jwks_url: v.optional(httpUrl),
  /** Where the roles stand in a token; with dots for claims in claims. */
  roles_claim: v.optional(text, 'roles'),
  /** A list of topic globs; a token without it may see all topics. */
  topics_claim: v.optional(text, 'dlq_topics'),
  clock_skew: v.optional(duration, '30s'),
})

export const auth = v.strictObject({
  tokens: v.optional(
    v.pipe(
      v.array(token, 'must be a list of { name, sha256, role }'),
      v.check(
        (tokens) => new Set(tokens.map(({ name }) => name)).size === tokens.length,
        'must not have two tokens of the same name',
      ),
    ),
    [],
  ),
  jwt: v.optional(
    v.pipe(
      jwt,
      v.check(
        ({ issuer, audience, jwks_url }) =>
          new Set([issuer, audience, jwks_url].map((given) => given === undefined)).size === 1,
        'issuer, audience and jwks_url go together',
      ),
    ),
    {},
  ),
  /** X-Broker-Channel-Token and X-Broker-Consumer-Token of the observability specification's deletions. */
  channel_tokens: v.optional(
    v.array(v.strictObject({ channel: text, sha256: tokenHash }), 'must be a list of { channel, sha256 }'),
    [],
  ),
  consumer_tokens: v.optional(
    v.array(
      v.strictObject({ channel: text, consumer: text, sha256: tokenHash }),
      'must be a list of { channel, consumer, sha256 }',
    ),
    [],
  ),
  /** Requests per second and token. */
  rate_limit: v.optional(decimal('a number of requests per second', 0.1, 1_000_000), 100),
})

export type AuthConfig = v.InferOutput<typeof auth>

/** Whether anybody could authenticate at all. */
export function isAuthConfigured({ tokens, jwt }: AuthConfig): boolean {
  return tokens.length > 0 || jwt.jwks_url !== undefined
}
