// Requests to receivers that behave badly, on this machine: loopback is allowed where a test needs an answer.

import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { judge } from './deliver.ts'
import { readRetryAfter, sendSafely } from './post-safely.ts'

const here = { allowHttp: true, allowNetworks: ['127.0.0.0/8', '::1'] }

async function listen(listener: RequestListener): Promise<URL> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`)
}

test('a receiver gets body and headers, and its answer is judged by its status', async () => {
  const seen: string[] = []
  const url = await listen(async (request, answer) => {
    const chunks = await Array.fromAsync(request)
    seen.push(`${request.method} ${request.headers['webhook-id']} ${Buffer.concat(chunks)}`)
    answer.writeHead(204).end()
  })
  const answer = await sendSafely(url, { body: '{"a":1}', headers: { 'webhook-id': '7' } }, here)
  expect(seen).toEqual(['POST 7 {"a":1}'])
  expect(judge(answer)).toEqual({ kind: 'delivered', status: 204 })
})

test.each([
  [410, {}, { kind: 'gone' }],
  [429, { 'retry-after': '120' }, { kind: 'again', waitMs: 120_000 }],
  [503, { 'retry-after': '7' }, { kind: 'again', waitMs: 7000 }],
  [500, {}, { kind: 'again', waitMs: null }],
  [302, { location: 'http://169.254.169.254/latest' }, { kind: 'again', error: 'redirects (302) are not followed' }],
] as const)('an answer %i', async (status, headers, expected) => {
  let asked = 0
  const url = await listen((_, answer) => {
    asked += 1
    answer.writeHead(status, headers).end()
  })
  expect(judge(await sendSafely(url, {}, here))).toMatchObject(expected)
  expect(asked).toBe(1)
})

test('an endless answer is not read to its end', async () => {
  let written = 0
  const url = await listen((_, answer) => {
    const write = () => {
      while (!answer.destroyed && answer.write(Buffer.alloc(65_536))) written += 65_536
    }
    answer.on('drain', write)
    answer.on('error', () => {})
    write()
  })
  expect(await sendSafely(url, {}, here)).toMatchObject({ status: 200 })
  expect(written).toBeLessThan(64 * 1024 * 1024)
})

test('a receiver that does not answer is given up', async () => {
  const url = await listen(() => {})
  await expect(sendSafely(url, {}, { ...here, timeoutMs: 200 })).rejects.toThrow()
})

test.each([
  '127.0.0.1',
  'localhost',
  '[::1]',
  '169.254.169.254',
  '10.1.2.3',
  '192.168.1.1',
  '[::ffff:127.0.0.1]',
  '0.0.0.0',
])('the address %s is refused, whatever its name', async (host) => {
  let asked = 0
  const url = await listen((_, answer) => {
    asked += 1
    answer.end()
  })
  url.hostname = host
  const rules = { allowHttp: true, allowNetworks: [], timeoutMs: 5000 }
  await expect(sendSafely(url, {}, rules)).rejects.toThrow(/not allowed/)
  expect(asked).toBe(0)
})

test('http is refused unless it is allowed, and the message has no path, which is a secret', async () => {
  const url = new URL('http://hooks.example.com/services/T0/secret')
  const refused = sendSafely(url, {}, { ...here, allowHttp: false })
  await expect(refused).rejects.toThrow('must be https')
  await expect(refused).rejects.not.toThrow('secret')
})

/** What a proxy was asked that lets nobody through by CONNECT, with the variables that lead to it. */
async function openProxy(): Promise<string[]> {
  const asked: string[] = []
  const note = ({ method, url }: IncomingMessage) => asked.push(`${method} ${url}`)
  const server = createServer((request, answer) => {
    note(request)
    answer.writeHead(204).end()
  })
  server.on('connect', (request, socket) => {
    note(request)
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://ada:secret@127.0.0.1:${(server.address() as AddressInfo).port}`
  const variables = { NODE_USE_ENV_PROXY: '1', HTTPS_PROXY: url, HTTP_PROXY: url, NO_PROXY: 'inside.example.com' }
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
  onTestFinished(() => {
    vi.unstubAllEnvs()
    server.close()
  })
  return asked
}

test('calls go through the proxy of the environment, and those that NO_PROXY names go past it', async () => {
  const asked = await openProxy()
  const nowhere = { allowHttp: true, allowNetworks: [] }
  expect(await sendSafely(new URL('http://hooks.example.com/a'), {}, nowhere)).toMatchObject({ status: 204 })
  const refused = sendSafely(new URL('https://hooks.example.com/services/T0/path'), {}, nowhere)
  await expect(refused).rejects.toThrow(/403/)
  await expect(refused).rejects.not.toThrow(/ada|secret|path/)
  await expect(sendSafely(new URL('https://inside.example.com/'), {}, nowhere)).rejects.toThrow()
  expect(asked).toEqual(['POST http://hooks.example.com/a', 'CONNECT hooks.example.com:443'])
})

test('no proxy is asked for a private address', async () => {
  const asked = await openProxy()
  const refused = sendSafely(new URL('https://169.254.169.254/latest'), {}, { ...here, allowNetworks: [] })
  await expect(refused).rejects.toThrow(/not allowed/)
  expect(asked).toEqual([])
})

test('Retry-After is seconds or a date, and bounded', () => {
  const now = Date.parse('2026-02-20T10:00:00Z')
  expect(readRetryAfter('30', now)).toBe(30_000)
  expect(readRetryAfter('Fri, 20 Feb 2026 10:01:00 GMT', now)).toBe(60_000)
  expect(readRetryAfter('999999999', now)).toBe(6 * 3_600_000)
  expect(readRetryAfter('soon', now)).toBeNull()
  expect(readRetryAfter(undefined, now)).toBeNull()
})
