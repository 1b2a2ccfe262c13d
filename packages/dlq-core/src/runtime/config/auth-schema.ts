// The section "auth" of config.yaml: who may use which part of the API. It has only the SHA-256 of tokens, so
// that readers of the file cannot use them.

import * as v from 'valibot'
import { isCalendarDate } from '../../domain/message/storable-time.ts'
import { anyDuration, boolean, decimal, duration, text, textList } from './config-values.ts'

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

const noTime = 'must be a time such as 2027-01-31T00:00:00Z'

const role = v.picklist(roleNames, `must be one of ${roleNames.join(', ')}`)

/** A role, and the topics in which it holds; without topics, all. */
const grant = v.strictObject({ role, topics: v.optional(topicGlobs) })
const grants = v.pipe(v.array(grant, 'must be a list of { role, topics }'), v.minLength(1, 'must not be empty'))

/** What a token may see of messages' content. */
export const payloadSights = ['none', 'masked', 'full'] as const

/** What the actors of JWTs begin with, so that no token of the configuration can be taken for one. */
export const jwtActorPrefix = 'oidc:'

const tokenEntries = v.strictObject({
  /** The actor in the audit. */
  name: v.pipe(
    text,
    v.maxLength(200, 'must be at most 200 characters'),
    v.check(
      (name) => !name.toLowerCase().startsWith(jwtActorPrefix),
      `must not begin with "${jwtActorPrefix}", as the actors of JWTs do`,
    ),
  ),
  sha256: tokenHash,
  role: v.optional(role),
  /** Only these topics; absent: all. */
  topics: v.optional(topicGlobs),
  /** Several roles, each with topics of its own; instead of role and topics. */
  grants: v.optional(grants),
  /** What of messages' keys, values, headers and errors it sees. `full` sees masks, too, unless it asks for more. */
  payloads: v.optional(v.picklist(payloadSights, `must be one of ${payloadSights.join(', ')}`), 'masked'),
  /** Whether it may export messages. */
  exports: v.optional(boolean, true),
  expires_at: v.optional(v.pipe(text, v.isoTimestamp(noTime), v.check(isCalendarDate, noTime))),
})

const token = v.pipe(
  tokenEntries,
  v.check(
    ({ role, topics, grants }) => (role === undefined) !== (grants === undefined) && !(grants && topics),
    'must have either role, with topics if it is limited, or grants',
  ),
)

/** Whoever can change the keys on their way can sign tokens. */
const keysUrl = v.pipe(
  text,
  v.regex(
    /^(https:\/\/|http:\/\/(localhost|127(\.\d{1,3}){3}|\[::1\])([:/]|$))/i,
    'must start with https://; http:// is for this machine alone (localhost, 127.0.0.1, [::1])',
  ),
)

const jwt = v.strictObject({
  issuer: v.optional(text),
  audience: v.optional(text),
  jwks_url: v.optional(keysUrl),
  /** The claim with the roles; dots lead into nested claims. */
  roles_claim: v.optional(text, 'roles'),
  /** A list of topic globs; a token without it may see all topics. */
  topics_claim: v.optional(text, 'dlq_topics'),
  /** A list of { role, topics }, beside the roles of `roles_claim`. */
  grants_claim: v.optional(text, 'dlq_grants'),
  /** A list of groups, which `groups` turns into grants. */
  groups_claim: v.optional(text, 'groups'),
  /** What the members of the provider's groups may do. */
  groups: v.optional(v.array(v.strictObject({ group: text, grants }), 'must be a list of { group, grants }'), []),
  /** The claim that says `none`, `masked` or `full`; a token without it sees masks. */
  payloads_claim: v.optional(text, 'dlq_payloads'),
  clock_skew: v.optional(duration, '30s'),
})

/** Sessions of the console: a cookie that only the API can read. */
const session = v.strictObject({
  /** How long one lasts at most. */
  ttl: v.optional(
    v.pipe(
      anyDuration,
      v.minValue(60_000, 'must be at least 1m'),
      v.maxValue(366 * 86_400_000, 'must be at most 366d'),
    ),
    '8h',
  ),
  /** The secret that seals the cookies, the same in all replicas; without it each process makes its own. */
  key: v.optional(v.pipe(text, v.minLength(32, 'must be at least 32 characters, as `openssl rand -base64 32` makes'))),
})

/** Signing in to the console at the identity provider of `jwt`. */
const oidc = v.strictObject({
  client_id: v.optional(text),
  client_secret: v.optional(text),
  scopes: v.optional(textList, 'openid'),
})

const authEntries = v.strictObject({
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
  session: v.optional(session, {}),
  oidc: v.optional(oidc, {}),
  /** Requests per second and token. */
  rate_limit: v.optional(decimal('a number of requests per second', 0.1, 1_000_000), 100),
})

export const auth = v.pipe(
  authEntries,
  v.forward(
    v.check(
      ({ oidc, jwt }) => oidc.client_id === undefined || jwt.jwks_url !== undefined,
      'needs auth.jwt: its issuer and its keys are those that people sign in with',
    ),
    ['oidc', 'client_id'],
  ),
)

export type AuthConfig = v.InferOutput<typeof auth>

/** Whether any way to authenticate is configured. */
export function isAuthConfigured({ tokens, jwt }: AuthConfig): boolean {
  return tokens.length > 0 || jwt.jwks_url !== undefined
}
