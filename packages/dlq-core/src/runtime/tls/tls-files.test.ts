// Certificates whose files are replaced while something uses them.
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, createServer, type TLSSocket } from 'node:tls'
import { certificateMaker } from 'dlq-testing/tls/certificates.ts'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import type { Log } from '../log.ts'
import { followTlsFiles } from './tls-files.ts'

const folder = mkdtempSync(join(tmpdir(), 'dlq-tls-'))
const made = certificateMaker(folder)
const { path } = made
const log = { info: vi.fn(), warn: vi.fn() }
const files = { ca: path('used-ca.pem'), cert: path('used.pem'), key: path('used.key') }
const follow = (of = files) => followTlsFiles({ host: 'localhost' }, () => of, { of: 'it', log: log as unknown as Log })

beforeAll(() => {
  for (const name of ['ca', 'other']) made.authority(name)
  made.certificate('server', { authority: 'ca', extension: 'subjectAltName=DNS:localhost' })
  for (const name of ['first', 'second'])
    made.certificate(name, { authority: 'ca', extension: 'extendedKeyUsage=clientAuth' })
})
beforeEach(() => {
  vi.clearAllMocks()
  copyFileSync(path('ca.pem'), files.ca)
  use('first')
})
afterAll(() => rmSync(folder, { recursive: true }))

function use(name: string, kinds: ('cert' | 'key')[] = ['cert', 'key']): void {
  for (const kind of kinds) copyFileSync(path(`${name}.${kind === 'cert' ? 'pem' : 'key'}`), files[kind])
}

/** Connects to a server that asks for a certificate; resolves to the name in ours. */
async function nameShown(options: ReturnType<typeof follow>): Promise<string> {
  const [cert, key, ca] = ['server.pem', 'server.key', 'ca.pem'].map((name) => readFileSync(path(name)))
  const server = createServer({ cert, key, ca, requestCert: true } as Parameters<typeof createServer>[0])
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const accepted = once(server, 'secureConnection') as Promise<[TLSSocket]>
  const socket = connect({
    ...options,
    host: '127.0.0.1',
    servername: 'localhost',
    port: (server.address() as AddressInfo).port,
  })
  onTestFinished(() => void socket.destroy())
  const failed = once(socket, 'error').then(([error]) => Promise.reject(error))
  const [peer] = await Promise.race([accepted, failed])
  return new X509Certificate(peer.getPeerCertificate().raw).subject
}

test('each connection shows the certificate that the files hold then', async () => {
  const options = follow()
  expect(await nameShown(options)).toBe('CN=first')
  use('second')
  expect(await nameShown(options)).toBe('CN=second')
  expect(await nameShown(options)).toBe('CN=second')
  expect(log.info.mock.calls).toEqual([[{ of: 'it' }, 'tls_files_changed']])
  expect(log.warn).not.toHaveBeenCalled()
})

test('the context stays the same while the files do', () => {
  const options = follow()
  expect(options.secureContext).toBe(options.secureContext)
})

test('a certificate without its key is not used, and the log says so once', async () => {
  const options = follow()
  use('second', ['cert'])
  expect(await nameShown(options)).toBe('CN=first')
  expect(await nameShown(options)).toBe('CN=first')
  expect(log.warn.mock.calls).toEqual([[{ of: 'it', error: expect.any(Error) }, 'tls_files_refused']])
  expect(log.warn.mock.calls[0]![0].error.message).toMatch(/^cert file: cannot be used with its key: /)
  use('second', ['key'])
  expect(await nameShown(options)).toBe('CN=second')
})

test.each([
  ['is empty', () => writeFileSync(files.ca, ''), /^ca file: holds no certificate in PEM/],
  ['is gone', () => rmSync(files.ca), /ENOENT/],
])('authorities whose file %s stay', async (_, spoil, reason) => {
  const options = follow()
  spoil()
  expect(await nameShown(options)).toBe('CN=first')
  expect(log.warn.mock.calls[0]![0].error.message).toMatch(reason)
})

test('authorities that were replaced are trusted, and the former ones no more', async () => {
  const options = follow()
  copyFileSync(path('other.pem'), files.ca)
  await expect(nameShown(options)).rejects.toThrow(/self-signed certificate in certificate chain/)
  copyFileSync(path('ca.pem'), files.ca)
  expect(await nameShown(options)).toBe('CN=first')
})

test('without files the options stay as they are', () => {
  expect(follow({} as typeof files)).toEqual({ host: 'localhost' })
})
