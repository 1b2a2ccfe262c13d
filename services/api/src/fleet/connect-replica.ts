// The pool of database.read_url: a copy of the database, for lists that may be some moments old.

import type { DatabaseConfig } from 'dlq-core/runtime/config/config-schema.ts'
import { connectDatabase, type Database, proveLogin } from 'dlq-core/runtime/database/database.ts'
import { type DatabaseLogin, type FollowedLogin, followLogin } from 'dlq-core/runtime/database/database-login.ts'
import type { Log } from 'dlq-core/runtime/log.ts'

type Settings = {
  log: Log
  /** The primary's. */
  login: DatabaseLogin
  /** The replica's own. Null where it has none. */
  readLogin: DatabaseLogin | null
  statement_timeout: number
  request_timeout: number
}

/** Undefined where no replica is configured. For a URL without a user, and without a login of its own, it uses the login of the primary. */
export function connectReplica(
  { read_url, ...database }: DatabaseConfig,
  { log, login, readLogin, statement_timeout, request_timeout }: Settings,
): Database | undefined {
  if (read_url === undefined) return undefined
  const hasLogin = readLogin === null && new URL(read_url).username !== ''
  const used = readLogin ?? login
  const { user, password } = used.current()
  return connectDatabase(
    { ...database, url: read_url, user, password: hasLogin ? '' : password, statement_timeout },
    {
      ...{ applicationName: 'dlq-api-lists', log, silenceMs: request_timeout + 5000, genericPlans: true },
      login: hasLogin ? null : used,
    },
  )
}

/** Follows the replica's own login (database.read_user). Null where there is none. */
export function followReadLogin(
  start: DatabaseConfig,
  { latest, log }: { latest: () => DatabaseConfig; log: Log },
): FollowedLogin | null {
  const config = readConfigOf(start)
  return config && followLogin(config, { reread: () => readConfigOf(latest()), prove: proveLogin, log })
}

function readConfigOf({ read_url, read_user, read_password, ...database }: DatabaseConfig): DatabaseConfig | null {
  if (read_url === undefined || read_user === undefined) return null
  return { ...database, read_password, url: read_url, user: read_user, password: read_password }
}
