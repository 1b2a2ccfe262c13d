import { gunzipSync } from 'node:zlib'
import { Hono } from 'hono'
import { expect, test } from 'vitest'
import type { ApiEnv } from '../http/define-route.ts'
import { streamText } from '../http/stream-text.ts'
import { compressJson } from './compress-json.ts'

const app = new Hono<ApiEnv>()
app.use(compressJson)
const large = { text: 'x'.repeat(2000) }
app.get('/large', (c) => c.json(large, 200, { ETag: '"1"', 'Content-Length': '2011' }))
app.get('/fault', (c) => c.json(large, 404, { Vary: 'Origin' }))
app.get('/encoded', (c) => c.json(large, 200, { 'Content-Encoding': 'br' }))
app.get('/none', (c) => c.body(null, 204, { 'Content-Type': 'application/json' }))
app.get('/small', (c) => c.json({ text: 'x' }))
app.get('/text', (c) => c.text('x'.repeat(2000)))
app.get('/streamed', (c) =>
  streamText(
    c,
    (async function* () {
      yield JSON.stringify(large)
    })(),
    { 'content-type': 'application/json' },
  ),
)
const get = (path: string, encoding = 'br, gzip;q=0.8') =>
  app.request(path, { headers: { 'accept-encoding': encoding } })

test('JSON above a kilobyte is sent as gzip to clients that accept it', async () => {
  const answer = await get('/large')
  expect(answer.headers.get('content-encoding')).toBe('gzip')
  expect(answer.headers.get('vary')).toBe('Accept-Encoding')
  expect(answer.headers.get('etag')).toBe('"1"')
  expect(answer.headers.has('content-length')).toBe(false)
  const bytes = Buffer.from(await answer.arrayBuffer())
  expect(bytes.length).toBeLessThan(200)
  expect(JSON.parse(gunzipSync(bytes).toString())).toEqual(large)
})

test('a fault keeps its status, and what else the answer varies with', async () => {
  const answer = await get('/fault')
  expect(answer.status).toBe(404)
  expect(answer.headers.get('vary')).toBe('Origin, Accept-Encoding')
})

test('an answer that is encoded already, and one without a body, are left alone', async () => {
  const encoded = await get('/encoded')
  expect(encoded.headers.get('content-encoding')).toBe('br')
  expect(await encoded.json()).toEqual(large)
  expect((await get('/none')).status).toBe(204)
})

test.each(['GZIP', 'br,gzip', 'br;q=1, *;q=0.1', '*;q=0, gzip', 'gzip ; q=0.01'])(
  'a client that accepts "%s" accepts gzip',
  async (encoding) => expect((await get('/large', encoding)).headers.get('content-encoding')).toBe('gzip'),
)

test.each([
  ['/large', 'br'],
  ['/large', 'gzip;q=0'],
  ['/large', '*, GZIP ; Q = 0.00'],
  ['/large', 'identity, *;q=0'],
  ['/large', 'gzipped, not-gzip'],
  ['/large', ''],
  ['/small', 'gzip'],
  ['/text', 'gzip'],
  ['/streamed', 'gzip'],
])('%s is sent as it is to a client that accepts "%s"', async (path, encoding) => {
  const answer = await get(path, encoding)
  expect(answer.headers.get('content-encoding')).toBeNull()
  expect(answer.headers.get('vary')).toBe(path === '/text' ? null : 'Accept-Encoding')
  expect((await answer.text()).length).toBeGreaterThan(10)
})
