// Claiming, settling and giving back messages that a run, a route or the wait for their original holds, and messages
// whose state somebody changes by SQL meanwhile.

import { randomUUID } from 'node:crypto'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { untilWaitingForLock } from 'dlq-testing/postgres/lock-waits.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, type MessageColumns, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, expect, test } from 'vitest'
import { settleAttempts } from './attempts.ts'
import { claimBatch, leaseParts, releaseBatch, settleMessages, type TopicShare } from './batches.ts'
import { takeSlot } from './slots.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
/** The number of a state in which a message waits for its original. */
const waitsForOriginal = 18

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_messages', 'dlq.dlq_slots', 'dlq.dlq_attempts', 'dlq.dlq_runs')
  await emptyTables(database.sql, 'dlq.dlq_topic_pauses')
})

const insert = (columns: MessageColumns = {}) =>
  insertMessageRow(database.sql, { original_topic: 'orders', ...columns })
const due = { next_retry_at: new Date(Date.now() - 60_000) }
const read = (id: string) => readMessageRow(database.sql, id)

async function insertRun(status = 'running', columns: { target_topic?: string; scope?: string[] } = {}) {
  const id = randomUUID()
  const run = { id, kind: 'retry', actor: 'maria', selection: '{}', until_id: id, matched: 0, matched_relation: 'eq' }
  await database.sql`insert into dlq.dlq_runs ${database.sql({ ...run, status, ...columns })}`
  return id
}

const take = () => takeSlot(service.sql, { owner: 'test', leaseMs: 60_000 })

async function claim(rest: Partial<TopicShare> = {}, slotOf: ReturnType<typeof take> = take()) {
  const slot = await slotOf
  const shares = [{ topic: 'orders', quota: 100, maxInFlight: null, ordered: false, pausedGroups: [], ...rest }]
  const claimed = await claimBatch(service.sql, { ...slot, token: randomUUID(), shares, maxBytes: 1e9 })
  return { ...slot, batch: claimed?.batch ?? 0n, messages: claimed?.messages ?? [] }
}

const claimIds = async (rest: Partial<TopicShare> = {}) => (await claim(rest)).messages.map(({ id }) => id).toSorted()

test.each(['running', 'paused', 'cancelled'])('a run that is %s gives messages only while it runs', async (status) => {
  const run = await insertRun(status)
  const id = await insert({ run_id: run })
  expect(await claimIds({ run })).toEqual(status === 'running' ? [id] : [])
})

test('a run’s messages that their route holds, that wait for their original, or whose budget is spent, are not claimed', async () => {
  const run = await insertRun()
  const free = await insert({ run_id: run, origin_state: waitsForOriginal - 10 })
  await insert({ run_id: run, held_by_route: true })
  await insert({ run_id: run, origin_state: waitsForOriginal })
  await insert({ run_id: run, retry_count: 3 })
  expect(await claimIds({ run })).toEqual([free])
})

test('what a run holds is not due by itself, also where its time has come', async () => {
  await insert({ ...due, run_id: await insertRun('paused') })
  expect(await claimIds()).toEqual([])
})

test.each(['first', 'last'])('a run sends nothing of a paused DLQ topic, also where that is its %s', async (place) => {
  const run = await insertRun()
  const ids = [await insert({ run_id: run }), await insert({ run_id: run })].toSorted()
  const [paused, free] = place === 'first' ? ids : ids.toReversed()
  await database.sql`update dlq.dlq_messages set dlq_topic = 'paused.dlq' where id = ${paused!}`
  await database.sql`
    insert into dlq.dlq_topic_pauses (topic, what, paused_by, reason) values ('paused.dlq', 'retries', 'maria', 'down')`
  expect(await claimIds({ run })).toEqual([free])
})

test.each([
  ['', {}],
  [' of a topic in the order of keys', { ordered: true }],
])('a claim%s that has waited takes nothing that another has taken meanwhile', async (_, rest) => {
  const id = await insert({ ...due, order_key: 7, original_partition: 0, original_offset: 1 })
  const slot = await take()
  const { late } = await database.sql.begin(async (sql) => {
    await sql`select from dlq.dlq_slots where slot = ${slot.slot} for update`
    const late = claim(rest, Promise.resolve(slot))
    await untilWaitingForLock(database)
    expect(await claimIds(rest)).toEqual([id])
    return { late }
  })
  expect((await late).messages).toEqual([])
})

test('of a paused error group only what somebody asked for is claimed', async () => {
  const [group, other] = [randomUUID(), randomUUID()]
  await insert({ ...due, group_id: group })
  const free = [
    await insert({ ...due, group_id: group, retry_requested: true }),
    await insert({ ...due, group_id: other }),
    await insert({ ...due, group_id: null }),
  ]
  expect(await claimIds({ pausedGroups: [group] })).toEqual(free.toSorted())
})

test('a due message that waits for its original is claimed only where somebody asked for it', async () => {
  await insert({ ...due, origin_state: waitsForOriginal })
  const asked = await insert({ ...due, origin_state: waitsForOriginal, retry_requested: true })
  expect(await claimIds()).toEqual([asked])
})

test('a topic that has more in flight than its bound gives nothing, and the claim does not fail', async () => {
  for (let n = 0; n < 3; n += 1) await insert(due)
  expect(await claimIds()).toHaveLength(3)
  await insert(due)
  expect(await claimIds({ maxInFlight: 2 })).toEqual([])
})

test('what other topics have in flight does not count for the bound of a topic', async () => {
  for (const original_topic of ['payments', 'payments', 'refunds']) await insert({ ...due, original_topic })
  for (const topic of ['payments', 'refunds']) await claim({ topic })
  const id = await insert(due)
  expect(await claimIds({ maxInFlight: 1 })).toEqual([id])
})

