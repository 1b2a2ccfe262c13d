import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { certificateMaker } from 'dlq-testing/tls/certificates.ts'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadConfig } from '../config/config.ts'
import { certificateWarnings, createCertificateMetrics } from './own-certificates.ts'

const folder = mkdtempSync(join(tmpdir(), 'dlq-certificates-'))
const made = certificateMaker(folder)
const used = made.path('used.pem')
const day = 86_400_000

beforeAll(() => {
  made.authority('ca')
  made.certificate('kafka', { authority: 'ca', extension: 'extendedKeyUsage=clientAuth' })
  made.certificate('registry', { authority: 'ca', extension: 'extendedKeyUsage=clientAuth' })
  copyFileSync(made.path('kafka.pem'), used)
})
afterAll(() => rmSync(folder, { recursive: true }))

function readConfig() {
  const registry = { name: 'main', url: 'https://registry.example', cert_file: made.path('registry.pem') }
  const yaml = JSON.stringify({
    kafka: { security_protocol: 'SSL', tls: { cert_file: used, key_file: made.path('kafka.key') } },
    schemas: { registries: [{ ...registry, key_file: made.path('registry.key') }] },
  })
  return loadConfig({ env: {}, yaml, needs: [] })
}

async function exported(registry: Registry): Promise<Map<string, number>> {
  const lines = (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(lines.map((line) => line.split(' ') as [string, string]).map(([name, value]) => [name, Number(value)]))
}

test('the times of each certificate are exported, those of the files as they are at the scrape', async () => {
  const { config } = readConfig()
  const registry = new Registry()
  createCertificateMetrics(registry, () => config)
  const seen = await exported(registry)
  expect([...seen.keys()].sort()).toEqual([
    'dlq_certificate_expiry_timestamp_seconds{of="Kafka"}',
    'dlq_certificate_expiry_timestamp_seconds{of="main"}',
    'dlq_certificate_start_timestamp_seconds{of="Kafka"}',
    'dlq_certificate_start_timestamp_seconds{of="main"}',
  ])
  const [start, expiry] = ['start', 'expiry'].map(
    (what) => seen.get(`dlq_certificate_${what}_timestamp_seconds{of="Kafka"}`)!,
  )
  expect(expiry! - start!).toBe((2 * day) / 1000)
  expect(Math.abs(start! - Date.now() / 1000)).toBeLessThan(120)

  writeFileSync(used, 'half')
  expect([...(await exported(registry)).keys()].filter((name) => name.includes('Kafka'))).toEqual([])
  copyFileSync(made.path('kafka.pem'), used)
  expect((await exported(registry)).get('dlq_certificate_expiry_timestamp_seconds{of="Kafka"}')).toBe(expiry)
})

test('the configuration warns of a certificate that has expired, and of one that is not valid yet', () => {
  const { config, warnings } = readConfig()
  expect(warnings).toEqual([])
  expect(certificateWarnings(config, Date.now() + 3 * day)).toEqual([
    expect.stringMatching(/^kafka\.tls\.cert_file: expired at \d{4}-.*Z; Kafka will refuse it$/),
    expect.stringMatching(/^schemas\.registries\.0\.cert_file: expired at .*; main will refuse it$/),
  ])
  expect(certificateWarnings(config, Date.now() - day)[0]).toMatch(
    /^kafka\.tls\.cert_file: is valid from \d{4}-.*Z on; until then Kafka will refuse it$/,
  )
})
