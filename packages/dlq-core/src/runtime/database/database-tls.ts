// How a connection to PostgreSQL is encrypted, and whom it trusts, for both drivers. The names are libpq's.

import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { DatabaseConfig } from '../config/config-schema.ts'

/** `host` is the name that the certificate must have; for an address Node would look for "localhost". */
export type VerifyingTls = { rejectUnauthorized: true; host: string; ca?: string }

/** The options of `tls.connect` for `ssl_mode: verify-full`. Reads the file of the authorities. */
export function verifyingTls({ ssl_ca_file }: DatabaseConfig, host: string): VerifyingTls {
  return {
    rejectUnauthorized: true,
    host,
    ...(ssl_ca_file !== undefined && { ca: readFileSync(ssl_ca_file, 'utf8') }),
  }
}

/** The faults of ssl_mode and ssl_ca_file together. */
export function databaseTlsFaults({ ssl_mode, ssl_ca_file }: DatabaseConfig): string[] {
  if (ssl_ca_file === undefined) return []
  if (ssl_mode !== 'verify-full')
    return [`database.ssl_ca_file: is given, but database.ssl_mode is ${ssl_mode}; make it verify-full`]
  try {
    // Node ignores a file without a certificate, and then trusts no server.
    new X509Certificate(readFileSync(ssl_ca_file))
    return []
  } catch (error) {
    return [`database.ssl_ca_file: cannot use the file ${ssl_ca_file}: ${(error as Error).message}`]
  }
}
