// What a run takes, and what it leaves alone and why.
import { randomUUID } from 'node:crypto'
import { emptyTables } from 'dlq-testing/empty-tables.ts'
import { insertMessageRow, readMessageRow } from 'dlq-testing/message-rows.ts'
import { useServiceDatabase } from 'dlq-testing/service-database.ts'
import { useDatabase } from 'dlq-testing/test-database.ts'
import { beforeEach, expect, test } from 'vitest'
import { handOverPulled, takeIntoRun } from './run-messages.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const runId = randomUUID()
const otherRun = randomUUID()

beforeEach(() => emptyTables(database.sql, 'dlq.dlq_messages', 'dlq.dlq_policies'))

const insert = (columns = {}) => insertMessageRow(database.sql, { original_topic: 'orders', ...columns })
const pull = (pattern: string, delivery = 'pull') =>
  database.sql`insert into dlq.dlq_policies (pattern, delivery) values (${pattern}, ${delivery})`

function take(ids: string[], rest = {}) {
  return takeIntoRun(service.sql, { runId, ids, cutoff: 'infinity', scope: null, redirects: false, ...rest })
}

test('takes what can be retried, and says of the rest what it is', async () => {
  const free = [await insert(), await insert({ retry_count: 2 })]
  const left = [
    await insert({ status: 'DEAD' }),
    await insert({ retry_count: 3 }),
    await insert({ run_id: otherRun }),
    await insert({ status: 'RETRYING', retry_count: 1 }),
  ]
  const unseen = await insert({ original_topic: 'payments' })
  const ids = [...free, ...left, unseen, randomUUID()]
  const taken = await take(ids, { scope: ['orders*'] })
  expect(taken).toMatchObject({ taken: 2, handedOver: 0 })
  expect(taken.left.toSorted((a, b) => left.indexOf(a.id) - left.indexOf(b.id))).toEqual([
    { id: left[0], status: 'DEAD', retryCount: 0, maxRetries: 3, runId: null },
    { id: left[1], status: 'PENDING', retryCount: 3, maxRetries: 3, runId: null },
    { id: left[2], status: 'PENDING', retryCount: 0, maxRetries: 3, runId: otherRun },
    { id: left[3], status: 'RETRYING', retryCount: 1, maxRetries: 3, runId: null },
  ])
  const held = await database.sql`select id from dlq.dlq_messages where run_id = ${runId} order by id`
  expect(held.map(({ id }) => id)).toEqual(free.toSorted())
  expect(await take([await insert()], { cutoff: '2020-01-01' })).toEqual({ taken: 0, handedOver: 0, left: [] })
})

test('makes due what programs pull, which the more exact policy says, and a redirect takes that too', async () => {
  await pull('orders_*')
  await pull('orders_eu', 'republish')
  const topics = ['orders_us', 'orders_eu', 'ordersXus']
  const ids = await Promise.all(topics.map((original_topic) => insert({ original_topic })))
  expect(await take(ids)).toEqual({ taken: 2, handedOver: 1, left: [] })
  expect(await readMessageRow(database.sql, ids[0]!)).toMatchObject({
    ...{ run_id: null, retry_requested: true, next_retry_at: expect.any(Date) },
  })
  expect(await take([ids[0]!], { redirects: true })).toEqual({ taken: 1, handedOver: 0, left: [] })
})

test('what somebody is changing is looked at when they are done', async () => {
  const [kept, killed] = [await insert(), await insert()]
  const { promise: isLocked, resolve: locked } = Promise.withResolvers<void>()
  const { promise: isAsked, resolve: asked } = Promise.withResolvers<void>()
  const changing = database.sql.begin(async (sql) => {
    await sql`update dlq.dlq_messages set status = 'DEAD' where id = ${killed}`
    await sql`update dlq.dlq_messages set error_message = 'edited' where id = ${kept}`
    locked()
    await isAsked
  })
  await isLocked
  const taking = take([kept, killed])
  await expect
    .poll(
      () => database.sql`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
    )
    .toHaveLength(1)
  asked()
  await changing
  expect(await taking).toMatchObject({ taken: 1, handedOver: 0, left: [{ id: killed, status: 'DEAD' }] })
})

test('what is pulled since it was taken is handed over, and nothing else', async () => {
  const [moved, stays] = [await insert(), await insert({ original_topic: 'payments' })]
  await take([moved, stays])
  expect(await handOverPulled(service.sql, { runId, limit: 10 })).toBe(0)
  await pull('orders')
  expect(await handOverPulled(service.sql, { runId, limit: 10 })).toBe(1)
  expect([...(await database.sql`select id from dlq.claim_messages('orders')`)]).toEqual([{ id: moved }])
  expect(await readMessageRow(database.sql, stays)).toMatchObject({ run_id: runId, next_retry_at: null })
})
