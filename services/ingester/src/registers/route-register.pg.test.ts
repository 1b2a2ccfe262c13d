// What the ingester holds: dead letters that name a topic to which their DLQ topic has no open route. And how many topics
// and consumer groups a DLQ topic may name.

import type { TopicMapping } from 'dlq-core/domain/failure/topic-names.ts'
import type { DeadLetter } from 'dlq-core/domain/message/new-message.ts'
import { deriveMessageId } from 'dlq-core/domain/record/message-id.ts'
import { orderKey } from 'dlq-core/domain/record/order-key.ts'
import type { DeadLetterRecord } from 'dlq-core/domain/record/record.ts'
import { defaultRetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { decideRoute } from 'dlq-core/queries/routes/routes.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, expect, test } from 'vitest'
import { storeBatch } from '../store/store-batch.ts'
import { batchOf, recordAt, storeDeps } from '../store/test-batch.ts'
import { createConsumerRegister } from './consumer-register.ts'
import { createRouteRegister } from './route-register.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const evil = 'evil.dlq.v1'

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_attempts', 'dlq.dlq_positions', 'dlq.dlq_messages', 'dlq.dlq_routes')
})

const registerWith = (more: Partial<Parameters<typeof createRouteRegister>[1]> = {}) =>
  createRouteRegister(service.sql, { mappings: [], mode: 'ask', now: Date.now, ...more })

/** A record of `evil.dlq.v1` that names the original topic. */
const claiming = (offset: number, original: string): DeadLetterRecord => ({
  ...recordAt(offset, { headers: { 'dlq-original-topic': original } }),
  topic: evil,
})
const store = (records: readonly DeadLetterRecord[], routes = registerWith()) =>
  storeBatch(storeDeps(service.sql, { routes }), { ...batchOf(records), topic: evil, fetchedOffset: 0n })
const read = (record: DeadLetterRecord) => readMessageRow(database.sql, deriveMessageId(record))
const held = { held_by_route: true, next_retry_at: null }
const scheduled = { held_by_route: false, next_retry_at: expect.any(Date) }

async function stateOf(original: string): Promise<string | undefined> {
  const [row] = await database.sql`select state from dlq.dlq_routes where original_topic = ${original}`
  return row?.state
}

test('a dead letter that names another team’s topic is stored, and not sent by itself', async () => {
  const [own, foreign] = [claiming(0, 'evil'), claiming(1, 'payments')]
  expect(await store([own, foreign])).toMatchObject({ stored: 2 })
  expect(await read(own)).toMatchObject({ original_topic: 'evil', ...scheduled })
  expect(await read(foreign)).toMatchObject({ original_topic: 'payments', ...held })
  expect([await stateOf('evil'), await stateOf('payments')]).toEqual(['by_name', 'waiting'])
})

test('where order is kept per key, one that is held has no place among those of its key', async () => {
  const key = Buffer.from('k')
  const [own, foreign] = [
    { ...claiming(0, 'evil'), key },
    { ...claiming(1, 'payments'), key },
  ]
  const policyOf = () => ({ ...defaultRetryPolicy, ordering: 'per-key' as const })
  const deps = storeDeps(service.sql, { settings: { policyOf, mappings: [], dlqPatterns: [] } })
  await storeBatch(deps, { ...batchOf([own, foreign]), topic: evil, fetchedOffset: 0n })
  expect([(await read(own)).order_key, (await read(foreign)).order_key]).toEqual([String(orderKey(key)), null])
})

test('a mapping opens the route, also one that waited, and its messages are then scheduled', async () => {
  await store([claiming(0, 'payments')])
  const routes = registerWith({ mappings: [{ dlq: evil, original: 'payments' }] })
  const record = claiming(1, 'payments')
  await store([record], routes)
  expect(await read(record)).toMatchObject(scheduled)
  const [row] = await database.sql`select state, applying_since from dlq.dlq_routes`
  expect(row).toEqual({ state: 'by_mapping', applying_since: expect.any(Date) })
})

