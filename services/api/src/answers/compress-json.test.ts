import { gunzipSync } from 'node:zlib'
import { Hono } from 'hono'
import { expect, test } from 'vitest'
import type { ApiEnv } from '../http/define-route.ts'
import { streamText } from '../http/stream-text.ts'
import { compressJson } from './compress-json.ts'

const app = new Hono<ApiEnv>()
app.use(compressJson)
const large = { text: 'x'.repeat(2000) }
app.get('/large', (c) => c.json(large, 200, { ETag: '"1"' }))
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
  const bytes = Buffer.from(await answer.arrayBuffer())
  expect(bytes.length).toBeLessThan(200)
  expect(JSON.parse(gunzipSync(bytes).toString())).toEqual(large)
})

test.each([
  ['/large', 'br'],
  ['/large', 'gzip;q=0'],
  ['/large', ''],
  ['/small', 'gzip'],
  ['/text', 'gzip'],
  ['/streamed', 'gzip'],
])('%s is sent as it is to a client that accepts "%s"', async (path, encoding) => {
  const answer = await get(path, encoding)
  expect(answer.headers.get('content-encoding')).toBeNull()
  expect((await answer.text()).length).toBeGreaterThan(10)
})
