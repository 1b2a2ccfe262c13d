// Which database the programs of this folder work on: the one that the services' own settings name, so that
// whoever deploys says it once.

import { readFileSync } from 'node:fs'
import { loadConfig } from 'dlq-core/runtime/config.ts'
import type { DatabaseConfig } from 'dlq-core/runtime/config-schema.ts'

/**
 * The URL that DATABASE_URL, DATABASE_URL_FILE, DLQ_DATABASE_… or the file that DLQ_CONFIG names give.
 *
 * @throws {ConfigError} where they name none
 */
export function databaseUrlOf(env: NodeJS.ProcessEnv): string {
  const yaml = env.DLQ_CONFIG ? readFileSync(env.DLQ_CONFIG, 'utf8') : null
  return toUrl(loadConfig({ env, yaml, needs: ['database'] }).config.database)
}

/** As the driver pg reads it: without its compatibility flag it takes "require" for "verify-full". */
function toUrl({ url, host, port, name, user, password, ssl_mode }: DatabaseConfig): string {
  const result = new URL(url ?? `postgres://${authority(host)}:${port}/${encodeURIComponent(name ?? '')}`)
  if (result.username === '' && user !== undefined) result.username = encodeURIComponent(user)
  if (password !== '') result.password = encodeURIComponent(password)
  if (ssl_mode !== 'disable') {
    // The driver has no "prefer": it encrypts or it does not.
    result.searchParams.set('sslmode', ssl_mode === 'prefer' ? 'require' : ssl_mode)
    result.searchParams.set('uselibpqcompat', 'true')
  }
  return result.href
}

/** An IPv6 address stands in brackets in a URL. */
function authority(host = ''): string {
  return host.includes(':') ? `[${host}]` : host
}
