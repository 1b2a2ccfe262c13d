// Finds the database for the programs of this folder in the services' settings, so that a deployment names it once.

import { readFileSync } from 'node:fs'
import { loadConfig } from 'dlq-core/runtime/config/config.ts'
import type { DatabaseConfig } from 'dlq-core/runtime/config/config-schema.ts'

/**
 * The URL from DATABASE_URL, DATABASE_URL_FILE, DLQ_DATABASE_… or the file that DLQ_CONFIG names.
 *
 * @throws {ConfigError} where they name none
 */
export function databaseUrlOf(env: NodeJS.ProcessEnv): string {
  const yaml = env.DLQ_CONFIG ? readFileSync(env.DLQ_CONFIG, 'utf8') : null
  return toUrl(loadConfig({ env, yaml, needs: ['database'] }).config.database)
}

/** The mode for the driver pg, which treats "require" as "verify-full" without its compatibility flag. */
function toUrl({ url, host, port, name, user, password, ssl_mode, ...tls }: DatabaseConfig): string {
  const result = new URL(url ?? `postgres://${authority(host)}:${port}/${encodeURIComponent(name ?? '')}`)
  if (result.username === '' && user !== undefined) result.username = encodeURIComponent(user)
  if (password !== '') result.password = encodeURIComponent(password)
  if (ssl_mode !== 'disable') {
    // The driver has no "prefer": it encrypts or it does not.
    result.searchParams.set('sslmode', ssl_mode === 'prefer' ? 'require' : ssl_mode)
    result.searchParams.set('uselibpqcompat', 'true')
    const files = { sslrootcert: tls.ssl_ca_file, sslcert: tls.ssl_cert_file, sslkey: tls.ssl_key_file }
    for (const [name, path] of Object.entries(files)) if (path !== undefined) result.searchParams.set(name, path)
  }
  return result.href
}

/** In a URL an IPv6 address has brackets. */
function authority(host = ''): string {
  return host.includes(':') ? `[${host}]` : host
}
