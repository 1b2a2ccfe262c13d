import { describe, expect, test, vi } from 'vitest'
import { createTokenSource, readTokenFile } from './kafka-oauth.ts'

const secret = 's3cret/:+value'
const request = {
  url: 'https://user:pw@idp.example/oauth/token?x=1',
  clientId: 'dlq manager',
  clientSecret: () => secret,
}
type Answer = Response | Error

/** A source whose endpoint gives one answer after the other, and a clock in seconds. */
function sourceOf(answers: Answer[], more: { scope?: string } = {}) {
  const clock = { seconds: 0 }
  const fetch = vi.fn(async (_url: unknown, _init?: RequestInit) => {
    const answer = answers.shift()
    if (answer === undefined) throw new Error('asked once too often')
    if (answer instanceof Error) throw answer
    return answer
  })
  const source = createTokenSource({ ...request, ...more }, { fetch, now: () => clock.seconds * 1000 })
  return { source, fetch, clock }
}

const tokenAnswer = (access_token: unknown, expires_in?: unknown) =>
  Response.json({ access_token, token_type: 'Bearer', expires_in })
const denied = (body: object) => Response.json(body, { status: 401 })

test('the token is asked for with the client’s credentials, form-encoded, and the scope', async () => {
  const { source, fetch } = sourceOf([tokenAnswer('a.b.c', 300)], { scope: 'kafka read' })
  expect(await source()).toBe('a.b.c')
  const [url, init] = fetch.mock.calls[0]!
  expect(url).toBe(request.url)
  const credentials = Buffer.from('dlq+manager:s3cret%2F%3A%2Bvalue').toString('base64')
  expect(init).toMatchObject({ method: 'POST', redirect: 'error', headers: { authorization: `Basic ${credentials}` } })
  expect(String(init?.body)).toBe('grant_type=client_credentials&scope=kafka+read')
})

describe('the token is kept', () => {
  test('for four fifths of its life, and then requested again', async () => {
    const { source, clock } = sourceOf([tokenAnswer('one', 100), tokenAnswer('two', 100)])
    const tokens: string[] = []
    for (const seconds of [0, 79, 80, 159]) {
      clock.seconds = seconds
      tokens.push(await source())
    }
    expect(tokens).toEqual(['one', 'one', 'two', 'two'])
  })

  test('to its end where the new request fails', async () => {
    const { source, clock } = sourceOf([
      tokenAnswer('one', 100),
      denied({}),
      new Error('down'),
      tokenAnswer('two', 100),
    ])
    await source()
    clock.seconds = 85
    expect(await source()).toBe('one')
    clock.seconds = 100
    await expect(source()).rejects.toThrow('does not answer')
    expect(await source()).toBe('two')
  })

  test.each([undefined, 0, -5, 'soon', null])('not at all where its life is %s', async (life) => {
    const { source } = sourceOf([tokenAnswer('one', life), tokenAnswer('two', life)])
    expect([await source(), await source()]).toEqual(['one', 'two'])
  })

  test('and requested once for all callers at the same moment', async () => {
    const { source, fetch } = sourceOf([tokenAnswer('one', 100)])
    expect(await Promise.all([source(), source(), source()])).toEqual(['one', 'one', 'one'])
    expect(fetch).toHaveBeenCalledOnce()
  })
})

describe('a failure', () => {
  const failureOf = async (answer: Answer) => {
    const error: unknown = await sourceOf([answer])
      .source()
      .catch((error: unknown) => error)
    expect(error).toMatchObject({ name: 'DlqError', code: 'KAFKA_UNAVAILABLE' })
    const { message } = error as Error
    for (const hidden of [secret, 'pw', 'x=1', Buffer.from(secret).toString('base64')])
      expect(message).not.toContain(hidden)
    return message
  }

  test('names the endpoint, the status and the code, and repeats nothing else of the answer', async () => {
    expect(await failureOf(denied({ error: 'invalid_client', error_description: `no client with ${secret}` }))).toBe(
      'the token endpoint https://idp.example/oauth/token answered 401 (invalid_client)',
    )
    expect(await failureOf(denied({ error: `no client with ${secret}` }))).toMatch(/answered 401$/)
    expect(await failureOf(new Response(`<html>${secret}`, { status: 502 }))).toMatch(/answered 502$/)
  })

  test('is an endpoint that does not answer, or without end', async () => {
    expect(await failureOf(new Error('connect ECONNREFUSED'))).toMatch(/does not answer$/)
    expect(await failureOf(new Response('x'.repeat(300_000)))).toMatch(/does not answer$/)
  })

  test.each([
    ['no JSON', new Response('token')],
    ['null', Response.json(null)],
    ['no token', tokenAnswer(undefined, 100)],
    ['a token that is no text', tokenAnswer(42, 100)],
    ['a token that would break the message to the broker', tokenAnswer('a\u0001auth=', 100)],
    ['an empty token', tokenAnswer('', 100)],
  ])('is an answer with %s', async (_what, answer) => {
    expect(await failureOf(answer)).toMatch(/gave no bearer token$/)
  })

  test('is a token file that is not there', async () => {
    await expect(readTokenFile('/absent/token')).rejects.toThrow('the token file /absent/token cannot be read')
  })
})
