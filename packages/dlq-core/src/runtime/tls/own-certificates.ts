// Our own certificates, what each is shown to, and until when it is valid. A service with one that has expired works on
// until a connection breaks, and then opens no other one.

import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Gauge, type Registry } from 'prom-client'
import type { Config } from '../config/config-schema.ts'

/** `of` is what it is shown to, as in the log. */
type OwnCertificate = { of: string; setting: string; file: string }

/** Registers two gauges. Each scrape reads the files. A file that cannot be read has no value. */
export function createCertificateMetrics(registry: Registry, config: () => Config): void {
  const gauge = (name: string, help: string, timeOf: (certificate: X509Certificate) => Date) =>
    new Gauge({
      ...{ name, help, labelNames: ['of'], registers: [registry] },
      collect() {
        this.reset()
        for (const { of, file } of ownCertificates(config())) {
          const certificate = readCertificate(file)
          if (certificate !== null) this.set({ of }, timeOf(certificate).getTime() / 1000)
        }
      },
    })
  gauge(
    'dlq_certificate_start_timestamp_seconds',
    'Since when our own certificate is valid that Kafka, PostgreSQL or a registry (of) is shown.',
    ({ validFromDate }) => validFromDate,
  )
  gauge(
    'dlq_certificate_expiry_timestamp_seconds',
    'Until when our own certificate is valid that Kafka, PostgreSQL or a registry (of) is shown.',
    ({ validToDate }) => validToDate,
  )
}

/** A sentence for each certificate that is not valid at that time, in ms since 1970. */
export function certificateWarnings(config: Config, now = Date.now()): string[] {
  return ownCertificates(config).flatMap(({ of, setting, file }) => {
    const certificate = readCertificate(file)
    if (certificate === null) return []
    const { validFromDate, validToDate } = certificate
    if (now > validToDate.getTime())
      return [`${setting}: expired at ${validToDate.toISOString()}; ${of} will refuse it`]
    if (now < validFromDate.getTime())
      return [`${setting}: is valid from ${validFromDate.toISOString()} on; until then ${of} will refuse it`]
    return []
  })
}

function ownCertificates({ kafka, database, schemas }: Config): OwnCertificate[] {
  const all = [
    { of: 'Kafka', setting: 'kafka.tls.cert_file', file: kafka.tls.cert_file },
    { of: 'PostgreSQL', setting: 'database.ssl_cert_file', file: database.ssl_cert_file },
    ...(schemas?.registries ?? []).map(({ name, cert_file }, n) => ({
      ...{ of: name, setting: `schemas.registries.${n}.cert_file`, file: cert_file },
    })),
  ]
  return all.flatMap(({ file, ...certificate }) => (file === undefined ? [] : [{ ...certificate, file }]))
}

/** The first of the file, which is our own; those of its authorities may follow. Null: it cannot be read. */
function readCertificate(file: string): X509Certificate | null {
  try {
    return new X509Certificate(readFileSync(file))
  } catch {
    return null
  }
}
