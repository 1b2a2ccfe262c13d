// How a connection to PostgreSQL is encrypted, and whom it trusts, for both drivers. The names are libpq's.

import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { DatabaseConfig } from './config-schema.ts'

/** `host` is whose name must be in the certificate: of an address, Node would look for "localhost" instead. */
export type VerifyingTls = { rejectUnauthorized: true; host: string; ca?: string }

/** What `ssl_mode: verify-full` means, to be given to `tls.connect`. Reads the file of the authorities. */
export function verifyingTls({ ssl_ca_file }: DatabaseConfig, host: string): VerifyingTls {
  return {
    rejectUnauthorized: true,
    host,
    ...(ssl_ca_file !== undefined && { ca: readFileSync(ssl_ca_file, 'utf8') }),
  }
}

/** What is wrong with ssl_mode and ssl_ca_file together. */
export function databaseTlsFaults({ ssl_mode, ssl_ca_file }: DatabaseConfig): string[] {
  if (ssl_ca_file === undefined) return []
  if (ssl_mode !== 'verify-full')
    return [`database.ssl_ca_file: is given, but database.ssl_mode is ${ssl_mode}; make it verify-full`]
  try {
    // Node passes over a file that holds no certificate, and then trusts nobody.
    new X509Certificate(readFileSync(ssl_ca_file))
    return []
  } catch (error) {
    return [`database.ssl_ca_file: cannot use the file ${ssl_ca_file}: ${(error as Error).message}`]
  }
}
