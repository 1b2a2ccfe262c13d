// What is not the API, or ends before its time, in the place of its answers.

import { rmSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openSession } from './session.ts'
import type { Terminal } from './terminal.ts'
import { buildTestBundle, runLine, type TestBundle } from './testing/test-bundle.ts'

const answers: Record<string, (response: ServerResponse) => unknown> = {
  page: (response) => response.setHeader('content-type', 'text/html; charset=utf-8').end('<html>Sign in</html>'),
  text: (response) => response.end('\u001b[2Jwelcome'),
  json: (response) => response.setHeader('content-type', 'application/json').end('{"status":"ok"}'),
  refusal: (response) =>
    response
      .writeHead(500, { 'content-type': 'application/json' })
      .end('{"error":{"message":"slow","details":"down"}}'),
  silent: () => writeFileSync(join(bundle.folder, 'asked'), ''),
  other: (response) => response.writeHead(404, { 'content-type': 'text/plain' }).end('404 page not found'),
  moved: (response) => response.writeHead(302, { location: '/page/login' }).end(),
  cut(response) {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' }).write('{"messages":')
    setTimeout(() => response.destroy(), 50)
  },
}
const running = {
  ...{
    kind: 'retry',
    id: 'r',
    status: 'running',
    status_reason: null,
    actor: 'a',
    reason: null,
    created_at: '2026-01-01',
  },
  matched: { value: 1, relation: 'eq' },
  progress: {
    ...{ done: 0, waiting: 1, resolved: 0, failed: 0, failed_again: 0, skipped: {}, verdicts: null, eta_seconds: null },
  },
}
/** An API that restarts while somebody waits for a run. */
const readings = [
  (response: ServerResponse) => response.setHeader('content-type', 'application/json').end(JSON.stringify(running)),
  (response: ServerResponse) => response.destroy(),
  (response: ServerResponse) =>
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ ...running, status: 'completed' })),
]
answers.restarted = (response) => readings.shift()!(response)
const tailed = (id: string) => (response: ServerResponse) => {
  const message = { id, created_at: new Date().toISOString(), status: 'DEAD', error_message: 'late' }
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ messages: [message], pagination: { next_cursor: null } }))
}
const stored = [tailed('one'), (response: ServerResponse) => response.destroy(), tailed('one'), tailed('two')]
answers.storing = (response) => stored.shift()!(response)
const survey = {
  ...{
    dry_run: true,
    complete: true,
    matched: { value: 1, relation: 'eq' },
    eligible: 1,
    ineligible: {},
    remedies: {},
  },
  ...{ topics: { orders: 1 }, groups: { none: 1 }, ages: {}, sample: [] },
}
/** What becomes of the request for a run, once the dry run has been answered. */
const ends: Record<string, (response: ServerResponse) => unknown> = {
  broken: (response) => response.destroy(),
  gateway: (response) => response.writeHead(504, { 'content-type': 'text/plain' }).end('upstream timed out'),
  refused: (response) => response.writeHead(503, { 'content-type': 'application/json' }).end('{}'),
}
const surveyed = (response: ServerResponse) =>
  response.setHeader('content-type', 'application/json').end(JSON.stringify(survey))
for (const [name, end] of Object.entries(ends)) {
  const left = [surveyed, end, end, end]
  answers[name] = (response) => left.shift()!(response)
}
const restarting = [surveyed, ends.broken!, ends.gateway!, readings[0]!]
answers.restarting = (response) => restarting.shift()!(response)
const asked: string[] = []
const keys: (string | undefined)[] = []
const server = createServer(({ url, headers }, response) => {
  asked.push(url!)
  keys.push(headers['idempotency-key'] as string | undefined)
  const [, api, ...path] = url!.split('/')
  if (api === 'storing' && path.join('/') === 'api/v1/me')
    response
      .setHeader('date', 'Tue, 06 Jan 2026 10:00:00 GMT')
      .setHeader('content-type', 'application/json')
      .end('{"role":"read"}')
  else answers[api!]!(response)
})
let address = ''
let bundle: TestBundle

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  bundle = await buildTestBundle()
})
afterAll(() => {
  bundle[Symbol.dispose]()
  server.close()
})

const run = (line: string, api: string, at = address) => runLine(line, bundle, { DLQ_API: `${at}/${api}` })
const id = '0198c1d2-7e4f-7a60-8b1c-2d3e4f506172'

test.each(['ls --export csv', `show ${id} --value`, 'status'])('a sign-in page is no answer to %s', async (command) => {
  expect(await run(`dlq ${command}`, 'page')).toEqual({
    ...{ code: 69, stdout: '' },
    stderr: `dlq: ${address}/page answers with a web page, and is no API: give the address of the API, behind any sign-in page\n`,
  })
  expect(await run(`dlq ${command}`, 'moved')).toEqual({
    ...{ code: 69, stdout: '' },
    stderr: `dlq: ${address}/moved sends us to ${address}/page/login, and is no API itself: give the address of the API, behind any sign-in page\n`,
  })
})

