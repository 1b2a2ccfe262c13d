import { expect, onTestFinished, test, vi } from 'vitest'
import { retryingFetch } from './retrying-fetch.ts'

/** A server that answers with these statuses, one after the other, and then with 200. */
function server(statuses: number[], retryAfter = '0') {
  const seen: string[] = []
  const fetch = retryingFetch({
    fetch: async (request) => {
      seen.push(`${request.method} ${await request.text()}`)
      const status = statuses.shift() ?? 200
      return new Response('x', { status, headers: status === 200 ? {} : { 'retry-after': retryAfter } })
    },
  })
  const send = async (method: string, init: RequestInit = {}) =>
    (await fetch(new Request('http://dlq/', { method, ...init }))).status
  return { seen, send }
}

test('a request that is answered 503 is repeated until it succeeds, with the same body', async () => {
  const { send, seen } = server([503, 503])
  expect(await send('PUT', { body: 'policy' })).toBe(200)
  expect(seen).toEqual(['PUT policy', 'PUT policy', 'PUT policy'])
})

test('an answer that nobody reads gives its connection back before the next request', async () => {
  const steps: string[] = []
  const fetch = retryingFetch({
    fetch: async () => {
      steps.push('request')
      const status = steps.length === 1 ? 503 : 200
      const body = new ReadableStream({ cancel: () => void steps.push('cancelled') })
      return new Response(body, { status, headers: { 'retry-after': '0' } })
    },
  })
  expect((await fetch(new Request('http://dlq/'))).status).toBe(200)
  expect(steps).toEqual(['request', 'cancelled', 'request'])
})

test('it is not repeated for ever, nor where the API asks for more time than is left', async () => {
  const { send, seen } = server([503, 503, 503, 503, 503, 503])
  expect(await send('GET')).toBe(503)
  expect(seen).toHaveLength(5)
  const busy = server([503], '31')
  expect(await busy.send('GET')).toBe(503)
  expect(busy.seen).toHaveLength(1)
})

test('a request that must not be done twice is repeated only where the API recognises it', async () => {
  expect(await server([503]).send('POST', { body: '{}' })).toBe(503)
  expect(await server([503]).send('PATCH', { body: '{}' })).toBe(503)
  expect(await server([503]).send('POST', { body: '{}', headers: { 'idempotency-key': '1' } })).toBe(200)
  expect(await server([503]).send('PATCH', { body: '{}', headers: { 'if-match': '"1"' } })).toBe(200)
  expect(await server([429]).send('POST', { body: '{}' })).toBe(200)
  expect(await server([500]).send('GET')).toBe(500)
})

test('the client waits for Retry-After, given in seconds or as a date', async () => {
  const waits = ['1', new Date(Date.now() + 2000).toUTCString()].map(async (retryAfter) => {
    const since = performance.now()
    expect(await server([503], retryAfter).send('GET')).toBe(200)
    return performance.now() - since
  })
  for (const waitedMs of await Promise.all(waits)) expect(waitedMs).toBeGreaterThan(900)
})

function fakeTimers() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
  vi.spyOn(Math, 'random').mockReturnValue(0)
  onTestFinished(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })
}

test.each([[{}], [{ 'retry-after': 'soon' }]])(
  'with the headers %o the waits double, up to the longest',
  async (headers) => {
    fakeTimers()
    const sentAt: number[] = []
    const fetch = retryingFetch({
      maxAttempts: 9,
      fetch: async () => {
        sentAt.push(Date.now())
        return new Response('x', { status: 503, headers })
      },
    })
    const answered = fetch(new Request('http://dlq/'))
    await vi.runAllTimersAsync()
    expect((await answered).status).toBe(503)
    const waits = sentAt.slice(1).map((at, n) => at - sentAt[n]!)
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000])
  },
)

test('a request that was aborted while it was answered is not repeated, and leaves no timer', async () => {
  fakeTimers()
  const controller = new AbortController()
  const fetch = retryingFetch({
    fetch: async () => {
      controller.abort(new Error('enough'))
      return new Response('x', { status: 503, headers: { 'retry-after': '20' } })
    },
  })
  await expect(fetch(new Request('http://dlq/', { signal: controller.signal }))).rejects.toThrow('enough')
  expect(vi.getTimerCount()).toBe(0)
})

test('a client that aborts the request does not wait', async () => {
  const controller = new AbortController()
  const { send, seen } = server([503], '20')
  const sent = send('GET', { signal: controller.signal })
  setTimeout(() => controller.abort(new Error('enough')), 20)
  await expect(sent).rejects.toThrow('enough')
  expect(seen).toHaveLength(1)
})
