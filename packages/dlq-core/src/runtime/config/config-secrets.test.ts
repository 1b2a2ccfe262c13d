import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type ConfigSource, loadConfig } from './config.ts'

const load = (source: Partial<ConfigSource>) => loadConfig({ env: {}, yaml: null, needs: [], ...source })

describe('secrets', () => {
  const readSecret = (path: string) => {
    if (path === '/run/secrets/url') return 'postgres://app:s3cret@db/dlq'
    if (path === '/run/secrets/password') return 's3cret'
    throw new Error('ENOENT: no such file')
  }

  test('are read from the file that a variable with _FILE names', () => {
    const env = { DATABASE_URL_FILE: '/run/secrets/url', DLQ_DATABASE_PASSWORD_FILE: '/run/secrets/password' }
    const { config, warnings } = load({ env, readSecret, needs: ['database'] })
    expect(config.database).toMatchObject({ url: 'postgres://app:s3cret@db/dlq', password: 's3cret' })
    expect(warnings).toEqual([])
  })

  test('are read from the file that database.password_file names', () => {
    const { config } = load({ yaml: 'database: { password_file: /run/secrets/password }', readSecret })
    expect(config.database.password).toBe('s3cret')
    expect(config.database).not.toHaveProperty('password_file')
  })

  test.each(['url', 'user', 'password'])('may stand in a file, which database.%s_file names', (key) => {
    const read = () => 'postgres://from-file'
    const { config, files } = load({ yaml: `database: { ${key}_file: /run/secrets/one }`, readSecret: read })
    expect(config.database).toMatchObject({ [key]: 'postgres://from-file' })
    expect([...files]).toEqual([['/run/secrets/one', 'postgres://from-file']])
  })

  test('that cannot be read are faults, each with its file', () => {
    const source = { yaml: 'database: { password_file: /gone }', env: { DATABASE_URL_FILE: '/gone too' }, readSecret }
    const faults = [
      'DATABASE_URL_FILE: cannot read the file /gone too: ENOENT: no such file',
      'database.password_file: cannot read the file /gone: ENOENT: no such file',
    ]
    expect(() => load(source)).toThrow(expect.objectContaining({ faults }))
  })

  test('that two variables give differently are a fault, which shows neither', () => {
    const env = { DATABASE_URL: 'postgres://app:s3cret@db/dlq', DATABASE_URL_FILE: '/run/secrets/url' }
    expect(load({ env, readSecret }).config.database.url).toBe(env.DATABASE_URL)
    const faults = [
      'database.url: DATABASE_URL_FILE and DLQ_DATABASE_URL say different things; set only one of the two',
    ]
    expect(() => load({ env: { ...env, DLQ_DATABASE_URL: 'postgres://other/dlq' }, readSecret })).toThrow(
      expect.objectContaining({ faults }),
    )
  })

  test('in a URL stand beside a host and a name that are not used, which is warned of', () => {
    const source = { yaml: 'database: { host: a, name: b, user: c }', env: { DATABASE_URL: 'postgres://db/dlq' } }
    expect(load(source).warnings).toEqual([
      'database.host: has no effect beside database.url (DATABASE_URL)',
      'database.name: has no effect beside database.url (DATABASE_URL)',
    ])
  })

  test('are of the file that faults name', () => {
    const faults = [
      'my.yaml: Flow sequence in block collection must be sufficiently indented and end with a ] at line 1, column 5',
    ]
    expect(() => load({ yaml: 'a: [', yamlName: 'my.yaml' })).toThrow(expect.objectContaining({ faults }))
  })

  test('lose the byte order mark and the line feed of their file', () => {
    const folder = mkdtempSync(join(tmpdir(), 'dlq-secret-'))
    try {
      writeFileSync(join(folder, 'password'), '\uFEFFs3cret\r\n')
      const env = { DLQ_DATABASE_PASSWORD_FILE: join(folder, 'password') }
      expect(load({ env }).config.database.password).toBe('s3cret')
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test('that stand as hashes end at a date of the calendar', () => {
    const token = { name: 'a', sha256: '0'.repeat(64), role: 'sys_admin', expires_at: '2026-02-30T00:00:00Z' }
    const faults = ['auth.tokens.0.expires_at: must be a time such as 2027-01-31T00:00:00Z']
    expect(() => load({ yaml: JSON.stringify({ auth: { tokens: [token] } }) })).toThrow(
      expect.objectContaining({ faults }),
    )
  })

  test('are not repeated in faults', () => {
    const env = { DATABASE_URL: 'mysql://app:s3cret@db/dlq', DLQ_DATABASE_PORT: '0' }
    const faults = [expect.not.stringContaining('s3cret'), expect.not.stringContaining('s3cret')]
    expect(() => load({ env })).toThrow(expect.objectContaining({ faults }))
  })
})