test.each(['ls --export csv', 'status'])('an answer to %s that breaks off is said in one line', async (command) => {
  expect(await run(`dlq ${command}`, 'cut')).toMatchObject({
    code: 69,
    stderr: expect.stringMatching(/^dlq: the answer of http:\S+ broke off: .*\n$/),
  })
})

test.each([
  ['broken', true],
  ['gateway', true],
  ['refused', false],
])('a run whose answer is lost may have started: %s', async (api, mayHave) => {
  const { code, stderr } = await run('dlq replay --topic orders --yes', api)
  const warning = '; the run may have started all the same: look at `dlq runs` before you start it again\n'
  expect([code, stderr.endsWith(warning)]).toEqual([69, mayHave])
})

test('a run is asked for again where its answer is lost, with the same key', async () => {
  keys.length = 0
  expect(await run('dlq replay --topic orders --yes', 'restarting')).toMatchObject({ code: 0 })
  const [ofSurvey, ...ofRun] = keys
  expect(ofSurvey).toBeUndefined()
  expect(ofRun).toEqual(Array(3).fill(expect.stringMatching(/^[0-9a-f-]{36}$/)))
  expect(new Set(ofRun).size).toBe(1)
})

test('an address that is no API is told from what the API does not have', async () => {
  expect(await run('dlq status', 'other')).toEqual({
    ...{ code: 69, stdout: '' },
    stderr: `dlq: ${address}/other answers, and has no /other/api/v1/status: give the address of the API, behind any sign-in page\n`,
  })
  expect(await run('dlq status', 'text')).toEqual({
    ...{ code: 69, stdout: '' },
    stderr: `dlq: ${address}/text answers with no JSON, and is no API: give the address of the API, behind any sign-in page\n`,
  })
  expect(await run(`dlq login ${address}/json`, '')).toEqual({
    ...{ code: 69, stdout: '', stderr: `dlq: ${address}/json answers, and is no API of dlq-manager\n` },
  })
  const tls = address.replace('http', 'https')
  expect(await run(`dlq status`, '', tls)).toMatchObject({
    ...{ code: 69, stderr: `dlq: ${tls} does not answer: it speaks no TLS; is it http://?\n` },
  })
})

test.each([
  ...['status', 'groups', 'ls', `show ${id}`, 'runs show r', 'drop --topic orders --reason x --yes'],
  ...['status --json', 'groups --json', 'ls --json', `show ${id} --json`, 'runs --json', 'runs show r --json'],
  ...['ls --export csv', 'ls --export ndjson', `show ${id} --value`, 'ls --from -24h', 'tail --json'],
])('JSON of another service is no answer to %s', async (command) => {
  expect(await run(`dlq ${command}`, 'json')).toEqual({
    ...{ code: 69, stdout: '', stderr: `dlq: ${address}/json answers, and is no API of dlq-manager\n` },
  })
})

test('a fault of another service is said in one line', async () => {
  expect(await run('dlq status', 'refusal')).toMatchObject({ code: 1, stderr: 'dlq: slow\n' })
})

test.each([
  ['INT', 130],
  ['TERM', 143],
])('SIG%s ends a command with %i, as a shell has it', async (signal, code) => {
  const line = `dlq status & until [ -e asked ]; do sleep 0.05; done; kill -${signal} $!; wait $!`
  expect(await run(line, 'silent')).toEqual({ code, stdout: '', stderr: '' })
  rmSync(join(bundle.folder, 'asked'))
})

test('a table is as wide as the window is by then', () => {
  let columns = 80
  const terminal: Partial<Terminal> = {
    env: { DLQ_API: address },
    get columns() {
      return columns
    },
  }
  const session = openSession(terminal as Terminal, {})
  const line = () => session.table([{ text: 'x'.repeat(100) }], [{ title: 'TEXT', value: ({ text }) => text }])
  expect(line().split('\n')[1]).toHaveLength(80)
  columns = 40
  expect([line().split('\n')[1]!.length, session.width]).toEqual([40, 40])
})

test('who waits for a run is not sent away by an API that is started anew', async () => {
  expect(await run('dlq runs watch r', 'restarted')).toMatchObject({
    ...{ code: 0, stderr: '', stdout: expect.stringContaining('completed') },
  })
  expect(readings).toEqual([])
})

test('who watches new dead letters neither, and sees each once, from the time of the API on', async () => {
  const { code, stdout, stderr } = await run('dlq tail --since 1m --limit 2', 'storing')
  expect([code, stdout.match(/one|two/g), stderr]).toEqual([0, ['one', 'two'], ''])
  expect(asked.find((url) => url.startsWith('/storing/api/v1/messages?'))).toContain('from=2026-01-06T09%3A59%3A00.')
})

test('a relative time is one of the API, whose clock may differ', async () => {
  asked.length = 0
  stored.push((response) => response.destroy())
  await run('dlq ls --from -1h', 'storing')
  expect(asked[1]).toContain('from=2026-01-06T09%3A00%3A0')
})
