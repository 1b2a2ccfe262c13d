// Who asks, and what they may do.

/** Each may do what those before it may. */
export const roles = ['read', 'write', 'admin'] as const
export type Role = (typeof roles)[number]

export const roleNames = { read: 'sys_auditor', write: 'sys_operator', admin: 'sys_admin' } as const

export type Access = {
  /** Goes into the audit and the attempts. */
  readonly actor: string
  readonly role: Role
  /** Globs of the topics that may be seen and changed; null: all. */
  readonly topics: readonly string[] | null
}

/** Where no authentication is configured, which a service that listens beyond loopback refuses. */
export const anonymous: Access = { actor: 'anonymous', role: 'admin', topics: null }

export function mayActAs(role: Role, wanted: Role): boolean {
  return roles.indexOf(role) >= roles.indexOf(wanted)
}
