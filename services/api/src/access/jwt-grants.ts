// What the claims of a JWT allow: its roles, its grants, and the grants of its groups, together.

import { type AuthConfig, jwtActorPrefix, payloadSights, type roleNames } from 'dlq-core/runtime/config/auth-schema.ts'
import type { JWTPayload } from 'jose'
import type { Access, Grant, Role } from './access.ts'

export const roleOf = { sys_auditor: 'read', sys_operator: 'write', sys_admin: 'admin' } as const satisfies Record<
  (typeof roleNames)[number],
  Role
>

type Claims = Pick<AuthConfig['jwt'], 'roles_claim' | 'topics_claim' | 'grants_claim' | 'groups_claim' | 'groups'>

/** Empty where the claims give none of our roles. Whatever has another form than it should have allows nothing. */
export function grantsOf(payload: JWTPayload, claims: Claims): Grant[] {
  const topics = topicsOf(claimAt(payload, claims.topics_claim))
  const byRoles = listOf(claimAt(payload, claims.roles_claim)).map((role) => ({ role, topics }))
  const given = claimAt(payload, claims.grants_claim)
  const byGrants = (Array.isArray(given) ? given : []).map((grant: unknown) => {
    const { role, topics } = (grant ?? {}) as { role?: unknown; topics?: unknown }
    return { role, topics: topicsOf(topics) }
  })
  const groups = listOf(claimAt(payload, claims.groups_claim))
  const byGroups = claims.groups
    .filter(({ group }) => groups.includes(group))
    .flatMap(({ grants }) => grants.map(({ role, topics }) => ({ role, topics: topics ?? null })))
  return [...byRoles, ...byGrants, ...byGroups].flatMap(({ role, topics }) =>
    isRole(role) ? [{ role: roleOf[role], topics }] : [],
  )
}

/** What the token sees of messages' content. A claim that says something else sees nothing. */
export function payloadsOf(
  payload: JWTPayload,
  { payloads_claim: claim }: Pick<AuthConfig['jwt'], 'payloads_claim'>,
): Pick<Access, 'payloads'> {
  const given = claimAt(payload, claim)
  if (given === undefined || given === 'masked') return {}
  return { payloads: payloadSights.find((sight) => sight === given) ?? 'none' }
}

/** saga_states takes no longer name. */
const maxActorLength = 255

/** "oidc:id.example.com:maria"; null where the subject names nobody, or could not be stored. */
export function jwtActor({ issuer, subject }: { issuer: string; subject: unknown }): string | null {
  if (typeof subject !== 'string' || subject.trim() === '' || !subject.isWellFormed()) return null
  const actor = `${jwtActorPrefix}${issuer.replace(/^https?:\/\//i, '').replace(/\/+$/, '')}:${subject}`
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  return actor.length > maxActorLength || /[\u0000-\u001f\u007f]/.test(subject) ? null : actor
}

function isRole(name: unknown): name is keyof typeof roleOf {
  return typeof name === 'string' && Object.hasOwn(roleOf, name)
}

/** Absent: all topics. */
function topicsOf(claim: unknown): string[] | null {
  return claim === undefined ? null : listOf(claim)
}

function claimAt(payload: JWTPayload, path: string): unknown {
  // A claim may have dots in its name, as URLs do.
  if (Object.hasOwn(payload, path)) return payload[path]
  return path.split('.').reduce<unknown>((value, key) => {
    const isObject = typeof value === 'object' && value !== null
    return isObject && Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined
  }, payload)
}

/** A list of texts, or a text with spaces; anything else is an empty list, which allows nothing. */
function listOf(claim: unknown): string[] {
  if (typeof claim === 'string') return claim.split(' ').filter((part) => part !== '')
  return Array.isArray(claim) ? claim.filter((part) => typeof part === 'string') : []
}
