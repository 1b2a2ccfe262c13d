// The actor of a request, its role, and the topics that it may see.

import type { TopicScope } from 'dlq-core/queries/topic-scope.ts'
import type { payloadSights } from 'dlq-core/runtime/config/auth-schema.ts'

/** Ascending: each role includes those before it. */
export const roles = ['read', 'write', 'admin'] as const
export type Role = (typeof roles)[number]

export const roleNames = { read: 'sys_auditor', write: 'sys_operator', admin: 'sys_admin' } as const

/** A role, and the globs of the topics in which it holds; null: all. */
export type Grant = { readonly role: Role; readonly topics: TopicScope }

export type PayloadSight = (typeof payloadSights)[number]

export type Access = {
  /** Goes into the audit and the attempts. */
  readonly actor: string
  readonly grants: readonly Grant[]
  /** Absent: the tokens of a channel and a consumer. */
  readonly via?: 'anonymous' | 'token' | 'jwt' | 'session'
  /** When it ends, in ms since 1970; absent: never. */
  readonly expiresAt?: number
  /** Of a token of the configuration: the beginning of its hash. */
  readonly tokenId?: string
  /** What of messages' content it sees; absent: what masks leave. */
  readonly payloads?: PayloadSight
  /** Absent: it may export messages. */
  readonly exports?: boolean
}

/** What somebody may do where a role is needed. */
export type Acting = {
  readonly actor: string
  /** The greatest of the roles that count. */
  readonly role: Role
  /** Globs of the topics that may be seen and changed; null: all. */
  readonly topics: TopicScope
  readonly payloads: PayloadSight
  /** Whether messages may be exported. */
  readonly exports: boolean
}

/** The access where no authentication is configured. A service that listens beyond loopback refuses to start so. */
export const anonymous: Access = {
  actor: 'anonymous',
  grants: [{ role: 'admin', topics: null }],
  via: 'anonymous',
}

/** The topics of all grants that include the role together; null where none does. */
export function actAs({ actor, grants, payloads = 'masked', exports = true }: Access, wanted: Role): Acting | null {
  const counting = grants.filter(({ role }) => mayActAs(role, wanted))
  const role = roles.findLast((role) => counting.some((grant) => grant.role === role))
  if (role === undefined) return null
  const isUnlimited = counting.some(({ topics }) => topics === null)
  const topics = isUnlimited ? null : [...new Set(counting.flatMap(({ topics }) => topics ?? []))]
  return { actor, role, topics, payloads, exports }
}

export function mayActAs(role: Role, wanted: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(wanted)
}
