// kafka.security_protocol, kafka.sasl and kafka.tls: from file and environment to a client's options, and the faults
// where they contradict each other.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { certificateMaker } from 'dlq-testing/tls/certificates.ts'
import type { SASLOptions } from 'kafkajs'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { ConfigError, type ConfigSource, loadConfig } from '../config/config.ts'
import type { Log } from '../log.ts'
import { kafkaSecurity } from './kafka-security.ts'

type Source = Partial<ConfigSource> & { kafka?: object }

let folder = ''
const path = (name: string) => join(folder, name)
const passphrase = 'open sesame'
const secret = 's3cret-value'

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'dlq-security-'))
  const made = certificateMaker(folder)
  for (const name of ['one', 'other']) made.authority(name)
  made.lockKey('one', 'locked', passphrase)
  writeFileSync(path('secret'), `${secret}\n`)
  writeFileSync(path('passphrase'), `${passphrase}\n`)
  writeFileSync(path('garbage.pem'), 'garbage')
  const bad = Buffer.alloc(60).toString('base64')
  writeFileSync(path('bad.pem'), `-----BEGIN CERTIFICATE-----\n${bad}\n-----END CERTIFICATE-----\n`)
})
afterAll(() => rmSync(folder, { recursive: true }))

function load({ kafka = {}, ...source }: Source) {
  const yaml = JSON.stringify({ kafka: { brokers: ['kafka:9092'], ...kafka } })
  return loadConfig({ env: {}, yaml, needs: ['kafka'], ...source })
}

const log = { info: vi.fn(), warn: vi.fn() } as unknown as Log
const optionsOf = (source: Source) => kafkaSecurity(load(source).config.kafka, { log })

function faultsOf(source: Source): readonly string[] {
  try {
    load(source)
  } catch (error) {
    if (error instanceof ConfigError) return error.faults
    throw error
  }
  return []
}

describe('the client’s options', () => {
  test('have neither TLS nor SASL by default', () => {
    expect(optionsOf({})).toEqual({ ssl: false })
    expect(optionsOf({ kafka: { sasl: null, tls: null } })).toEqual({ ssl: false })
  })

  test('verify the broker with SSL alone, by the certificates that Node knows', () => {
    expect(optionsOf({ kafka: { security_protocol: 'SSL' } })).toEqual({ ssl: { rejectUnauthorized: true } })
  })

  test('hold a context of the certificates, and the name', () => {
    const tls = {
      ca_file: path('other.pem'),
      cert_file: path('one.pem'),
      key_file: path('locked.key'),
      key_passphrase_file: path('passphrase'),
      server_name: 'kafka.internal',
    }
    expect(optionsOf({ kafka: { security_protocol: 'SSL', tls } })).toEqual({
      ssl: {
        secureContext: expect.objectContaining({ context: expect.anything() }),
        servername: 'kafka.internal',
        rejectUnauthorized: true,
      },
    })
  })

  test.each([
    ['PLAIN', 'plain'],
    ['SCRAM-SHA-256', 'scram-sha-256'],
    ['SCRAM-SHA-512', 'scram-sha-512'],
  ])('name the mechanism %s as kafkajs does', (mechanism, name) => {
    const sasl = { mechanism, username: 'app', password: secret }
    expect(optionsOf({ kafka: { security_protocol: 'SASL_PLAINTEXT', sasl } })).toEqual({
      ssl: false,
      sasl: { mechanism: name, username: 'app', password: secret },
    })
  })

  test('give the present token of the file', async () => {
    writeFileSync(path('token'), 'first.token\n')
    const sasl = { mechanism: 'OAUTHBEARER', token_file: path('token') }
    const options = optionsOf({ kafka: { security_protocol: 'SASL_SSL', sasl } })
    expect(options.sasl).toMatchObject({ mechanism: 'oauthbearer' })
    const { oauthBearerProvider } = options.sasl as Extract<SASLOptions, { mechanism: 'oauthbearer' }>
    expect(await oauthBearerProvider()).toEqual({ value: 'first.token' })
    writeFileSync(path('token'), 'second.token')
    expect(await oauthBearerProvider()).toEqual({ value: 'second.token' })
  })
})

