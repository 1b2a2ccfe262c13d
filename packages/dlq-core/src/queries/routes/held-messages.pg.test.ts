// A message that its route holds, or that waits for its original, is sent only when somebody asks, whatever becomes of an
// attempt meanwhile.

import { randomUUID } from 'node:crypto'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { untilWaitingForLock } from 'dlq-testing/postgres/lock-waits.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, type MessageColumns, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, expect, test } from 'vitest'
import { smallestId } from '../../domain/record/message-id.ts'
import { orderKey } from '../../domain/record/order-key.ts'
import { defaultRetryPolicy } from '../../domain/retry/retry-policy.ts'
import { applyRoute } from '../../runtime/apply-route.ts'
import { startProbes } from '../groups/group-pauses.ts'
import { claimBatch, releaseBatch, settleMessages } from '../retry/batches.ts'
import { releaseUnheldNow } from '../retry/expired-leases.ts'
import { assignOrderKeys } from '../retry/order-keys.ts'
import { takeSlot } from '../retry/slots.ts'
import { surveyMessages } from '../runs/run-messages.ts'
import { writeFresh } from '../staleness/answers.ts'
import { holdStale } from '../staleness/hold-stale.ts'
import { archiveMessages, restoreArchived } from '../upkeep/archive.ts'
import { decideRoute, holdMessages, letMessagesGo, listApplying } from './routes.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_routes')
  await emptyTables(database.sql, 'dlq.dlq_attempts', 'dlq.dlq_messages', 'dlq.dlq_slots', 'dlq.dlq_policies')
  await emptyTables(database.sql, 'dlq.dlq_positions')
})

const route = { dlq_topic: 'orders.dlq.v1', original_topic: 'orders' }
const insert = (columns: MessageColumns = {}) =>
  insertMessageRow(database.sql, { ...route, next_retry_at: new Date(0), ...columns })
const read = (id: string) => readMessageRow(database.sql, id)
const held = { status: 'PENDING', held_by_route: true, next_retry_at: null }

async function claim({ ordered = false } = {}) {
  const slot = await takeSlot(service.sql, { owner: 'test', leaseMs: 60_000 })
  const share = { topic: 'orders', quota: 9, maxInFlight: null, ordered, pausedGroups: [] }
  const claimed = await claimBatch(service.sql, { ...slot, token: randomUUID(), shares: [share], maxBytes: 1e9 })
  return { ...slot, batch: claimed?.batch ?? 0n, messages: claimed?.messages ?? [] }
}

const decide = (state: 'approved' | 'blocked') =>
  decideRoute(service.sql, { ...route, state, actor: 'ann', reason: null })

const follow = (state: 'approved' | 'blocked') =>
  applyRoute(
    { sql: service.sql, policyOf: () => defaultRetryPolicy, dlqPatterns: [], now: () => new Date(), random: () => 0 },
    { ...route, state },
    { maxChunks: 99, signal: AbortSignal.timeout(60_000) },
  )

async function block() {
  await decide('blocked')
  await follow('blocked')
}

test('a claim leaves it, unless somebody asks', async () => {
  await insert({ held_by_route: true })
  const asked = await insert({ held_by_route: true, retry_requested: true })
  expect((await claim()).messages).toMatchObject([{ id: asked }])
})

test.each([
  ['blocked', 'approved', true],
  ['approved', 'blocked', false],
] as const)(
  'once its route is %s, whoever still follows that it was %s changes nothing',
  async (state, before, isHeld) => {
    const id = await insert({ held_by_route: isHeld, next_retry_at: isHeld ? null : new Date(0) })
    await decide(state)
    const wasRead = await read(id)
    expect((await follow(before)).changed).toBe(0)
    expect(await read(id)).toEqual(wasRead)
    await database.sql`update dlq.dlq_routes set applying_since = now() - interval '2 minutes'`
    await follow(before)
    expect(await listApplying(service.sql, { limit: 9 })).toMatchObject([{ state }])
  },
)

test('somebody who decides waits for the messages that are following', async () => {
  const id = await insert({ held_by_route: true, next_retry_at: null })
  await decide('approved')
  const deciding = await database.sql.begin(async (sql) => {
    const chunk = { route: { ...route, state: 'approved' as const }, status: 'PENDING' as const, limit: 10 }
    await letMessagesGo(sql as unknown as typeof service.sql, {
      ...chunk,
      afterId: smallestId,
      nextRetryAt: new Date(),
    })
    const deciding = block()
    await untilWaitingForLock(database)
    return { deciding }
  })
  await deciding.deciding
  expect(await read(id)).toMatchObject(held)
})

