// Authorities and certificates for a test, made by openssl in a folder of the test.

import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

export type CertificateMaker = {
  path(name: string): string
  /** An authority that has signed itself: `<name>.pem` and `<name>.key`. */
  authority(name: string): void
  /** A certificate of an authority for `CN=<name>`, with an X.509 extension in the words of openssl. */
  certificate(name: string, options: { authority: string; extension: string; commonName?: string }): void
  /** Encrypts the key of a certificate with a passphrase: `<locked>.key`. */
  lockKey(name: string, locked: string, passphrase: string): void
}

/** All live for two days. A name that is used again is replaced, file by file. */
export function certificateMaker(folder: string): CertificateMaker {
  const openssl = (...args: string[]) => void execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
  const newKey = (name: string) =>
    ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', `${name}.key`] as const
  return {
    path: (name) => join(folder, name),
    authority: (name) =>
      openssl('req', '-x509', ...newKey(name), '-days', '2', '-subj', `/CN=${name}`, '-out', `${name}.pem`),
    certificate(name, { authority, extension, commonName = name }) {
      writeFileSync(join(folder, `${name}.ext`), extension)
      openssl('req', ...newKey(name), '-subj', `/CN=${commonName}`, '-out', `${name}.csr`)
      openssl(
        ...['x509', '-req', '-in', `${name}.csr`, '-CA', `${authority}.pem`, '-CAkey', `${authority}.key`],
        ...['-CAcreateserial', '-days', '2', '-extfile', `${name}.ext`, '-out', `${name}.pem`],
      )
    },
    lockKey: (name, locked, passphrase) =>
      openssl('pkcs8', '-topk8', '-in', `${name}.key`, '-out', `${locked}.key`, '-passout', `pass:${passphrase}`),
  }
}
