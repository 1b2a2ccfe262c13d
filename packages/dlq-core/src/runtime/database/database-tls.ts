// How a connection to PostgreSQL is encrypted, whom it trusts, and the certificate that it shows, for both drivers. The
// names are libpq's.

import type { ConnectionOptions } from 'node:tls'
import type { DatabaseConfig } from '../config/config-schema.ts'
import type { Log } from '../log.ts'
import { followTlsFiles, type TlsFiles, tlsFileFaults } from '../tls/tls-files.ts'

type Settings = Pick<DatabaseConfig, 'ssl_mode' | 'ssl_ca_file' | 'ssl_cert_file' | 'ssl_key_file'>

/**
 * The options of `tls.connect` where the settings verify the server or name a certificate of ours; null where the mode
 * says everything. Each new connection has the certificates that the files hold then.
 *
 * @param host the name that the server's certificate must have; for an address Node would look for "localhost"
 */
export function databaseTls(settings: Settings, { host, log }: { host: string; log: Log }): ConnectionOptions | null {
  const { ssl_mode, ssl_cert_file } = settings
  const verifies = ssl_mode === 'verify-full'
  if (!verifies && ssl_cert_file === undefined) return null
  const options = { rejectUnauthorized: verifies, ...(verifies && { host }) }
  return followTlsFiles(options, () => tlsFiles(settings), { of: 'PostgreSQL', log })
}

/** The faults of ssl_mode and the files together. Reads these. */
export function databaseTlsFaults(settings: Settings): string[] {
  const { ssl_mode, ssl_ca_file, ssl_cert_file, ssl_key_file } = settings
  if (ssl_ca_file !== undefined && ssl_mode !== 'verify-full')
    return [`database.ssl_ca_file: is given, but database.ssl_mode is ${ssl_mode}; make it verify-full`]
  const own = ssl_cert_file !== undefined ? 'ssl_cert_file' : ssl_key_file !== undefined ? 'ssl_key_file' : null
  if (own !== null && (ssl_mode === 'disable' || ssl_mode === 'prefer'))
    return [`database.${own}: is given, but database.ssl_mode is ${ssl_mode}; make it verify-full, or require`]
  return tlsFileFaults(tlsFiles(settings), (kind) => `database.ssl_${kind}_file`)
}

function tlsFiles({ ssl_ca_file, ssl_cert_file, ssl_key_file }: Settings): TlsFiles {
  return { ca: ssl_ca_file, cert: ssl_cert_file, key: ssl_key_file }
}
