// The messages that a run takes, and those that it leaves alone, with the reasons.
import { randomUUID } from 'node:crypto'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { untilWaitingForLock } from 'dlq-testing/postgres/lock-waits.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, expect, test } from 'vitest'
import {
  dropUnsendable,
  giveBack,
  handOverPulled,
  lockCandidates,
  markDead,
  takeIntoRun,
  writeRevived,
} from './run-messages.ts'
import { freezeNow } from './runs.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const runId = randomUUID()
const otherRun = randomUUID()

beforeEach(() => emptyTables(database.sql, 'dlq.dlq_messages', 'dlq.dlq_policies'))

const insert = (columns = {}) => insertMessageRow(database.sql, { original_topic: 'orders', ...columns })
const pull = (pattern: string, delivery = 'pull') =>
  database.sql`insert into dlq.dlq_policies (pattern, delivery) values (${pattern}, ${delivery})`

function take(ids: string[], rest = {}) {
  return takeIntoRun(service.sql, {
    runId,
    ids,
    cutoff: 'infinity',
    scope: null,
    redirects: false,
    isForced: false,
    ...rest,
  })
}

test('takes messages that were stored while the clock of the database was ahead', async () => {
  const ahead = await insert({ created_at: new Date(Date.now() + 7_200_000) })
  expect(await take([ahead], { cutoff: await freezeNow(service.sql) })).toMatchObject({ taken: 1 })
  // Nobody's clock is ahead by centuries: somebody wrote this time.
  await insert({ created_at: new Date('9999-01-01') })
  const late = await insert({ created_at: new Date(Date.now() + 7_200_001) })
  expect(await take([late], { cutoff: await freezeNow(service.sql) })).toMatchObject({ taken: 1 })
  expect(Date.parse(await freezeNow(service.sql))).toBeLessThan(Date.now() + 86_400_000)
})

test('takes messages that can be retried, and describes the rest', async () => {
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
  expect(taken).toMatchObject({ taken: 2, handed_over: 0 })
  expect(taken.left.toSorted((a, b) => left.indexOf(a.id) - left.indexOf(b.id))).toEqual([
    {
      id: left[0],
      status: 'DEAD',
      retry_count: 0,
      max_retries: 3,
      run_id: null,
      held_by_route: false,
      origin_state: null,
      is_erased: false,
    },
    {
      id: left[1],
      status: 'PENDING',
      retry_count: 3,
      max_retries: 3,
      run_id: null,
      held_by_route: false,
      origin_state: null,
      is_erased: false,
    },
    {
      id: left[2],
      status: 'PENDING',
      retry_count: 0,
      max_retries: 3,
      run_id: otherRun,
      held_by_route: false,
      origin_state: null,
      is_erased: false,
    },
    {
      id: left[3],
      status: 'RETRYING',
      retry_count: 1,
      max_retries: 3,
      run_id: null,
      held_by_route: false,
      origin_state: null,
      is_erased: false,
    },
  ])
  const held = await database.sql`select id from dlq.dlq_messages where run_id = ${runId} order by id`
  expect(held.map(({ id }) => id)).toEqual(free.toSorted())
  expect(await take([await insert()], { cutoff: '2020-01-01' })).toEqual({ taken: 0, handed_over: 0, left: [] })
})

test('leaves what its route holds, and says so', async () => {
  const held = await insert({ dlq_topic: 'evil.dlq.v1', held_by_route: true })
  expect(await take([held])).toMatchObject({ taken: 0, left: [{ id: held, held_by_route: true }] })
  // A forced run leaves it alone as well: without its value it would be a deletion.
  const lost = await insert({ origin_state: 18 })
  expect(await take([lost])).toMatchObject({ taken: 0, left: [{ id: lost, origin_state: 18 }] })
  expect(await readMessageRow(database.sql, held)).toMatchObject({ run_id: null })
})

test('takes by force nothing that another run holds, or that is being sent or was', async () => {
  const others = [
    await insert({ run_id: otherRun }),
    await insert({ run_id: otherRun, status: 'DEAD' }),
    await insert({ status: 'RETRYING', retry_count: 1 }),
    await insert({ status: 'RESOLVED' }),
  ]
  const dead = await insert({ status: 'DEAD' })
  await database.sql`
    insert into dlq.dlq_runs (id, kind, actor, selection, until_id, matched, matched_relation)
    values (${runId}, 'retry', 'ann', '{}', ${runId}, 5, 'eq')`
  const { taken, left } = await take([...others, dead], { isForced: true })
  expect([taken, left.map(({ id }) => id).toSorted()]).toEqual([1, others.toSorted()])
  const held = await database.sql`select id from dlq.dlq_messages where run_id = ${runId}`
  expect(held.map(({ id }) => id)).toEqual([dead])
})

test('makes messages due that applications pull by the more exact policy, and a redirect takes these too', async () => {
  await pull('orders_*')
  await pull('orders_eu', 'republish')
  const topics = ['orders_us', 'orders_eu', 'ordersXus']
  const ids = await Promise.all(topics.map((original_topic) => insert({ original_topic })))
  expect(await take(ids)).toEqual({ taken: 2, handed_over: 1, left: [] })
  expect(await readMessageRow(database.sql, ids[0]!)).toMatchObject({
    ...{ run_id: null, retry_requested: true, next_retry_at: expect.any(Date) },
  })
  expect(await take([ids[0]!], { redirects: true, isForced: false })).toEqual({ taken: 1, handed_over: 0, left: [] })
})

