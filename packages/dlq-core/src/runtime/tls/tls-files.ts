// Certificates and keys in PEM, in files that are replaced while a service runs: those of cert-manager live for 90 days,
// those of a mesh for an hour.

import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type ConnectionOptions, createSecureContext, type SecureContextOptions } from 'node:tls'
import { isDeepStrictEqual } from 'node:util'
import type { Log } from '../log.ts'

/** Paths: the authorities that may sign the other side's certificate, our own certificate, and its key. */
export type TlsFiles = {
  ca?: string | undefined
  cert?: string | undefined
  key?: string | undefined
  /** Of the key; no path. */
  passphrase?: string | undefined
}

type FileKind = 'ca' | 'cert' | 'key'
type Contents = Pick<SecureContextOptions, 'passphrase'> & Partial<Record<FileKind, string>>

/**
 * The options of `tls.connect`, with a `secureContext` that is that of the present files whenever it is read: for each new
 * connection. While these cannot be used (one is half-written, or a certificate and a key do not match yet), it is the
 * former one. Where `files` names none, the options stay as they are.
 */
export function followTlsFiles(
  options: ConnectionOptions,
  files: () => TlsFiles,
  { of, log }: { /** What is connected to, for the log. */ of: string; log: Log },
): ConnectionOptions {
  if (!hasFiles(files())) return options
  let contents = readContents(files(), readText)
  let context = createSecureContext(contents)
  let refused = ''

  function follow(): void {
    const fresh = readContents(files(), readText)
    if (isDeepStrictEqual(fresh, contents)) return
    const [fault] = contentFaults(fresh, (kind) => `${kind} file`)
    if (fault !== undefined) throw new Error(fault)
    context = createSecureContext(fresh)
    contents = fresh
    log.info({ of }, 'tls_files_changed')
  }

  const get = () => {
    try {
      follow()
      refused = ''
    } catch (error) {
      // Each reason once: most pass by themselves while files are written.
      const { message } = error as Error
      if (message !== refused) log.warn({ of, error }, 'tls_files_refused')
      refused = message
    }
    return context
  }
  return Object.defineProperty({ ...options }, 'secureContext', { get, enumerable: true })
}

/** What is wrong with the files, by the setting of each. Reads them. */
export function tlsFileFaults(files: TlsFiles, settingOf: (kind: FileKind) => string): string[] {
  const faults: string[] = []
  const { cert, key } = files
  if (cert !== undefined && key === undefined)
    faults.push(`${settingOf('key')}: missing; ${settingOf('cert')} needs its key`)
  if (cert === undefined && key !== undefined)
    faults.push(`${settingOf('cert')}: missing; ${settingOf('key')} needs its certificate`)
  const contents = readContents(files, (path, kind) => readOrFault(settingOf(kind), path, faults))
  return faults.length > 0 ? faults : contentFaults(contents, settingOf)
}

/** The text of a setting's file; an empty one, and a fault, where it cannot be read. */
export function readOrFault(setting: string, path: string, faults: string[]): string {
  try {
    return readText(path)
  } catch (error) {
    faults.push(`${setting}: cannot read the file ${path}: ${(error as Error).message}`)
    return ''
  }
}

function hasFiles({ ca, cert, key }: TlsFiles): boolean {
  return ca !== undefined || cert !== undefined || key !== undefined
}

function readText(path: string): string {
  return readFileSync(path, 'utf8')
}

function readContents(
  { ca, cert, key, passphrase }: TlsFiles,
  read: (path: string, kind: FileKind) => string,
): Contents {
  return {
    ...(ca !== undefined && { ca: read(ca, 'ca') }),
    ...(cert !== undefined && { cert: read(cert, 'cert') }),
    ...(key !== undefined && { key: read(key, 'key') }),
    ...(passphrase !== undefined && { passphrase }),
  }
}

function contentFaults({ ca, ...own }: Contents, settingOf: (kind: FileKind) => string): string[] {
  const faults = ca === undefined ? [] : authorityFaults(ca).map((fault) => `${settingOf('ca')}: ${fault}`)
  try {
    createSecureContext(own)
  } catch (error) {
    // OpenSSL's words: no PEM, a key of another certificate, a wrong passphrase.
    faults.push(`${settingOf('cert')}: cannot be used with its key: ${(error as Error).message}`)
  }
  return faults
}

/** Node ignores a file without a certificate, and then trusts no server. */
function authorityFaults(ca: string): string[] {
  const certificates = ca.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g)
  if (certificates === null) return ['holds no certificate in PEM']
  try {
    for (const certificate of certificates) new X509Certificate(certificate)
    return []
  } catch (error) {
    return [`holds a certificate that cannot be read: ${(error as Error).message}`]
  }
}
