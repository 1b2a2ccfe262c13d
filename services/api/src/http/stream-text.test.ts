import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { streamText } from './stream-text.ts'

const piece = 'x'.repeat(50_000)

function answer(pieces: () => AsyncGenerator<string>) {
  return new Hono().get('/', (c) => streamText(c, pieces(), { 'content-type': 'text/plain' })).request('/')
}

test('the pieces arrive, in their order', async () => {
  const response = await answer(async function* () {
    for (let n = 0; n < 10; n += 1) yield `${n}é🚚`
  })
  expect(response.headers.get('content-type')).toBe('text/plain')
  expect(await response.text()).toBe('0é🚚1é🚚2é🚚3é🚚4é🚚5é🚚6é🚚7é🚚8é🚚9é🚚')
})

test('a piece is produced only when it is read, and a client that goes away ends the stream', async () => {
  let made = 0
  let ended = false
  const response = await answer(async function* () {
    try {
      for (;;) {
        made += 1
        yield piece
      }
    } finally {
      ended = true
    }
  })
  const reader = response.body!.getReader()
  await reader.read()
  await new Promise((resolve) => setImmediate(resolve))
  expect(made).toBeLessThan(10)
  await reader.cancel()
  expect(ended).toBe(true)
})

test('a fault in the middle cuts the answer off, so that clients see that it is incomplete', async () => {
  const response = await answer(async function* () {
    yield piece
    yield piece
    throw new Error('the database went away')
  })
  await expect(response.text()).rejects.toThrow()
})
