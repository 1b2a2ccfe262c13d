// The user and password with which connections to PostgreSQL are opened. They may be in files that are
// replaced (Vault's live for a day). A new login is used only once PostgreSQL has accepted it. So a half-written
// file, two files that do not match yet, or a role that does not exist yet never reach a request. Connections of
// the former login are replaced as they become free.

import type { DatabaseConfig } from '../config/config-schema.ts'
import type { Log } from '../log.ts'
import type { PassResult } from '../run-loop.ts'
import { isDatabaseAway, isLoginRefused } from './database-errors.ts'

export type Login = { user: string; password: string }

export type DatabaseLogin = {
  current(): Login
  /** Calls the listener whenever the login has changed. Returns the function that ends that. */
  onChange(listener: () => void): () => void
}

export type FollowedLogin = DatabaseLogin & {
  /** One pass: looks whether the settings of the login have changed. For `runLoop`. */
  look(): Promise<PassResult>
}

export type FollowOptions = {
  /** The present settings, or null if nothing has changed since the last call. */
  reread(): DatabaseConfig | null
  /** Throws unless PostgreSQL accepts the login. */
  prove(config: DatabaseConfig): Promise<unknown>
  log: Log
}

/** The login of the settings: the URL's user comes first, a separate password before the URL's. */
export function loginOf({ url, user = '', password }: DatabaseConfig): Login {
  const { username = '', password: secret = '' } = url === undefined ? {} : new URL(url)
  return { user: decodeURIComponent(username) || user, password: password || decodeURIComponent(secret) }
}

/** Follows a login that may change. If the settings cannot be read, the login stays and the next pass tries again. */
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

  /** Logs each reason once, because most pass by themselves while files are written. */
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
