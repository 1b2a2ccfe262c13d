// The pool of database.read_url: a copy of the database, for lists that may be some moments old.

import type { DatabaseConfig } from 'dlq-core/runtime/config/config-schema.ts'
import { connectDatabase, type Database } from 'dlq-core/runtime/database/database.ts'
import type { DatabaseLogin } from 'dlq-core/runtime/database/database-login.ts'
import type { Log } from 'dlq-core/runtime/log.ts'

type Settings = { log: Log; login: DatabaseLogin; statement_timeout: number; request_timeout: number }

/** Undefined where no replica is configured. For a URL without a user, it uses the login of the primary. */
export function connectReplica(
  { read_url, ...database }: DatabaseConfig,
  { log, login, statement_timeout, request_timeout }: Settings,
): Database | undefined {
  if (read_url === undefined) return undefined
  const hasLogin = new URL(read_url).username !== ''
  const { user, password } = login.current()
  return connectDatabase(
    { ...database, url: read_url, user, password: hasLogin ? '' : password, statement_timeout },
    {
      ...{ applicationName: 'dlq-api-lists', log, silenceMs: request_timeout + 5000, genericPlans: true },
      login: hasLogin ? null : login,
    },
  )
}
