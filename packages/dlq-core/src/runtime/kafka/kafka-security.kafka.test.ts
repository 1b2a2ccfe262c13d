// A client as a service builds it, against a broker that authenticates it: over TLS with certificates of this test, by
// every SASL mechanism of the configuration.
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { startKafka } from 'dlq-testing/kafka/kafka.ts'
import { freePort } from 'dlq-testing/process/free-port.ts'
import { createReaper } from 'dlq-testing/process/reaper.ts'
import { certificateMaker } from 'dlq-testing/tls/certificates.ts'
import type { Kafka } from 'kafkajs'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { loadConfig } from '../config/config.ts'
import type { KafkaConfig } from '../config/config-schema.ts'
import type { Log } from '../log.ts'
import { connectKafka } from './kafka.ts'

const password = 'correct-horse'
const wrongPassword = 'not-the-horse'
/** How long SCRAM-SHA-256 over SASL_PLAINTEXT holds, until the broker closes the connection. */
const sessionMs = 1500
const reaper = createReaper()
const folder = mkdtempSync(join(tmpdir(), 'dlq-security-'))
const made = certificateMaker(folder)
const { path } = made
const ports = { SSL: 0, SASL_SSL: 0, SASL_PLAINTEXT: 0 }
let tokenServer: Server
let tokenUrl = ''

