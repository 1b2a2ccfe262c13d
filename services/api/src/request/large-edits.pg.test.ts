// Edits of large values: whoever sends many of them takes neither the process nor another token's turn.

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Aside, createAside } from 'dlq-core/runtime/aside/aside.ts'
import { eventually } from 'dlq-testing/eventually.ts'
import { useLogFolder } from 'dlq-testing/fleet/log-folder.ts'
import { startService } from 'dlq-testing/fleet/service-process.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { createReaper } from 'dlq-testing/process/reaper.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { afterAll, expect, test } from 'vitest'
import { answerOf, createTestApp, type TestAppOptions } from '../test-app.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const logs = useLogFolder()
const reaper = createReaper()
afterAll(() => reaper.close())

const insertValue = (value: string) =>
  insertMessageRow(database.sql, { record_value: Buffer.from(value), record_headers: [] })
const insertList = (values: number) => insertValue(`{"amount":1,"lines":[${'1,'.repeat(values)}1]}`)

const auth: NonNullable<TestAppOptions['auth']> = {
  tokens: ['ann', 'bob'].map((name) => ({
    ...{ name, role: 'sys_admin' as const },
    sha256: createHash('sha256').update(`secret-${name}`).digest('hex'),
  })),
}

function edit(body: object, name = 'ann'): RequestInit {
  const headers = { 'if-match': '*', 'content-type': 'application/json', authorization: `Bearer secret-${name}` }
  return { method: 'PATCH', headers, body: JSON.stringify(body) }
}
/** On a machine that is busy with something else. */
const patient = { maxRunMs: 60_000, maxWaitMs: 60_000 }
/** It copies, so its value may grow, whatever its size. */
const copying = { patch: [{ op: 'copy', from: '/amount', path: '/again' }] }

test('/healthz and /readyz answer while patches at their bounds are worked out, one after the other and beside each other', async () => {
  const ids = await Promise.all(Array.from({ length: 3 }, () => insertList(490_000)))
  const api = await startService({
    ...{ name: 'api', databaseUrl: database.url, kafkaBrokers: [], reaper, logFile: join(logs.path, 'api.log') },
    env: { NODE_NO_WARNINGS: '1', DLQ_SERVER_REQUEST_TIMEOUT: '60s' },
  })
  await api.ready()
  const timed = async (path: string, init?: RequestInit) => {
    const startedAt = performance.now()
    const response = await fetch(`${api.url}${path}`, init)
    await response.arrayBuffer()
    return { status: response.status, ms: performance.now() - startedAt }
  }
  const patch = Array.from({ length: 30 }, () => [
    { op: 'remove', path: '/lines/0' },
    { op: 'copy', from: '/amount', path: '/lines/-' },
  ]).flat()
  const change = (id: string, amount: number) =>
    timed(`/api/v1/dlq/messages/${id}`, edit({ patch: [...patch, { op: 'replace', path: '/amount', value: amount }] }))

  const state = { done: false }
  const probes: { status: number; ms: number }[] = []
  const probing = (async () => {
    for (; !state.done; await sleep(20)) probes.push(await timed('/healthz'), await timed('/readyz'))
  })()
  // The thread has started.
  expect((await timed(`/api/v1/dlq/messages/${await insertValue('{"amount":1}')}`, edit(copying))).status).toBe(200)
  const alone = [await change(ids[0]!, 2), await change(ids[0]!, 3)]
  const together = await Promise.all(ids.map((id) => change(id, 4)))
  state.done = true
  await probing
  await api.stop('SIGTERM', 15_000)
  expect(alone.map(({ status }) => status)).toEqual([200, 200])
  // On a slow machine the last of three is told to come again.
  expect(together.map(({ status }) => status)).toContain(200)
  expect(together.filter(({ status }) => status !== 200 && status !== 503)).toEqual([])
  expect(new Set(probes.map(({ status }) => status))).toEqual(new Set([200]))
  // A patch takes many times as long as the longest wait. Both are times of one machine, so a slow one changes nothing.
  const longest = Math.max(...probes.map(({ ms }) => ms))
  const words = `${probes.length} probes, the longest ${Math.round(longest)} ms`
  console.log(`patches ${alone.map(({ ms }) => Math.round(ms))} ms; ${words}`)
  expect(longest).toBeLessThan(Math.min(...alone.map(({ ms }) => ms)) / 2)
}, 180_000)

