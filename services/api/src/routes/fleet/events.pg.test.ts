// The stream of what changes in the fleet.

import { createHash } from 'node:crypto'
import { foldSummary } from 'dlq-core/queries/reading/summary.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest'
import { createTestApp } from '../../test-app.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const group = '00000000-0000-8000-8000-000000000001'
const ended = new AbortController()
afterAll(() => ended.abort())

const streams: ReadableStreamDefaultReader[] = []
afterEach(async () => {
  await Promise.all(streams.splice(0).map((reader) => reader.cancel()))
})

type Changed = {
  id: string
  at: string
  missed: boolean
  more: boolean
  counts: Record<string, number>
  groups: string[]
  runs: string[]
}

let app: ReturnType<typeof createTestApp>
beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_messages', 'dlq.dlq_group_topics', 'dlq.dlq_groups', 'dlq.dlq_runs')
  const hash = (name: string) => createHash('sha256').update(name).digest('hex')
  app = createTestApp(service.sql, {
    stopping: ended.signal,
    auth: {
      tokens: [
        { name: 'all', sha256: hash('all'), role: 'sys_operator' },
        { name: 'payments', sha256: hash('payments'), role: 'sys_auditor', topics: ['payments*'] },
        {
          name: 'short',
          sha256: hash('short'),
          role: 'sys_auditor',
          expires_at: new Date(Date.now() + 3000).toISOString(),
        },
      ],
    },
  })
})

async function listen(token = 'all', lastId?: string) {
  const headers = { authorization: `Bearer ${token}`, ...(lastId !== undefined && { 'last-event-id': lastId }) }
  const response = await app('GET /api/v1/events', { headers })
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  const reader = response.body!.getReader()
  streams.push(reader)
  let text = ''
  /** The next event; null at the end. */
  const next = async (): Promise<Changed | null> => {
    for (;;) {
      const [event, ...rest] = text.split('\n\n')
      if (rest.length > 0) {
        text = rest.join('\n\n')
        const fields = Object.fromEntries(event!.split('\n').map((line) => line.split(/: (.*)/s)))
        if (fields.event === 'changed') return { id: fields.id, ...JSON.parse(fields.data) }
        continue
      }
      const { done, value } = await reader.read()
      if (done) return null
      text += new TextDecoder().decode(value)
    }
  }
  /** The first event that is so. */
  const until = async (isWanted: (event: Changed) => boolean): Promise<Changed> => {
    for (;;) {
      const event = await next()
      if (event === null) throw new Error('the stream has ended')
      if (isWanted(event)) return event
    }
  }
  return { next, until }
}

async function insert(columns = {}) {
  await database.sql`
    insert into dlq.dlq_groups (id, version, message, title) values (${group}, 1, 'm', 'm') on conflict do nothing`
  return insertMessageRow(database.sql, {
    ...{ original_topic: 'orders', dlq_topic: 'orders.dlq.v1', group_id: group },
    ...columns,
  })
}

test('it begins with the counts, and tells which groups and runs have changed, also when counts are folded', async () => {
  await insert()
  const { next, until } = await listen()
  const first = await next()
  expect(first).toMatchObject({ missed: true, counts: { PENDING: 1, DEAD: 0 }, groups: [], runs: [] })
  expect(first?.at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/)
  const id = await insert({ status: 'DEAD' })
  expect(await until(({ counts }) => counts.DEAD === 1)).toMatchObject({ missed: false, groups: [group], runs: [] })
  await foldSummary(service.sql, { limit: 1000 })
  await database.sql`update dlq.dlq_messages set status = 'PENDING' where id = ${id}`
  expect(await until(({ counts }) => counts.DEAD === 0)).toMatchObject({ counts: { PENDING: 2 }, groups: [group] })

  const body = JSON.stringify({ kind: 'retry', selection: { filter: { topic: 'orders' } } })
  const init = { method: 'POST', body, headers: { authorization: 'Bearer all', 'content-type': 'application/json' } }
  const run = (await (await app('POST /api/v1/runs', init)).json()) as { id: string }
  expect(await until(({ runs }) => runs.length > 0)).toMatchObject({ runs: [run.id] })
})

test('what somebody says about a group is a change of it, and nothing is sent where nothing changes', async () => {
  await insert()
  const { next } = await listen()
  await next()
  const init = {
    ...{ method: 'PATCH', body: '{"owner":"maria"}' },
    headers: { authorization: 'Bearer all', 'content-type': 'application/json' },
  }
  expect((await app(`PATCH /api/v1/groups/${group}`, init)).status).toBe(200)
  expect(await next()).toMatchObject({ missed: false, groups: [group], counts: { PENDING: 1 } })
  await insert({ original_topic: 'later' })
  // The next event is that of the new message: none came in between.
  expect(await next()).toMatchObject({ counts: { PENDING: 2 } })
})

test('a token for some topics hears of these alone', async () => {
  await insert()
  const { next } = await listen('payments')
  expect(await next()).toMatchObject({ missed: true, counts: { PENDING: 0 } })
  await insert()
  await insert({ original_topic: 'payments', dlq_topic: 'payments.dlq.v1', group_id: null })
  expect(await next()).toMatchObject({ counts: { PENDING: 1 }, groups: [] })
})

test('who comes back hears what happened meanwhile, and otherwise that something may be missing', async () => {
  await insert()
  const first = await listen()
  const { id } = (await first.next())!
  await streams.pop()!.cancel()
  const other = await listen()
  await other.next()
  await insert()
  await other.until(({ counts }) => counts.PENDING === 2)
  const again = await listen('all', id)
  expect(await again.next()).toMatchObject({ missed: false, groups: [group], counts: { PENDING: 2 } })
  const stranger = await listen('all', '00000000-1')
  expect(await stranger.next()).toMatchObject({ missed: true, groups: [] })
})

test('it ends after so many seconds, with its first event at least', async () => {
  const headers = { authorization: 'Bearer all' }
  const response = await app('GET /api/v1/events?seconds=0', { headers })
  expect((await response.text()).match(/^event: changed$/gm)).toHaveLength(1)
  expect((await app('GET /api/v1/events?seconds=-1', { headers })).status).toBe(400)
})

test('it ends with the token, and a token holds ten at most', async () => {
  const { next } = await listen('short')
  while ((await next()) !== null);
  const open = await Promise.all(Array.from({ length: 10 }, () => listen()))
  expect((await app('GET /api/v1/events', { headers: { authorization: 'Bearer all' } })).status).toBe(429)
  expect(open).toHaveLength(10)
})

test('HEAD opens no stream: nobody would read it, nor end it', async () => {
  const headers = { authorization: 'Bearer all' }
  for (let times = 0; times < 11; times += 1) {
    const response = await app('HEAD /api/v1/events', { headers })
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  }
  expect(await (await listen()).next()).toMatchObject({ missed: true })
})