test('a mapping that a subscription brings, or takes away, counts for the next dead letters once the register has looked', async () => {
  const mappings: TopicMapping[] = []
  const routes = registerWith({ mappings })
  const records = [0, 1, 2].map((offset) => claiming(offset, 'payments'))
  await store([records[0]!], routes)
  mappings.push({ dlq: evil, original: 'payments' })
  await routes.refresh()
  await store([records[1]!], routes)
  mappings.pop()
  await routes.refresh()
  await store([records[2]!], routes)
  expect(await read(records[0]!)).toMatchObject(held)
  expect(await read(records[1]!)).toMatchObject(scheduled)
  expect(await read(records[2]!)).toMatchObject(held)
})

test('where every route is trusted nothing is held, except what somebody has blocked', async () => {
  await store([claiming(0, 'payments')])
  await decideRoute(service.sql, { dlq_topic: evil, original_topic: 'hr', state: 'blocked', actor: 'a', reason: null })
  const routes = registerWith({ mode: 'trust' })
  await routes.refresh()
  expect(await stateOf('payments')).toBe('by_mapping')
  const [trusted, blocked] = [claiming(1, 'refunds'), claiming(2, 'hr')]
  await store([trusted, blocked], routes)
  expect(await read(trusted)).toMatchObject(scheduled)
  expect(await read(blocked)).toMatchObject(held)
  expect(await stateOf('hr')).toBe('blocked')
})

test('a decision counts for the next dead letters once the register has looked', async () => {
  const routes = registerWith()
  const records = [0, 1, 2].map((offset) => claiming(offset, 'payments'))
  await store([records[0]!], routes)
  const decide = (state: 'approved' | 'blocked') =>
    decideRoute(service.sql, { dlq_topic: evil, original_topic: 'payments', state, actor: 'a', reason: null })
  await decide('approved')
  await routes.refresh()
  await store([records[1]!], routes)
  await decide('blocked')
  await routes.refresh()
  await store([records[2]!], routes)
  expect(await read(records[0]!)).toMatchObject(held)
  expect(await read(records[1]!)).toMatchObject(scheduled)
  expect(await read(records[2]!)).toMatchObject(held)
})

test('after a long silence everything is read again', async () => {
  let now = 0
  const routes = registerWith({ now: () => now })
  await store([claiming(0, 'payments')], routes)
  await decideRoute(service.sql, {
    dlq_topic: evil,
    original_topic: 'payments',
    state: 'approved',
    actor: 'a',
    reason: null,
  })
  await database.sql`update dlq.dlq_routes set decided_at = now() - interval '1 hour'`
  now = 60_000
  await routes.refresh()
  const record = claiming(1, 'payments')
  await store([record], routes)
  expect(await read(record)).toMatchObject(scheduled)
})

test('a DLQ topic that names ever new topics fills no more than a thousand routes, and all of it is held', async () => {
  const records = Array.from({ length: 1200 }, (_, n) => claiming(n, `made-up-${n}`))
  const routes = registerWith()
  await store(records.slice(0, 700), routes)
  await store(records.slice(700), routes)
  const [row] = await database.sql`
    select (select count(*)::int from dlq.dlq_routes) as routes,
           (select count(*)::int from dlq.dlq_messages where held_by_route) as held`
  expect(row).toEqual({ routes: 1000, held: 1200 })
})

test('a DLQ topic that names ever new retry topics and versions of its own opens no more than a hundred of them', async () => {
  const variants = Array.from({ length: 1100 }, (_, n) => claiming(n, n % 2 ? `evil-retry-${n}` : `evil.events.v${n}`))
  await store(variants.slice(0, 300))
  // Another process, which has met none of them.
  await store(variants.slice(300))
  const own = claiming(1100, 'evil')
  await store([own, claiming(1101, 'evil-retry-1')])
  const count = async (rows: ReturnType<typeof database.sql>) => (await database.sql`${rows}`)[0]!.n
  expect(await count(database.sql`select count(*)::int as n from dlq.dlq_routes where state = 'by_name'`)).toBe(101)
  expect(await count(database.sql`select count(*)::int as n from dlq.dlq_routes`)).toBe(1001)
  expect(await count(database.sql`select count(*)::int as n from dlq.dlq_messages where held_by_route`)).toBe(1000)
  expect(await read(own)).toMatchObject(scheduled)
  const waiting = { dlq_topic: evil, original_topic: 'evil-retry-1099' }
  const isOpen = await registerWith().testOf(service.sql, [waiting, { ...waiting, original_topic: 'evil-retry-1' }])
  expect([isOpen(waiting), isOpen({ ...waiting, original_topic: 'evil-retry-1' })]).toEqual([false, true])
})