test('a message that somebody is changing is examined after the change', async () => {
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
  expect(await taking).toMatchObject({ taken: 1, handed_over: 0, left: [{ id: killed, status: 'DEAD' }] })
})

test('messages are handed over if their delivery became "pull" after they were taken, and no others', async () => {
  const [moved, stays] = [await insert(), await insert({ original_topic: 'payments' })]
  await take([moved, stays])
  expect(await handOverPulled(service.sql, { runId, limit: 10 })).toBe(0)
  await pull('orders')
  expect(await handOverPulled(service.sql, { runId, limit: 10 })).toBe(1)
  expect([...(await database.sql`select id from dlq.claim_messages('orders')`)]).toEqual([{ id: moved }])
  expect(await readMessageRow(database.sql, stays)).toMatchObject({ run_id: runId, next_retry_at: null })
})

test('what the run cannot send itself is not handed over either, also where it is held only now', async () => {
  const ids = [await insert(), await insert(), await insert()]
  await take(ids)
  await pull('orders')
  await database.sql`update dlq.dlq_messages set origin_state = 18 where id = ${ids[0]!}`
  const handing = await database.sql.begin(async (sql) => {
    await sql`update dlq.dlq_messages set held_by_route = true where id = ${ids[1]!}`
    const handing = handOverPulled(service.sql, { runId, limit: 10 })
    await untilWaitingForLock(database)
    return { handing }
  })
  expect(await handing.handing).toBe(1)
  for (const id of ids.slice(0, 2))
    expect(await readMessageRow(database.sql, id)).toMatchObject({ run_id: runId, next_retry_at: null })
})

test('what is being sent is not given back, also where that has begun only now', async () => {
  const id = await insert()
  await take([id])
  const { giving } = await database.sql.begin(async (sql) => {
    await sql`update dlq.dlq_messages set status = 'RETRYING', lease_slot = 1, lease_batch = 1 where id = ${id}`
    const giving = giveBack(service.sql, { runId, limit: 10 })
    await untilWaitingForLock(database)
    return { giving }
  })
  expect(await giving).toBe(0)
  expect(await readMessageRow(database.sql, id)).toMatchObject({ status: 'RETRYING', run_id: runId })
})

test.each([
  ['giving back', giveBack],
  ['handing over', handOverPulled],
])('%s locks messages in the order of their ids, as everybody does', async (_, leave) => {
  // In the order of the topics, which is that of the run's index, it is the other way round.
  const ids = [
    await insert({ id: '00000000-0000-7000-8000-000000000001', original_topic: 'b' }),
    await insert({ id: '00000000-0000-7000-8000-000000000002', original_topic: 'a' }),
  ]
  await take(ids)
  await pull('*')
  const chosen = { ids, cutoff: 'infinity', scope: null }
  const waiting = await database.sql.begin(async (sql) => {
    await sql`select from dlq.dlq_messages where id = ${ids[1]!} for update`
    const left = leave(service.sql, { runId, limit: 10 })
    await untilWaitingForLock(database)
    const locked = lockCandidates(service.sql, chosen)
    await untilWaitingForLock(database, 2)
    return { both: Promise.all([left, locked]) }
  })
  const [left, locked] = await waiting.both
  expect(left).toBe(2)
  expect(locked).toHaveLength(2)
})

test('a run lets go what it can no longer send, and keeps what waits or is being sent', async () => {
  const ofRun = { run_id: runId, max_retries: 3 }
  const kept = [await insert(ofRun), await insert({ ...ofRun, status: 'RETRYING', retry_count: 3 })]
  const lost = [
    { status: 'DEAD' },
    { status: 'RESOLVED' },
    { retry_count: 3 },
    { held_by_route: true },
    { origin_state: 18 },
  ]
  for (const row of lost) await insert({ ...ofRun, ...row })
  const others = await insert({ run_id: otherRun, status: 'DEAD' })
  expect(await dropUnsendable(service.sql, { runId, limit: 10 })).toBe(lost.length)
  const held = await database.sql`select id from dlq.dlq_messages where run_id is not null`
  expect(held.map(({ id }) => id).toSorted()).toEqual([...kept, others].toSorted())
})

test('what is revived has a time, unless its route or its original holds it', async () => {
  const ids = []
  for (const row of [{}, { held_by_route: true }, { origin_state: 18 }])
    ids.push(await insert({ status: 'DEAD', ...row }))
  const revived = { status: 'PENDING' as const, max_retries: 6, next_retry_at: new Date() }
  expect(
    await writeRevived(
      service.sql,
      ids.map((id) => ({ id, ...revived })),
    ),
  ).toBe(3)
  const rows = await Promise.all(ids.map((id) => readMessageRow(database.sql, id)))
  expect(rows.map(({ status, next_retry_at }) => [status, next_retry_at !== null])).toEqual([
    ...[
      ['PENDING', true],
      ['PENDING', false],
      ['PENDING', false],
    ],
  ])
})

test('what is marked DEAD has no time, and nobody asks for it any more', async () => {
  const id = await insert({ next_retry_at: new Date(), retry_requested: true })
  expect(await markDead(service.sql, [id])).toBe(1)
  expect(await readMessageRow(database.sql, id)).toMatchObject({
    ...{ status: 'DEAD', next_retry_at: null, retry_requested: false },
  })
})
