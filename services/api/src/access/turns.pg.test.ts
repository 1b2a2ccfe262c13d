import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from 'dlq-testing/eventually.ts'
import { untilWaitingForLock } from 'dlq-testing/postgres/lock-waits.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { expect, test } from 'vitest'
import { createTestApp } from '../test-app.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

test('a sender whose requests wait for the database leaves connections to others', async () => {
  const app = createTestApp(service.sql, {
    authenticate: async (actor) => ({ actor: actor!, grants: [{ role: 'write', topics: null }] }),
  })
  const as = (actor: string) => ({ headers: { authorization: actor } })
  const id = await insertMessageRow(database.sql)
  const waiting = await database.sql.begin(async (sql) => {
    await sql`select from dlq.dlq_messages where id = ${id} for update`
    const waiting = Array.from({ length: 2 * service.sql.options.max }, () =>
      app(`POST /api/v1/dlq/messages/${id}/dead`, as('ann')),
    )
    await untilWaitingForLock(database, service.sql.options.max / 2)
    const answer = await Promise.race([app('GET /api/v1/messages?limit=1', as('bob')), ...waiting])
    expect(answer.status).toBe(200)
    return { waiting }
  })
  const statuses = await Promise.all(waiting.waiting.map(async (answer) => (await answer).status))
  expect(statuses.filter((status) => status === 200)).toHaveLength(1)
  expect(statuses.filter((status) => status === 409)).toHaveLength(statuses.length - 1)
})

test('a retry that waits for its outcome keeps none of its sender’s other retries waiting', async () => {
  const stopping = new AbortController()
  const app = createTestApp(service.sql, {
    authenticate: async (actor) => ({ actor: actor!, grants: [{ role: 'write', topics: null }] }),
    ...{ stopping: stopping.signal, retryWaitMs: 3_600_000 },
  })
  const retry = async (prefer: Record<string, string>) => {
    const id = await insertMessageRow(database.sql)
    return (await app(`POST /api/v1/dlq/messages/${id}/retry`, { headers: { authorization: 'ann', ...prefer } })).status
  }
  const waiting = retry({})
  await eventually(async () => expect(await database.sql`select from dlq.dlq_attempts`).toHaveLength(1))
  expect(await Promise.race([retry({ prefer: 'wait=0' }), sleep(10_000, 'it waits', { ref: false })])).toBe(202)
  stopping.abort()
  expect(await waiting).toBe(202)
})

test('the exports of a sender, however many, leave connections to others', async () => {
  const app = createTestApp(service.sql, {
    authenticate: async (actor) => ({ actor: actor!, grants: [{ role: 'read', topics: null }] }),
  })
  const as = (actor: string) => ({ headers: { authorization: actor } })
  const { exports, isAnswered } = await database.sql.begin(async (sql) => {
    await sql`lock table dlq.dlq_messages in access exclusive mode`
    const exports = Array.from({ length: 20 }, async () => {
      const answer = await app('GET /api/v1/messages/export?format=ndjson', as('ann'))
      await answer.text()
      return answer.status
    })
    await untilWaitingForLock(database, 2)
    const asked = app('GET /api/v1/audit', as('bob')).then(({ status }) => status === 200)
    return { exports, isAnswered: await Promise.race([asked, sleep(4000, false)]) }
  })
  expect(isAnswered).toBe(true)
  expect(new Set(await Promise.all(exports))).toEqual(new Set([200]))
})