beforeAll(async () => {
  for (const protocol of ['SSL', 'SASL_SSL', 'SASL_PLAINTEXT'] as const) ports[protocol] = await freePort()
  makeCertificates()
  tokenServer = createServer((request, response) => {
    const isKnown = request.headers.authorization === `Basic ${Buffer.from(`app:${password}`).toString('base64')}`
    const answer = isKnown
      ? { access_token: token({ lifeSeconds: 300 }), expires_in: 300 }
      : { error: 'invalid_client' }
    response.writeHead(isKnown ? 200 : 401, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  await new Promise<void>((resolve) => tokenServer.listen(0, '127.0.0.1', resolve))
  tokenUrl = `http://127.0.0.1:${(tokenServer.address() as AddressInfo).port}/token`
  await startKafka({ dataDir: path('kafka'), reaper, extras: brokerExtras() })
})

afterAll(async () => {
  await reaper.close()
  tokenServer.close()
  rmSync(folder, { recursive: true, force: true })
})

/** An authority with a certificate for the broker and one for a client, and an authority that is not trusted. */
function makeCertificates(): void {
  for (const name of ['ca', 'other-ca']) made.authority(name)
  const extension = 'subjectAltName=IP:127.0.0.1,DNS:kafka.internal'
  made.certificate('broker', { authority: 'ca', extension })
  made.certificate('client', { authority: 'ca', extension: 'extendedKeyUsage=clientAuth' })
  made.certificate('stranger', { authority: 'other-ca', extension: 'extendedKeyUsage=clientAuth' })
  made.lockKey('client', 'locked', password)
}

function brokerExtras() {
  const modules = {
    plain: `plain.PlainLoginModule required user_app="${password}";`,
    'scram-sha-256': 'scram.ScramLoginModule required;',
    'scram-sha-512': 'scram.ScramLoginModule required;',
    // Kafka's own validator of tokens without a signature, made for tests.
    oauthbearer: 'oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";',
  }
  const jaas = ['sasl_ssl', 'sasl_plaintext'].flatMap((listener) =>
    Object.entries(modules).map(([mechanism, module]) => [
      `listener.name.${listener}.${mechanism}.sasl.jaas.config`,
      `org.apache.kafka.common.security.${module}`,
    ]),
  )
  return {
    listeners: (['SSL', 'SASL_SSL', 'SASL_PLAINTEXT'] as const).map((protocol) => ({
      protocol,
      port: ports[protocol],
    })),
    settings: {
      'ssl.keystore.type': 'PEM',
      'ssl.keystore.key': readFileSync(path('broker.key'), 'utf8'),
      'ssl.keystore.certificate.chain': readFileSync(path('broker.pem'), 'utf8'),
      'ssl.truststore.type': 'PEM',
      'ssl.truststore.certificates': readFileSync(path('ca.pem'), 'utf8'),
      'listener.name.ssl.ssl.client.auth': 'required',
      'sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER',
      'listener.name.sasl_plaintext.scram-sha-256.connections.max.reauth.ms': `${sessionMs}`,
      ...Object.fromEntries(jaas),
    },
    formatArguments: ['SCRAM-SHA-256', 'SCRAM-SHA-512'].flatMap((mechanism) => [
      '--add-scram',
      `${mechanism}=[name=app,password=${password}]`,
    ]),
  }
}

function token({ lifeSeconds }: { lifeSeconds: number }): string {
  const now = Math.floor(Date.now() / 1000)
  const part = (content: object) => Buffer.from(JSON.stringify(content)).toString('base64url')
  return `${part({ alg: 'none' })}.${part({ sub: 'app', iat: now - 600, exp: now + lifeSeconds })}.`
}

type Security = { security_protocol: keyof typeof ports; sasl?: object; tls?: object }

/** A client as a service with this configuration has it, and what it has logged. */
function connect(security: Security) {
  const yaml = JSON.stringify({ kafka: { brokers: [`127.0.0.1:${ports[security.security_protocol]}`], ...security } })
  const { config } = loadConfig({ env: {}, yaml, needs: ['kafka'] })
  const log = { info: vi.fn(), warn: vi.fn(), debug: vi.fn() }
  let latest = config.kafka
  const kafka = connectKafka(config.kafka as KafkaConfig, log as unknown as Log, () => latest)
  return {
    kafka,
    logged: () => [...log.warn.mock.calls, ...log.debug.mock.calls],
    replaceSasl(sasl: Partial<KafkaConfig['sasl']>) {
      latest = { ...latest, sasl: { ...latest.sasl, ...sasl } }
    },
  }
}

/** Connects, and lists the topics. */
async function connectedTopics(kafka: Kafka): Promise<string[]> {
  const admin = kafka.admin()
  try {
    await admin.connect()
    return await admin.listTopics()
  } finally {
    await admin.disconnect()
  }
}

/** The same, as a service with this configuration. Checks that no secret is logged. */
async function listTopics(security: Security): Promise<void> {
  const { kafka, logged } = connect(security)
  try {
    expect(await connectedTopics(kafka)).toEqual(expect.any(Array))
  } finally {
    const text = JSON.stringify(logged())
    for (const secret of [password, wrongPassword]) expect(text).not.toContain(secret)
  }
}

/** Why it does not connect. */
async function refusal(kafka: Security): Promise<string> {
  const error: unknown = await listTopics(kafka).catch((error: unknown) => error)
  expect(error).toBeInstanceOf(Error)
  return (error as Error).message
}

const ca = { ca_file: path('ca.pem') }
const trusted = { security_protocol: 'SASL_SSL', tls: ca } as const
const certificate = { cert_file: path('client.pem'), key_file: path('client.key') }

describe('over SASL_SSL', () => {
  test.each(['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'])('%s connects with name and password', async (mechanism) => {
    await listTopics({ ...trusted, sasl: { mechanism, username: 'app', password } })
  })

  test.each(['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'])(
    '%s refuses a wrong password, and says so',
    async (mechanism) => {
      const message = await refusal({ ...trusted, sasl: { mechanism, username: 'app', password: wrongPassword } })
      expect(message).toMatch(/^SASL (PLAIN|SCRAM SHA\d+) authentication failed: .*(credentials|password)/)
      expect(message).not.toContain(wrongPassword)
    },
  )

  test('OAUTHBEARER connects with a token of the endpoint', async () => {
    const sasl = { mechanism: 'OAUTHBEARER', token_url: tokenUrl, client_id: 'app', client_secret: password }
    await listTopics({ ...trusted, sasl })
  })

  test('OAUTHBEARER says that the endpoint refused the client', async () => {
    const sasl = { mechanism: 'OAUTHBEARER', token_url: tokenUrl, client_id: 'app', client_secret: wrongPassword }
    expect(await refusal({ ...trusted, sasl })).toBe(`the token endpoint ${tokenUrl} answered 401 (invalid_client)`)
  })

  test('OAUTHBEARER asks the endpoint with the secret that the configuration has by then', async () => {
    const sasl = { mechanism: 'OAUTHBEARER', token_url: tokenUrl, client_id: 'app', client_secret: wrongPassword }
    const { kafka, replaceSasl } = connect({ ...trusted, sasl })
    await expect(connectedTopics(kafka)).rejects.toThrow('401 (invalid_client)')
    replaceSasl({ client_secret: password })
    expect(await connectedTopics(kafka)).toEqual(expect.any(Array))
  })

  test('OAUTHBEARER connects with the token of a file, and not when it has expired', async () => {
    const sasl = { mechanism: 'OAUTHBEARER', token_file: path('token') }
    writeFileSync(path('token'), token({ lifeSeconds: 300 }))
    await listTopics({ ...trusted, sasl })
    writeFileSync(path('token'), token({ lifeSeconds: -300 }))
    expect(await refusal({ ...trusted, sasl })).toBe(
      'SASL OAUTHBEARER authentication failed: {"status":"invalid_token"}',
    )
  })
})

test('over SASL_PLAINTEXT a password does as well', async () => {
  const sasl = { mechanism: 'SCRAM-SHA-512', username: 'app', password }
  await listTopics({ security_protocol: 'SASL_PLAINTEXT', sasl })
})

test('a client proves itself again before the broker ends its session', async () => {
  const sasl = { mechanism: 'SCRAM-SHA-256', username: 'app', password }
  const { kafka, logged } = connect({ security_protocol: 'SASL_PLAINTEXT', sasl })
  const admin = kafka.admin()
  onTestFinished(() => admin.disconnect())
  const answered: string[] = []
  admin.on(admin.events.REQUEST, ({ payload }) => answered.push(payload.apiName))
  await admin.connect()
  const endsAt = Date.now() + 2.2 * sessionMs
  while (Date.now() < endsAt) {
    expect(await admin.listTopics()).toEqual(expect.any(Array))
    await setTimeout(50)
  }
  expect(answered.filter((api) => api === 'SaslHandshake').length).toBeGreaterThanOrEqual(3)
  expect(logged()).toEqual([])
})

describe('over SSL', () => {
  const ssl = (tls: object): Security => ({ security_protocol: 'SSL', tls })

  test('a certificate of the client’s connects, also with a key that is locked', async () => {
    await listTopics(ssl({ ...ca, ...certificate }))
    await listTopics(ssl({ ...ca, ...certificate, key_file: path('locked.key'), key_passphrase: password }))
  })

  test('a broker that asks for a certificate refuses a client without', async () => {
    expect(await refusal(ssl(ca))).toMatch(/certificate|closed|ECONNRESET/i)
  })

  test('an authority that did not sign the broker’s certificate is refused by us', async () => {
    expect(await refusal(ssl({ ...certificate, ca_file: path('other-ca.pem') }))).toMatch(
      /unable to verify|self-signed|issuer/,
    )
    expect(await refusal(ssl(certificate))).toMatch(/unable to verify|self-signed|issuer/)
  })

  test('the broker’s name must be in its certificate, also where it differs from its address', async () => {
    await listTopics(ssl({ ...ca, ...certificate, server_name: 'kafka.internal' }))
    expect(await refusal(ssl({ ...ca, ...certificate, server_name: 'kafka.example' }))).toMatch(/altnames/)
  })

  test('certificates that were replaced are used from the next connection on', async () => {
    const use = (name: string) => {
      for (const kind of ['pem', 'key']) copyFileSync(path(`${name}.${kind}`), path(`used.${kind}`))
    }
    use('client')
    const { kafka } = connect(ssl({ ...ca, cert_file: path('used.pem'), key_file: path('used.key') }))
    expect(await connectedTopics(kafka)).toEqual(expect.any(Array))
    use('stranger')
    await expect(connectedTopics(kafka)).rejects.toThrow(/certificate|closed|ECONNRESET/i)
    use('client')
    expect(await connectedTopics(kafka)).toEqual(expect.any(Array))
  })

  test('any certificate is accepted where the configuration says so', async () => {
    await listTopics(ssl({ ...certificate, insecure_skip_verify: true }))
  })
})