describe('from the environment', () => {
  test('a setting of a section in a section is set by all its names', () => {
    const env = {
      DLQ_KAFKA_SECURITY_PROTOCOL: 'SASL_SSL',
      DLQ_KAFKA_SASL_MECHANISM: 'SCRAM-SHA-512',
      DLQ_KAFKA_SASL_USERNAME: 'app',
      DLQ_KAFKA_SASL_PASSWORD: secret,
      DLQ_KAFKA_TLS_CA_FILE: path('one.pem'),
      DLQ_KAFKA_TLS_INSECURE_SKIP_VERIFY: 'false',
    }
    const { config, warnings } = load({ env })
    expect(config.kafka).toMatchObject({
      security_protocol: 'SASL_SSL',
      sasl: { mechanism: 'SCRAM-SHA-512', username: 'app', password: secret },
      tls: { ca_file: path('one.pem'), insecure_skip_verify: false },
    })
    expect(warnings).toEqual([])
  })

  test('a secret is read from the file that the variable with _FILE names', () => {
    const kafka = { security_protocol: 'SASL_SSL', sasl: { mechanism: 'PLAIN', username: 'app' } }
    const { config } = load({ kafka, env: { DLQ_KAFKA_SASL_PASSWORD_FILE: path('secret') } })
    expect(config.kafka.sasl).toEqual({ mechanism: 'PLAIN', username: 'app', password: secret })
  })

  test('a secret comes before the file that config.yaml names for it', () => {
    const sasl = { mechanism: 'PLAIN', username: 'app', password_file: path('absent') }
    const kafka = { security_protocol: 'SASL_SSL', sasl }
    const { config } = load({ kafka, env: { DLQ_KAFKA_SASL_PASSWORD: secret } })
    expect(config.kafka.sasl).toEqual({ mechanism: 'PLAIN', username: 'app', password: secret })
  })

  test('a mistyped variable of such a section is named', () => {
    const env = { DLQ_KAFKA_SASL_PASWORD: 'x', DLQ_KAFKA_TLS_CA: 'x', DLQ_KAFKA_SASL: 'x' }
    expect(load({ env }).warnings).toEqual(Object.keys(env).map((name) => `${name}: no such setting; ignored`))
  })
})

