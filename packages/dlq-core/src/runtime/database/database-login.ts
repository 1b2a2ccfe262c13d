// The user and password with which connections to PostgreSQL are opened. They may stand in files that somebody
// replaces (Vault's live for a day). Another login takes the place of the last only once PostgreSQL has accepted
// it: so a file that is half written, two that do not go together yet, or a role that is not there yet, never
// reach a request. Connections of the former login are then replaced as they become free.

import type { DatabaseConfig } from './config-schema.ts'
import { isDatabaseAway, isLoginRefused } from './database-errors.ts'
import type { Log } from './log.ts'
import type { PassResult } from './run-loop.ts'

export type Login = { user: string; password: string }

export type DatabaseLogin = {
  current(): Login
  /** Calls the listener whenever another login has taken the place of the last. Returns what ends that. */
  onChange(listener: () => void): () => void
}

export type FollowedLogin = DatabaseLogin & {
  /** One look at where the login comes from; for `runLoop`. */
  look(): Promise<PassResult>
}

export type FollowOptions = {
  /** The present settings, or null where nothing has changed since it was last asked. */
  reread(): DatabaseConfig | null
  /** Throws unless PostgreSQL accepts the login. */
  prove(config: DatabaseConfig): Promise<unknown>
  log: Log
}

/** What the settings say: a URL's own user comes first, a password of its own before the URL's. */
export function loginOf({ url, user = '', password }: DatabaseConfig): Login {
  const { username = '', password: secret = '' } = url === undefined ? {} : new URL(url)
  return { user: decodeURIComponent(username) || user, password: password || decodeURIComponent(secret) }
}

/** Follows a login that may change. Settings that cannot be read leave it as it is, and are tried again. */
export function followLogin(start: DatabaseConfig, { reread, prove, log }: FollowOptions): FollowedLogin {
  let current = loginOf(start)
  let candidate: DatabaseConfig | null = null
  let refused = ''
  const listeners = new Set<() => void>()

  async function adopt(config: DatabaseConfig): Promise<void> {
    const login = loginOf(config)
    if (login.user !== current.user || login.password !== current.password) {
      await prove(config)
      current = login
      log.info({ user: login.user }, 'database_login_changed')
      for (const listener of listeners) listener()
    }
    candidate = null
    refused = ''
  }

  /** Once for each reason; the one that passes by itself while the files are written is not worth more. */
  function note(error: unknown): void {
    const { message } = error as Error
    if (message !== refused) log.warn({ error }, 'database_login_refused')
    refused = message
  }

  return {
    current: () => current,
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async look() {
      try {
        candidate = reread() ?? candidate
        if (candidate !== null) await adopt(candidate)
      } catch (error) {
        if (isLoginRefused(error) || !isDatabaseAway(error)) note(error)
      }
      return { more: false }
    },
  }
}