test('what was under way when its route was blocked is held when it is given back', async () => {
  const id = await insert()
  const asked = await insert({ retry_requested: true })
  const batch = await claim()
  await block()
  expect(await releaseBatch(service.sql, batch)).toHaveLength(2)
  expect(await read(id)).toMatchObject(held)
  expect(await read(asked)).toMatchObject({ held_by_route: true, next_retry_at: expect.any(Date) })
  expect((await claim()).messages).toMatchObject([{ id: asked }])
})

test('what Kafka refuses is held, also where somebody had asked for that attempt', async () => {
  const ids = [await insert(), await insert({ held_by_route: true, retry_requested: true })]
  const batch = await claim()
  expect(batch.messages).toHaveLength(2)
  await block()
  const later = new Date(Date.now() + 60_000)
  const refused = ids.map((id) => ({ id, status: 'PENDING' as const, next_retry_at: later, run_id: null }))
  expect(await settleMessages(service.sql, { ...batch, messages: refused })).toBe(2)
  for (const id of ids) expect(await read(id)).toMatchObject({ ...held, retry_requested: false })
})

/** The number of a state in which a message waits for its original. */
const waitsForOriginal = 18
const waiting = { status: 'PENDING', origin_state: waitsForOriginal, next_retry_at: null }

const ends = [
  ['fails', (id: string, token: string) => database.sql`select dlq.fail_message(${id}, ${token}, 'again')`],
  [
    'is given back',
    (id: string, token: string) => database.sql`select dlq.release_messages(array[${id}::uuid], ${token})`,
  ],
  [
    'loses its lease',
    async (_id: string, _token: string) => {
      await database.sql`update dlq.dlq_messages set lease_until = now() - interval '1 s'`
      await database.sql`select dlq.expire_leases(null, 10)`
    },
  ],
] as const

test.each(ends)('one that an application has claimed, and that %s, is held', async (_, end) => {
  await database.sql`insert into dlq.dlq_policies (pattern, delivery) values ('orders', 'pull')`
  const id = await insert()
  const [claimed] = await database.sql`select * from dlq.claim_messages('orders')`
  await block()
  await end(id, claimed!.lease_token)
  expect(await read(id)).toMatchObject(held)
  await database.sql`update dlq.dlq_messages set next_retry_at = now()`
  expect(await database.sql`select from dlq.claim_messages('orders')`).toHaveLength(0)
})

test.each(ends)(
  'one that waits for its original, and that an application was made to claim, waits when it %s',
  async (how, end) => {
    await database.sql`insert into dlq.dlq_policies (pattern, delivery) values ('orders', 'pull')`
    await insert({ origin_state: waitsForOriginal })
    const id = await insert({ origin_state: waitsForOriginal, retry_requested: true })
    const claimed = await database.sql`select * from dlq.claim_messages('orders')`
    expect(claimed).toMatchObject([{ id }])
    await end(id, claimed[0]!.lease_token)
    const isAsked = how === 'is given back'
    expect(await read(id)).toMatchObject({ ...waiting, ...(isAsked && { next_retry_at: expect.any(Date) }) })
    expect(await database.sql`select from dlq.claim_messages('orders')`).toHaveLength(isAsked ? 1 : 0)
  },
)

test('one that waits for its original gets no time where nobody holds it, and is no probe', async () => {
  const group_id = randomUUID()
  const id = await insert({ status: 'RETRYING', origin_state: waitsForOriginal })
  await releaseUnheldNow(service.sql, id)
  expect(await read(id)).toMatchObject(waiting)
  await insert({ group_id, origin_state: waitsForOriginal })
  expect(await startProbes(service.sql, { original_topic: 'orders', group_id, ordered: false, count: 1 })).toBe(0)
})

test('one that is RETRYING and nobody holds gets no time', async () => {
  const id = await insert({ status: 'RETRYING', held_by_route: true })
  await releaseUnheldNow(service.sql, id)
  expect(await read(id)).toMatchObject(held)
})

