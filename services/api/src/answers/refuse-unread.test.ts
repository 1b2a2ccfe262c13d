// What is no request for the app has the API's errors too. Requests are written byte by byte, because no client sends them.

import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createLog } from 'dlq-core/runtime/log.ts'
import { listen } from 'dlq-core/runtime/operations-server.ts'
import { Hono } from 'hono'
import * as v from 'valibot'
import { expect, onTestFinished, test } from 'vitest'
import { errorSchema } from '../http/api-error.ts'
import { createRefuseUnread } from './refuse-unread.ts'
import { securityHeaders } from './security-headers.ts'

/** Sends each piece once the one before has been answered or taken. Returns all that comes back until the end. */
async function answersTo(...pieces: string[]): Promise<string> {
  const app = new Hono()
    .get('/slow', async (c) => c.text(await sleep(200, 'slowly')))
    .all('*', async (c) => c.text(`read ${(await c.req.text()).length}`))
  const refuseUnread = createRefuseUnread(createLog({ service: 'api', level: 'silent' }))
  const server = await listen(app, { host: '127.0.0.1', port: 0, keep_alive: 1000, refuseUnread })
  onTestFinished(() => server.close())
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1').setEncoding('utf8')
  onTestFinished(() => void socket.destroy())
  let text = ''
  socket.on('data', (data) => (text += data))
  for (const piece of pieces) await new Promise((resolve) => socket.write(piece, resolve))
  await once(socket, 'close', { signal: AbortSignal.timeout(5000) })
  return text
}

function partsOf(answer: string) {
  const [head = '', body = ''] = answer.split('\r\n\r\n')
  const [first, ...lines] = head.split('\r\n')
  const headers = new Headers(lines.map((line) => line.split(': ', 2) as [string, string]))
  return { status: Number(first!.split(' ')[1]), headers, body: v.parse(errorSchema, JSON.parse(body)) }
}

const host = 'host: localhost\r\n'
const long = 'x'.repeat(20_000)

test.each([
  ['a path beyond Node’s bound', [`GET /${long} HTTP/1.1\r\n${host}\r\n`], 431, 'SYS_DLQ_HEADERS_TOO_LARGE'],
  ['a path far beyond it', [`GET /${long.repeat(100)} HTTP/1.1\r\n${host}\r\n`], 431, 'SYS_DLQ_HEADERS_TOO_LARGE'],
  ['headers beyond it', [`GET / HTTP/1.1\r\n${host}a: ${long}\r\n\r\n`], 431, 'SYS_DLQ_HEADERS_TOO_LARGE'],
  ['another protocol', ['\x16\x03\x01hello\r\n\r\n'], 400, 'SYS_DLQ_VALIDATION_ERROR'],
  ['a header that is none', [`GET / HTTP/1.1\r\n${host}a b: 1\r\n\r\n`], 400, 'SYS_DLQ_VALIDATION_ERROR'],
  ['no host', ['GET / HTTP/1.1\r\n\r\n'], 400, 'SYS_DLQ_VALIDATION_ERROR'],
  [
    'a host that is none',
    ['GET / HTTP/1.1\r\nconnection: close\r\nhost: a b\r\n\r\n'],
    400,
    'SYS_DLQ_VALIDATION_ERROR',
  ],
])('%s is refused in the form of every error', async (_, pieces, status, code) => {
  const answer = partsOf(await answersTo(...pieces))
  expect(answer).toMatchObject({ status, body: { error: { code, details: [] } } })
  expect(answer.headers.get('x-request-id')).toBe(answer.body.error.request_id)
  expect(answer.headers.get('content-type')).toContain('application/json')
  for (const [name, value] of Object.entries(securityHeaders)) expect(answer.headers.get(name)).toBe(value)
})

test('a body whose chunks are none is refused once', async () => {
  const head = `POST / HTTP/1.1\r\n${host}transfer-encoding: chunked\r\n\r\n`
  const answer = await answersTo(head, 'zz\r\n')
  expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1)
  expect(partsOf(answer).status).toBe(400)
})

test('behind a request that is not yet answered it is no answer to that one', async () => {
  expect(await answersTo(`GET /slow HTTP/1.1\r\n${host}\r\n`, 'nonsense\r\n\r\n')).toBe('')
})

test('a request that expects something is answered as any other', async () => {
  const answer = await answersTo(`GET / HTTP/1.1\r\n${host}expect: cake\r\nconnection: close\r\n\r\n`)
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
})
