// Questions to a schema registry over TLS, by a server of this test that asks for a certificate.
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { certificateMaker } from 'dlq-testing/tls/certificates.ts'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import type { RegistryConfig } from '../config/schemas-schema.ts'
import type { Log } from '../log.ts'
import { createRegistryRequest } from './registry-request.ts'

const folder = mkdtempSync(join(tmpdir(), 'dlq-registry-'))
const made = certificateMaker(folder)
const { path } = made
const log = { info: vi.fn(), warn: vi.fn() } as unknown as Log
let server: Server

beforeAll(async () => {
  for (const name of ['ca', 'other']) made.authority(name)
  made.certificate('server', { authority: 'ca', extension: 'subjectAltName=DNS:localhost' })
  for (const name of ['first', 'second'])
    made.certificate(name, { authority: 'ca', extension: 'extendedKeyUsage=clientAuth' })
  const [cert, key, ca] = ['server.pem', 'server.key', 'ca.pem'].map((name) => readFileSync(path(name)))
  // Answers with the name in the client's certificate and the header of its login, each on a connection of its own.
  server = createServer(
    { cert, key, ca, requestCert: true } as Parameters<typeof createServer>[0],
    (request, answer) => {
      const { subject } = (request.socket as TLSSocket).getPeerCertificate()
      answer.setHeader('connection', 'close')
      answer.end(JSON.stringify({ name: subject.CN, login: request.headers.authorization ?? null }))
    },
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
beforeEach(() => use('first'))
afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true })
})

function use(name: string): void {
  for (const kind of ['pem', 'key']) copyFileSync(path(`${name}.${kind}`), path(`used.${kind}`))
}

/** A function that asks for `/subjects`, and resolves to the answer. */
function askAs(more: Partial<RegistryConfig> = {}) {
  const registry = {
    ...{ name: 'main', type: 'confluent', timeout: 3000 },
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    ...{ ca_file: path('ca.pem'), cert_file: path('used.pem'), key_file: path('used.key') },
    ...more,
  } as RegistryConfig
  const request = createRegistryRequest(registry, log)
  return async () => JSON.parse((await request('/subjects')).text)
}

test('the registry is verified by its authority, and knows us by our certificate', async () => {
  expect(await askAs()()).toEqual({ name: 'first', login: null })
  await expect(askAs({ ca_file: path('other.pem') })()).rejects.toThrow(/self-signed certificate/)
})

test('certificates that were replaced are used from the next connection on', async () => {
  const ask = askAs()
  expect(await ask()).toMatchObject({ name: 'first' })
  use('second')
  expect(await ask()).toMatchObject({ name: 'second' })
})

test('a password is read each time, without a byte order mark', async () => {
  writeFileSync(path('password'), 'old\n')
  const ask = askAs({ username: 'app', password_file: path('password') })
  const loginOf = (password: string) => `Basic ${Buffer.from(`app:${password}`).toString('base64')}`
  expect(await ask()).toMatchObject({ login: loginOf('old') })
  writeFileSync(path('password'), '\uFEFFnew\r\n')
  expect(await ask()).toMatchObject({ login: loginOf('new') })
})