test('once its route is open it is due, unless only a person may send it', async () => {
  await database.sql`
    insert into dlq.dlq_positions (cluster, topic, partition, next_offset, manual_below)
    values ('c', ${route.dlq_topic}, 0, 20, 10)`
  const ofRoute = {
    ...{ held_by_route: true, next_retry_at: null, record_value: Buffer.from('v') },
    ...{ dlq_cluster: 'c', dlq_partition: 0, dlq_offset: 10 },
  }
  const due = await insert(ofRoute)
  const others = await Promise.all(
    [
      { dlq_offset: 9 },
      { record_value: null },
      { error_class: 'UndecodableBatch' },
      { origin_state: waitsForOriginal },
      { status: 'DEAD' as const },
    ].map((more) => insert({ ...ofRoute, ...more })),
  )
  await decide('approved')
  const approved = { ...route, state: 'approved' as const }
  for (const status of ['PENDING', 'DEAD'] as const)
    await letMessagesGo(service.sql, {
      route: approved,
      status,
      afterId: smallestId,
      limit: 10,
      nextRetryAt: new Date(),
    })
  expect(await read(due)).toMatchObject({ held_by_route: false, next_retry_at: expect.any(Date) })
  for (const id of others) expect(await read(id)).toMatchObject({ held_by_route: false, next_retry_at: null })
})

test('one that was held as stale when its route was blocked is not due once it is known to be fresh', async () => {
  const [id, free] = [await insert(), await insert({ dlq_topic: 'orders-dlt' })]
  const batch = await claim()
  await block()
  for (const message_id of [id, free])
    await database.sql`
      insert into dlq.dlq_staleness (message_id, original_topic, answer) values (${message_id}, 'orders', 'waiting')`
  const answer = { answer: 'waiting', reason: null, newer_offset: null, newer_at: null } as const
  await holdStale(service.sql, { ...batch, held: [id, free].map((id) => ({ id, ...answer })) })
  await writeFresh(service.sql, [id, free])
  expect(await read(id)).toMatchObject(held)
  expect(await read(free)).toMatchObject({ status: 'PENDING', next_retry_at: expect.any(Date) })
})

test('it is no probe of its error group, also where it is held only now', async () => {
  const group_id = randomUUID()
  const id = await insert({ group_id })
  await decide('blocked')
  const probing = await database.sql.begin(async (sql) => {
    const blocked = { ...route, state: 'blocked' as const }
    const chunk = { route: blocked, status: 'PENDING' as const, afterId: smallestId, limit: 10 }
    await holdMessages(sql as unknown as typeof service.sql, chunk)
    const probing = startProbes(service.sql, { original_topic: 'orders', group_id, ordered: false, count: 1 })
    await untilWaitingForLock(database)
    return { probing }
  })
  expect(await probing.probing).toBe(0)
  expect(await read(id)).toMatchObject(held)
})

test.each([
  ['blocked', true],
  ['approved', false],
] as const)('what is restored follows its route, which was %s while it was in the archive', async (state, isHeld) => {
  const id = await insert({ status: 'DEAD', held_by_route: !isHeld, next_retry_at: null })
  await archiveMessages(service.sql, { ids: [id], now: new Date() })
  await decide(state)
  await follow(state)
  const surveying = { ids: [id], scope: null, archived: true, sampleSize: 1 }
  expect(await surveyMessages(service.sql, surveying)).toMatchObject([{ held_by_route: isHeld, sample: [id] }])
  expect(await restoreArchived(service.sql, [id])).toEqual([id])
  expect(await read(id)).toMatchObject({ status: 'DEAD', held_by_route: isHeld })
})

test('where order is kept per key, one that a stranger sent holds up no other of its key', async () => {
  const group = { original_topic: 'orders', group_id: randomUUID() }
  const at = (offset: number) => ({ order_key: 7, original_partition: 0, original_offset: offset, ...group })
  const stranger = await insert({ ...at(1), held_by_route: true, next_retry_at: null })
  const id = await insert(at(2))
  expect(await startProbes(service.sql, { ...group, ordered: true, count: 9 })).toBe(1)
  expect((await claim({ ordered: true })).messages).toMatchObject([{ id }])
  await database.sql`update dlq.dlq_messages set retry_requested = true, next_retry_at = now() where id = ${stranger}`
  expect((await claim({ ordered: true })).messages).toMatchObject([{ id: stranger }])
})

test('one that came without an order key, because it was held, has one once its route is open', async () => {
  const record_key = Buffer.from('k')
  const id = await insert({ record_key, held_by_route: true, next_retry_at: null })
  await assignOrderKeys(service.sql, { topic: 'orders', afterId: smallestId, limit: 9 })
  expect(await read(id)).toMatchObject({ order_key: null })
  await decide('approved')
  await follow('approved')
  expect(await read(id)).toMatchObject({ order_key: String(orderKey(record_key)) })
})