test('a message goes to the topic of its run, within the scope of that, and else to its own', async () => {
  const scope = ['orders*']
  const own = { target_topic: 'payments' }
  const redirect = await insertRun('running', { target_topic: 'orders-2', scope })
  const retry = await insertRun('running', { scope })
  await insert({ ...own, run_id: redirect })
  await insert({ ...own, run_id: retry })
  await insert({ ...own, ...due })
  const { messages: redirected } = await claim({ run: redirect })
  expect(redirected).toMatchObject([{ target_topic: 'orders-2', target_scope: scope }])
  for (const share of [{ run: retry }, {}])
    expect((await claim(share)).messages).toMatchObject([{ target_topic: 'payments', target_scope: null }])
})

test('a claimed message says whether the attempt before this one was refused', async () => {
  const attempted = async (outcome: 'failed' | 'published') => {
    const id = await insert({ ...due, retry_count: 1 })
    const attempt = { message_id: id, attempt_id: randomUUID(), target_topic: 'orders', error: null }
    const nowhere = { target_partition: null, target_offset: null }
    // What is stored of the attempt that begins now was asked for, or is of one that was given back.
    const others = [
      { ...attempt, ...nowhere, number: 2, outcome: outcome === 'failed' ? 'unknown' : 'failed' } as const,
    ]
    await settleAttempts(service.sql, { attempts: [{ ...attempt, ...nowhere, number: 1, outcome }, ...others] })
    return id
  }
  const [refused, published, first] = [await attempted('failed'), await attempted('published'), await insert(due)]
  const { messages } = await claim()
  expect(new Map(messages.map(({ id, was_refused }) => [id, was_refused]))).toEqual(
    new Map([
      [refused, true],
      [published, false],
      [first, false],
    ]),
  )
})

test.each<[string, (held: { id: string; slot: number; epoch: bigint; batch: bigint }) => Promise<unknown>]>([
  [
    'settled',
    ({ id, ...batch }) =>
      settleMessages(service.sql, {
        ...batch,
        messages: [{ id, status: 'RESOLVED', next_retry_at: null, run_id: null }],
      }),
  ],
  ['given back', ({ id: _, ...batch }) => releaseBatch(service.sql, batch)],
  [
    'leased again',
    ({ id, ...batch }) =>
      leaseParts(service.sql, { ...batch, parts: [{ batch: batch.batch + 1n, token: randomUUID(), ids: [id] }] }),
  ],
])('nothing is %s by a holder whose slot is being taken over', async (_, act) => {
  const id = await insert(due)
  const { messages: __, ...batch } = await claim()
  const before = await read(id)
  await database.sql`update dlq.dlq_slots set owner_until = now() - interval '1 s'`
  const taking = await service.sql.begin(async (sql) => {
    await takeSlot(sql, { owner: 'successor', leaseMs: 60_000 })
    const late = act({ ...batch, id })
    await untilWaitingForLock(database)
    return { late }
  })
  await taking.late
  expect(await read(id)).toEqual(before)
})

test('a message that is settled as failed has a time only where it does not wait for its original, and nobody’s request', async () => {
  const [free, waiting] = [
    await insert({ ...due, retry_requested: true }),
    await insert({ ...due, retry_requested: true, origin_state: waitsForOriginal }),
  ]
  const batch = await claim()
  const next_retry_at = new Date(Date.now() + 600_000)
  const messages = [free, waiting].map((id) => ({ id, status: 'PENDING' as const, next_retry_at, run_id: null }))
  expect(await settleMessages(service.sql, { ...batch, messages })).toBe(2)
  expect(await read(free)).toMatchObject({ status: 'PENDING', next_retry_at, retry_requested: false })
  expect(await read(waiting)).toMatchObject({ status: 'PENDING', next_retry_at: null, retry_requested: false })
})

test('what a run holds gets no time when it is given back, and any other message does', async () => {
  const run = await insertRun()
  const held = await insert({ run_id: run })
  const batch = await claim({ run })
  expect(await releaseBatch(service.sql, { ...batch, afterMs: 60_000 })).toEqual([held])
  expect(await read(held)).toMatchObject({ status: 'PENDING', run_id: run, next_retry_at: null })

  const id = await insert(due)
  expect(await releaseBatch(service.sql, { ...(await claim()), afterMs: 60_000 })).toEqual([id])
  expect((await read(id)).next_retry_at.getTime()).toBeGreaterThan(Date.now())
})

test.each(['RESOLVED', 'DEAD', 'PENDING'])(
  'a claimed message that somebody sets %s by SQL stays so, and counts for no run',
  async (status) => {
    const run = await insertRun()
    const id = await insert({ run_id: run })
    const batch = await claim({ run })
    await database.sql`update dlq.dlq_messages set status = ${status} where id = ${id}`
    const before = await read(id)
    const part = { batch: batch.batch + 1n, token: randomUUID(), ids: [id] }
    const messages = [
      { id, status: status === 'DEAD' ? 'RESOLVED' : 'DEAD', next_retry_at: null, run_id: run } as const,
    ]

    expect(await leaseParts(service.sql, { ...batch, parts: [part] })).toBe(true)
    expect(await settleMessages(service.sql, { ...batch, messages })).toBe(0)
    expect(await releaseBatch(service.sql, batch)).toEqual([])
    expect(await read(id)).toEqual(before)
    expect(await database.sql`select from dlq.dlq_run_deltas`).toHaveLength(0)
  },
)