test('a patch that takes longer than its time is refused with the field, and changes nothing', async () => {
  const request = createTestApp(service.sql, { auth, aside: createAside({ maxRunMs: 1 }) })
  const id = await insertValue('{"amount":1}')
  const refused = await answerOf(request(`PATCH /api/v1/dlq/messages/${id}`, edit(copying)))
  const message = 'it takes longer than 0.001 s to work this change out; send the whole value as text or base64 instead'
  expect(refused).toMatchObject({
    status: 400,
    body: { error: { code: 'SYS_DLQ_VALIDATION_ERROR', details: [{ field: 'patch', message }] } },
  })
  const [row] = await database.sql`select edits from dlq.dlq_messages where id = ${id}`
  expect(row).toEqual({ edits: 0 })
  // In a preview only this message has the problem.
  const run = { kind: 'edit', dry_run: true, selection: { ids: [id] }, ...copying }
  const preview = await answerOf(request('POST /api/v1/runs', { ...edit(run), method: 'POST' }))
  expect(preview).toMatchObject({ status: 200, body: { diff: [{ id, problem: 'takes_too_long' }] } })
})

/**
 * Nothing is worked out until `count` changes have been read from the database: on a slow machine the first is done
 * before the last comes.
 */
function gathering(count: number, aside: Aside) {
  const gathered = Promise.withResolvers<void>()
  let seen = 0
  const workedOut: string[] = []
  const gate: Aside = {
    async run(task, asker) {
      seen += 1
      if (seen === count) gathered.resolve()
      await gathered.promise
      const result = await aside.run(task, asker)
      workedOut.push(asker.owner)
      return result
    },
  }
  return { gate, workedOut, seen: () => seen }
}

test('a token that floods is told so, and another token’s patch is worked out after one of its own', async () => {
  const { gate, seen, workedOut } = gathering(6, createAside({ ...patient, maxWaiting: 3, maxWaitingOfOne: 2 }))
  const request = createTestApp(service.sql, { auth, aside: gate })
  const send = async (name: string) => {
    const id = await insertList(60_000)
    return () => request(`PATCH /api/v1/dlq/messages/${id}`, edit(copying, name))
  }
  const flood = await Promise.all(Array.from({ length: 5 }, () => send('ann')))
  const other = await send('bob')
  const sent = flood.map((one) => one())
  await eventually(() => expect(seen()).toBe(5))
  const last = await other()
  const answers = await Promise.all(sent)
  // One is worked out, and two wait.
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 429, 429])
  expect(last.status).toBe(200)
  const [ann] = workedOut
  expect(workedOut).toHaveLength(4)
  expect([workedOut.filter((owner) => owner !== ann).length, workedOut.at(-1)]).toEqual([1, ann])
  const refused = answers.find(({ status }) => status === 429)!
  expect(refused.headers.get('retry-after')).toMatch(/^[1-3]$/)
})

test('where too many wait together, 503 says when to come again', async () => {
  const { gate } = gathering(2, createAside({ ...patient, maxWaiting: 0 }))
  const request = createTestApp(service.sql, { auth, aside: gate })
  const ids = await Promise.all([insertList(60_000), insertList(60_000)])
  const answers = await Promise.all(ids.map((id) => request(`PATCH /api/v1/dlq/messages/${id}`, edit(copying))))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 503])
  const refused = answers.find(({ status }) => status === 503)!
  expect(refused.headers.get('retry-after')).toMatch(/^[2-5]$/)
  expect(await refused.json()).toMatchObject({ error: { code: 'SYS_DLQ_UNAVAILABLE' } })
})