describe('faults', () => {
  const plain = { mechanism: 'PLAIN', username: 'app', password: secret }
  const client = { token_url: 'https://idp/token', client_id: 'dlq', client_secret: secret }

  test.each<[object, string[]]>([
    [{ security_protocol: 'SASL_SSL' }, ['kafka.sasl.mechanism: missing; kafka.security_protocol is SASL_SSL']],
    [
      { security_protocol: 'SASL_SSL', sasl: { mechanism: 'PLAIN' } },
      ['kafka.sasl.username: missing; PLAIN needs it', 'kafka.sasl.password: missing; PLAIN needs it'],
    ],
    [
      { security_protocol: 'SASL_SSL', sasl: { ...plain, mechanism: 'SCRAM-SHA-256', scope: 'kafka' } },
      ['kafka.sasl.scope: has no effect with SCRAM-SHA-256'],
    ],
    [
      { security_protocol: 'PLAINTEXT', sasl: plain },
      ['kafka.sasl: is given, but kafka.security_protocol is PLAINTEXT; make it SASL_SSL or SASL_PLAINTEXT'],
    ],
    [
      { security_protocol: 'SSL', sasl: plain },
      ['kafka.sasl: is given, but kafka.security_protocol is SSL; make it SASL_SSL'],
    ],
    [
      { security_protocol: 'SASL_PLAINTEXT', sasl: plain, tls: { insecure_skip_verify: true } },
      ['kafka.tls: is given, but kafka.security_protocol is SASL_PLAINTEXT, which has no TLS'],
    ],
    [
      { security_protocol: 'SASL_SSL', sasl: { mechanism: 'OAUTHBEARER' } },
      ['kafka.sasl.token_url: missing; OAUTHBEARER needs it, or kafka.sasl.token_file'],
    ],
    [
      { security_protocol: 'SASL_SSL', sasl: { mechanism: 'OAUTHBEARER', token_url: client.token_url } },
      [
        'kafka.sasl.client_id: missing; kafka.sasl.token_url needs it',
        'kafka.sasl.client_secret: missing; kafka.sasl.token_url needs it',
      ],
    ],
    [
      { security_protocol: 'SASL_SSL', sasl: { mechanism: 'OAUTHBEARER', ...client, username: 'app' } },
      ['kafka.sasl.username: has no effect with OAUTHBEARER'],
    ],
    [
      { security_protocol: 'SASL_SSL', sasl: { mechanism: 'OAUTHBEARER', ...client, token_file: '/absent' } },
      [
        'kafka.sasl.token_url: has no effect beside kafka.sasl.token_file',
        'kafka.sasl.client_id: has no effect beside kafka.sasl.token_file',
        'kafka.sasl.client_secret: has no effect beside kafka.sasl.token_file',
        "kafka.sasl.token_file: cannot read the file /absent: ENOENT: no such file or directory, open '/absent'",
      ],
    ],
    [
      { sasl: { mechanism: 'plain', token_url: 'idp/token' } },
      [
        'kafka.sasl.mechanism: must be one of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER',
        'kafka.sasl.token_url: must start with https:// or http://',
      ],
    ],
    [
      { sasl: { user: 'app' }, tls: 'yes' },
      [
        'kafka.sasl.user: unknown key; known here: mechanism, username, password, token_url, client_id, client_secret, scope, token_file',
        'kafka.tls: must be a section with keys',
      ],
    ],
  ])('of %j are named by their paths', (kafka, faults) => {
    expect(faultsOf({ kafka })).toEqual(faults)
  })

  const tlsFaults = (tls: object) => faultsOf({ kafka: { security_protocol: 'SSL', tls } })

  test('are certificates without their keys, and the reverse', () => {
    expect(tlsFaults({ cert_file: path('one.pem') })).toEqual([
      'kafka.tls.key_file: missing; kafka.tls.cert_file needs its key',
    ])
    expect(tlsFaults({ key_file: path('one.key') })).toEqual([
      'kafka.tls.cert_file: missing; kafka.tls.key_file needs its certificate',
    ])
    expect(tlsFaults({ key_passphrase: passphrase })).toEqual([
      'kafka.tls.key_file: missing; kafka.tls.key_passphrase is for it',
    ])
  })

  test('are files that cannot be read, each by its path and all at once', () => {
    const faults = tlsFaults({ ca_file: '/absent', cert_file: path('one.pem'), key_file: folder })
    expect(faults).toEqual([
      expect.stringMatching(/^kafka\.tls\.ca_file: cannot read the file \/absent: ENOENT/),
      expect.stringMatching(/^kafka\.tls\.key_file: cannot read the file .*: EISDIR/),
    ])
    const sasl = { ...plain, password_file: '/absent' }
    expect(faultsOf({ kafka: { security_protocol: 'SASL_SSL', sasl } })).toEqual([
      expect.stringMatching(/^kafka\.sasl\.password_file: cannot read the file \/absent: ENOENT/),
    ])
  })

  test('are certificates and keys that do not fit', () => {
    const cert_file = path('one.pem')
    expect(tlsFaults({ ca_file: path('garbage.pem') })).toEqual(['kafka.tls.ca_file: holds no certificate in PEM'])
    expect(tlsFaults({ ca_file: path('bad.pem') })).toEqual([
      expect.stringMatching(/^kafka\.tls\.ca_file: holds a certificate that cannot be read: /),
    ])
    for (const own of [
      { key_file: path('other.key') },
      { key_file: path('garbage.pem') },
      { key_file: path('locked.key') },
      { key_file: path('locked.key'), key_passphrase: 'wrong' },
    ]) {
      const [fault, ...others] = tlsFaults({ cert_file, ...own })
      expect(fault).toMatch(/^kafka\.tls\.cert_file: cannot be used with its key: /)
      expect(others).toEqual([])
    }
  })

  test('never repeat a secret', () => {
    const secrets = { password: secret, client_secret: secret, token_url: `idp?${secret}`, username: '' }
    const faults = faultsOf({ kafka: { sasl: { mechanism: secret, ...secrets }, tls: { key_passphrase: secret } } })
    expect(faults.length).toBeGreaterThan(2)
    expect(faults.join()).not.toContain(secret)
  })

  test('are none for a service that does not talk to Kafka, which reads none of the files', () => {
    const kafka = { security_protocol: 'SASL_SSL', sasl: { password_file: '/absent' }, tls: { ca_file: '/absent' } }
    expect(faultsOf({ kafka, needs: [] })).toEqual([])
  })
})

test('there are warnings for settings that are dangerous and allowed', () => {
  const sasl = { mechanism: 'PLAIN', username: 'app', password: secret }
  expect(load({ kafka: { security_protocol: 'SSL', tls: { insecure_skip_verify: true } } }).warnings).toEqual([
    'kafka.tls.insecure_skip_verify: anyone may pose as the broker',
  ])
  expect(load({ kafka: { security_protocol: 'SASL_PLAINTEXT', sasl } }).warnings).toEqual([
    'kafka.security_protocol: SASL_PLAINTEXT sends the credentials of PLAIN unencrypted',
  ])
  expect(load({ kafka: { security_protocol: 'SASL_SSL', sasl } }).warnings).toEqual([])
})

test('user and password are read at each authentication, because their files may have changed', () => {
  const sasl = { mechanism: 'SCRAM-SHA-512', username: 'app', password: 'old' } as const
  const { kafka } = load({ kafka: { security_protocol: 'SASL_PLAINTEXT', sasl } }).config
  let latest = kafka
  const options = kafkaSecurity(kafka, { log, latest: () => latest }).sasl as SASLOptions & { password: string }
  expect(options.password).toBe('old')
  latest = { ...kafka, sasl: { ...kafka.sasl, password: 'new' } }
  expect(options.password).toBe('new')
})
