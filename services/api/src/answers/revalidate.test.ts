import { expect, test } from 'vitest'
import { revalidate } from './revalidate.ts'

const answer = () => new Response('{"a":1}', { headers: { 'content-type': 'application/json', vary: 'Origin' } })
const etag = (await revalidate(answer(), undefined)).headers.get('etag')!

test.each([undefined, '', '"other"', `"x${etag.slice(3)}`, etag.slice(2, -1)])(
  'to a client that has %s the answer is sent, with its tag',
  async (known) => {
    const sent = await revalidate(answer(), known)
    expect(sent.status).toBe(200)
    expect(await sent.text()).toBe('{"a":1}')
    expect(sent.headers.get('etag')).toMatch(/^W\/"[\w-]{22}"$/)
    expect(sent.headers.get('content-type')).toBe('application/json')
  },
)

test.each([etag, etag.slice(2), `"other" , ${etag}`, '*'])('a client that has %s is told so', async (known) => {
  const sent = await revalidate(answer(), known)
  expect(sent.status).toBe(304)
  expect(Object.fromEntries(sent.headers)).toEqual({ etag, vary: 'Origin' })
})
