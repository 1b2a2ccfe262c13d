// A value that masks hide appears in no answer, header or log line: every declared route, every kind of token.
import { createHash } from 'node:crypto'
import { Writable } from 'node:stream'
import { createMasks } from 'dlq-core/domain/masks/create-masks.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import pino from 'pino'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Route } from '../http/define-route.ts'
import { allRoutes } from '../routes/all-routes.ts'
import { createTestApp, type TestApp } from '../test-app.ts'
import {
  canary,
  canaryDlqTopic,
  canaryMasks,
  canaryTopic,
  hasCanary,
  type Planted,
  plantCanary,
} from './test-canary.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

const token = (name: 'none' | 'masked' | 'full') => ({
  ...{ name, role: 'sys_admin' as const, payloads: name },
  sha256: createHash('sha256').update(`secret-${name}`).digest('hex'),
})
const auth = { tokens: [token('none'), token('masked'), token('full')] }

let planted: Planted
let logged = ''
let app: TestApp
beforeAll(async () => {
  planted = await plantCanary(database, service.sql)
  const out = new Writable({
    write(chunk, _, done) {
      logged += chunk
      done()
    },
  })
  const log = pino({ level: 'trace' }, out)
  app = createTestApp(service.sql, { auth, log, slowRequestMs: 0, masks: createMasks(canaryMasks, undefined) })
})

/** Requests that reach content by other ways than the route's example. */
const others: Record<string, string[]> = {
  'GET /api/v1/messages': [
    '?limit=1',
    '?show=preview',
    '?archived=true',
    '?archived=true&show=preview',
    `?topic=${canaryDlqTopic}&sort=oldest`,
  ],
  'GET /api/v1/messages/export': ['?format=json', '?format=csv', '?archived=true'],
  'GET /api/v1/dlq/:topic': ['?page=1', '?limit=5', '?show=preview'],
  'GET /api/v1/groups': ['?trend=true'],
  'GET /api/v1/topics': ['?kind=original', '?kind=candidate&only=dismissed'],
  'GET /api/v1/runs/:id/items': ['?show=message', '?outcome=failed_again&show=message', '?verdict=came_back'],
  'GET /api/v1/audit': [`?target_type=message`, '?related=true&target_type=group&target_id=:groupId'],
}

const bodies: Record<string, object> = {
  'PATCH /api/v1/dlq/messages/:id': { patch: [{ op: 'replace', path: '/order_id', value: '124' }] },
  'POST /api/v1/runs': {
    ...{ kind: 'edit', selection: { filter: { topic: canaryDlqTopic } }, dry_run: true },
    patch: [{ op: 'replace', path: '/order_id', value: '124' }],
  },
}

type Asked = { name: string; methodAndPath: string; init: RequestInit }

function requestsOf(route: Route): Asked[] {
  const { method, path, bodyExample } = route
  const name = `${method.toUpperCase()} ${path}`
  const idOf = (messageId: string) =>
    path.startsWith('/api/v1/groups')
      ? planted.groupId
      : path.startsWith('/api/v1/runs')
        ? planted.runId
        : path.startsWith('/api/v1/sagas')
          ? planted.sagaId
          : messageId
  const isOfMessage = path.startsWith('/api/v1/dlq/messages/:id')
  const { id, text, large, archived } = planted
  const messages = isOfMessage && method === 'get' ? [id, text, large, archived] : [id]
  const headers = { 'content-type': 'application/json', 'if-match': '*', prefer: 'wait=0' }
  const body = bodies[name] ?? bodyExample
  const init = { headers, ...(method !== 'get' && body !== undefined && { body: JSON.stringify(body) }) }
  return messages.flatMap((messageId) => {
    const values: Record<string, string> = {
      ...{ id: idOf(messageId), topic: canaryDlqTopic, attempt_id: planted.attemptId, number: '1' },
      ...{ dlqTopic: canaryDlqTopic, originalTopic: canaryTopic, pattern: 'orders.*', name: 'on-call', job: 'fold' },
    }
    const filled = path.replaceAll(/:(\w+)/g, (_, parameter: string) => values[parameter] ?? '1')
    return ['', ...(others[name] ?? [])].map((query) => ({
      name,
      methodAndPath: `${method.toUpperCase()} ${filled}${query.replace(':groupId', planted.groupId)}`,
      init,
    }))
  })
}

/** Reads first; then what changes something, deletions last. */
function allRequests(): Asked[] {
  const place = ({ method }: Route) => ['get', 'put', 'patch', 'post', 'delete'].indexOf(method)
  return allRoutes.toSorted((a, b) => place(a) - place(b)).flatMap(requestsOf)
}

async function ask(
  { methodAndPath, init }: Asked,
  name: string,
  query = '',
): Promise<{ status: number; text: string }> {
  const path = query === '' ? methodAndPath : methodAndPath + (methodAndPath.includes('?') ? '&' : '?') + query
  const answer = await app(path, { ...init, headers: { ...init.headers, authorization: `Bearer secret-${name}` } })
  const head = [...answer.headers].flat().join('\n')
  return { status: answer.status, text: `${head}\n${await textOf(answer)}` }
}

/** Of a stream of events, the beginning. */
async function textOf(answer: Response): Promise<string> {
  if (!answer.headers.get('content-type')?.startsWith('text/event-stream')) return answer.text()
  const reader = answer.body!.getReader()
  const { value } = await reader.read()
  await reader.cancel()
  return new TextDecoder().decode(value)
}

describe('with a canary wherever content can be stored', () => {
  test('who may see behind masks finds it where it is shown, and nowhere else', async () => {
    const showing = new Set<string>()
    for (const asked of allRequests().filter(({ name }) => name.startsWith('GET '))) {
      const { status, text } = await ask(asked, 'full', 'unmask=true').catch(() => ({ status: 0, text: '' }))
      if (status < 300 && hasCanary(text)) showing.add(asked.name)
    }
    const declared = allRoutes.filter(({ masks, method }) => masks !== 'none' && method === 'get')
    // They count, or name by what is no content.
    const counting = ['GET /api/v1/messages/facets', 'GET /api/v1/activity']
    expect([...showing, ...counting].toSorted()).toEqual(declared.map(({ path }) => `GET ${path}`).toSorted())
  })

  test.each(['masked', 'full', 'none'])(
    'a token with payloads: %s is shown none of it, whatever it asks for',
    async (name) => {
      const found: string[] = []
      const statuses = new Set<number>()
      for (const asked of allRequests()) {
        const { status, text } = await ask(asked, name)
        statuses.add(status)
        if (hasCanary(text)) found.push(`${asked.methodAndPath}: ${text}`)
        expect(status, `${asked.methodAndPath}: ${text}`).not.toBe(500)
      }
      expect(found).toEqual([])
      // Else nothing would have been shown at all.
      expect([...statuses]).toEqual(expect.arrayContaining([200, 403]))
    },
  )

  test('nor is it in a log line', () => {
    expect(logged).toContain('slow_request')
    expect(hasCanary(logged)).toBe(false)
  })
})

test('the canary is found in each form that an answer could have it in', () => {
  for (const before of ['', 'a', 'ab', 'abc', 'abcd'])
    expect(hasCanary(Buffer.from(`${before}${canary} behind`).toString('base64')), before).toBe(true)
  expect(hasCanary('customer-7')).toBe(false)
})