test('a DLQ topic that names ever new consumer groups has a thousand of them, and the headers keep the names of others', async () => {
  const failedIn = (offset: number, group: string): DeadLetterRecord => ({
    ...recordAt(offset, { headers: { 'dlq-original-topic': 'evil', 'dlq-consumer-group': group } }),
    topic: evil,
  })
  const records = Array.from({ length: 1100 }, (_, n) => failedIn(n, `made-up-${n}`))
  const named = async () =>
    (await database.sql`select count(distinct consumer_group)::int as n, count(*)::int as all from dlq.dlq_messages`)[0]
  await store(records.slice(0, 600))
  // Another process, which has met none of them.
  const later = storeDeps(service.sql, { routes: registerWith() })
  const go = (some: readonly DeadLetterRecord[]) =>
    storeBatch(later, { ...batchOf(some), topic: evil, fetchedOffset: 0n })
  await go(records.slice(600))
  expect(await named()).toEqual({ n: 1000, all: 1100 })
  const [known, other] = [failedIn(1100, 'made-up-7'), failedIn(1101, 'made-up-9999')]
  await go([known, other])
  expect(await read(known)).toMatchObject({ consumer_group: 'made-up-7' })
  const left = await read(other)
  expect(left).toMatchObject({ consumer_group: null, original_topic: 'evil' })
  expect(JSON.stringify(left!.record_headers)).toContain('made-up-9999')
})

test('a consumer group that found no room is looked up again, and has a name once there is some', async () => {
  const names = Array.from({ length: 1000 }, (_, n) => ({ dlq_topic: evil, consumer_group: `made-up-${n}` }))
  await database.sql`
    insert into dlq.dlq_summary_deltas (original_topic, dlq_topic, consumer_group, status, change)
    select 'evil', ${evil}, consumer_group, 'DEAD', 1 from unnest(${names.map((of) => of.consumer_group)}::text[]) consumer_group`
  let now = 0
  const consumers = createConsumerRegister(service.sql, { now: () => now })
  const groupOf = async () => {
    const letter = { message: { dlq_topic: evil, consumer_group: 'billing' } } as DeadLetter
    if (!consumers.admitKnown(letter.message)) await consumers.admit([letter])
    return letter.message.consumer_group
  }
  try {
    expect(await groupOf()).toBeNull()
  } finally {
    await database.sql`delete from dlq.dlq_summary_deltas`
  }
  expect(await groupOf()).toBeNull()
  now = 60_000
  expect(await groupOf()).toBe('billing')
})

test('routes that are known already, and met by another process, take no place of new ones', async () => {
  await store(Array.from({ length: 900 }, (_, n) => claiming(n, `known-${n}`)))
  const originals = [
    ...Array.from({ length: 200 }, (_, n) => `known-${n}`),
    ...Array.from({ length: 200 }, (_, n) => `new-${n}`),
  ]
  await store(originals.map((original, n) => claiming(1000 + n, original)))
  const [row] = await database.sql`select count(*)::int as routes from dlq.dlq_routes`
  expect(row).toEqual({ routes: 1000 })
})

test('a route that is looked at for a claim is not written down', async () => {
  const isOpen = await registerWith().testOf(service.sql, [{ dlq_topic: evil, original_topic: 'payments' }])
  expect(isOpen({ dlq_topic: evil, original_topic: 'payments' })).toBe(false)
  expect(await stateOf('payments')).toBeUndefined()
})

test('a message whose route is blocked fails again without being scheduled', async () => {
  const record = claiming(0, 'evil')
  await store([record])
  const id = deriveMessageId(record)
  await database.sql`update dlq.dlq_messages set status = 'RETRYING', retry_count = 1 where id = ${id}`
  await decideRoute(service.sql, {
    dlq_topic: evil,
    original_topic: 'evil',
    state: 'blocked',
    actor: 'a',
    reason: null,
  })
  const again = recordAt(1, { headers: { 'dlq-original-topic': 'evil', 'dlq-message-id': id, 'dlq-attempt': '1' } })
  expect(await store([{ ...again, topic: evil }])).toMatchObject({ stored: 0, reopened: 1 })
  expect(await read(record)).toMatchObject({ status: 'PENDING', ...held })
})
