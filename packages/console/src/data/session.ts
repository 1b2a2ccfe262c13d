// Who looks at the console, and what the page has to know before anybody has signed in.

import { queryOptions, useQuery } from '@tanstack/react-query'
import { DlqApiError } from 'dlq-client/api-client.ts'
import type { Deployment } from '../domain/system/deployments.ts'
import { rawRequest, signInNeeded } from './api.ts'
import { untilKnown } from './query-client.ts'
import { preferSettings } from './settings.ts'
import { createStore } from './store.ts'

export type Role = 'sys_auditor' | 'sys_operator' | 'sys_admin'

export type ConsoleConfig = {
  version: string | null
  build: string | null
  environment: string | null
  title: string
  sign_in: readonly ('token' | 'oidc')[]
  links: { trace?: string | null; source?: string | null; ticket?: string | null; logs?: string | null }
  payloads: 'shown' | 'hidden'
  deployments: readonly Deployment[]
}

export type Me = {
  actor: string
  role: Role
  /** Null: all topics. */
  topics: readonly string[] | null
  /** Each role, with the topics in which it holds. */
  grants: readonly { role: Role; topics: readonly string[] | null }[]
  via: 'anonymous' | 'token' | 'jwt' | 'session'
  expires_at: string | null
  /** What it sees of messages: nothing, what masks leave, or all where it asks for it. */
  payloads: 'none' | 'masked' | 'full'
  /** Whether messages may be exported. */
  exports: boolean
}

/** What an API of an earlier version does not say. */
const unsaid: ConsoleConfig = {
  version: null,
  build: null,
  environment: null,
  title: 'dlq-manager',
  sign_in: ['token'],
  links: {},
  payloads: 'shown',
  deployments: [],
}

/** The templates of `console.links`. A store, because each frame of a trace and each row of a list asks for them. */
export const toolTemplates = createStore<ConsoleConfig['links']>({})

/** The name of this console, `console.title`. A store, because each page puts it into the tab's title. */
export const consoleTitle = createStore(unsaid.title)

let build: string | null = null

/** The build of this page: the one that the server had when it was loaded. */
export function pageBuild(): string | null {
  return build
}

export const configQuery = queryOptions({
  queryKey: ['config'],
  queryFn: async (): Promise<ConsoleConfig> => {
    const response = await rawRequest('/console/config.json')
    // What was known stays: taken for an installation without an environment, production would ask less before a run.
    if (!response.ok) throw new DlqApiError(response.status, await response.json().catch(() => null))
    const config = { ...unsaid, ...((await response.json()) as Partial<ConsoleConfig>) }
    build ??= config.build
    toolTemplates.set(config.links)
    consoleTitle.set(config.title)
    preferSettings({ payloads: config.payloads })
    return config
  },
  staleTime: 60_000,
  refetchInterval: ({ state }) => (state.data === undefined ? 5000 : 10 * 60_000),
})

export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: async (): Promise<Me> => {
    const response = await rawRequest('/api/v1/me')
    if (!response.ok) throw new DlqApiError(response.status, await response.json().catch(() => null))
    return (await response.json()) as Me
  },
  staleTime: 60_000,
  refetchInterval: untilKnown,
})

/** @throws {DlqApiError} where the token is not taken */
export async function signIn(token: string): Promise<void> {
  const response = await rawRequest('/api/v1/session', {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  })
  if (!response.ok) throw new DlqApiError(response.status, await response.json().catch(() => null))
  signInNeeded.set(false)
}

/** @throws where the API does not say that the session has ended: then it goes on */
export async function signOut(): Promise<void> {
  const response = await rawRequest('/api/v1/session', { method: 'DELETE' })
  if (!response.ok) throw new DlqApiError(response.status, await response.json().catch(() => null))
}

const rank: Record<Role, number> = { sys_auditor: 0, sys_operator: 1, sys_admin: 2 }

type Needed = {
  /** What is done reaches all topics, so the role has to hold for all of them. */
  ofAll?: boolean
}

/** Null where the role is enough; else why not. */
export function missingRole({ role, grants }: Me, needed: Role, { ofAll = false }: Needed = {}): string | null {
  if (rank[role] === undefined) return null
  if (rank[role] < rank[needed]) return `needs the role ${needed}; you have ${role}`
  const isLimited = grants.every((grant) => grant.topics !== null || rank[grant.role] < rank[needed])
  return ofAll && isLimited ? `needs the role ${needed} for all topics; yours is for some` : null
}

/** As `missingRole`, for the description of a disabled control. */
export function useMissingRole(needed: Role, { ofAll = false }: Needed = {}): string | null {
  const { data } = useQuery(meQuery)
  // Until the answer is there nothing is forbidden: the API decides in any case.
  return data === undefined ? null : missingRole(data, needed, { ofAll })
}

/** Null where messages may be exported; else why not. */
export function useMissingExports(): string | null {
  const { data } = useQuery(meQuery)
  return data === undefined || data.exports ? null : 'your token may not export messages'
}

/** Null where the token may see behind masks; else why not. */
export function useMissingUnmask(): string | null {
  const { data } = useQuery(meQuery)
  return data === undefined || data.payloads === 'full'
    ? null
    : `needs a token with payloads: full; yours has ${data.payloads}`
}
