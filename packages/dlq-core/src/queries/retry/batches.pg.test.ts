// Claiming for a slot, splitting and settling.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { untilWaitingForLock } from 'dlq-testing/postgres/lock-waits.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, type MessageColumns, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  claimBatch,
  leaseParts,
  listOutstanding,
  listOutstandingMessages,
  lockAlongIndexes,
  lockTopicsInFlight,
  releaseBatch,
  settleMessages,
  type TopicShare,
} from './batches.ts'
import { nextBatchNumbers, type Slot, takeSlot } from './slots.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_messages', 'dlq.dlq_slots')
})

const ago = (seconds: number) => new Date(Date.now() - seconds * 1000)
const insertDue = (columns: MessageColumns = {}) =>
  insertMessageRow(database.sql, { original_topic: 'orders', next_retry_at: ago(60), ...columns })
const read = (id: string) => readMessageRow(database.sql, id)
const take = (leaseMs = 60_000) => takeSlot(service.sql, { owner: 'test', leaseMs })

async function insertMany(count: number, topic: string) {
  await database.sql`
    insert into dlq.dlq_messages (original_topic, error_message, next_retry_at)
    select ${topic}, 'processing failed', now() - interval '1 hour' from generate_series(1, ${count})`
}

const share = (topic: string, quota = 100, rest: Partial<TopicShare> = {}): TopicShare => ({
  ...{ topic, quota, maxInFlight: null, ordered: false, pausedGroups: [] },
  ...rest,
})

type Claiming = { token?: string; maxBytes?: number }

async function claim(slot: Slot, shares: TopicShare[], { token = randomUUID(), maxBytes = 1e9 }: Claiming = {}) {
  const claimed = await claimBatch(service.sql, { ...slot, token, shares, maxBytes })
  return { ...slot, token, batch: claimed?.batch ?? 0n, messages: claimed?.messages ?? [] }
}

const idsOf = (messages: readonly { id: string }[]) => messages.map(({ id }) => id).toSorted()
const resolved = (ids: readonly string[]) =>
  ids.map((id) => ({ id, status: 'RESOLVED' as const, next_retry_at: null, run_id: null }))

describe('a claim', () => {
  test('reads keys and values byte for byte, whatever they are and however long', async () => {
    const bytes = Buffer.from(Array.from({ length: 5000 }, (_, at) => at % 256))
    const pairs = [
      { record_key: bytes, record_value: Buffer.from('a'.repeat(1000)) },
      { record_key: Buffer.alloc(0), record_value: bytes },
      { record_key: null, record_value: Buffer.alloc(0) },
    ]
    const ids = await Promise.all(pairs.map((pair) => insertDue(pair)))
    const { messages } = await claim(await take(), [share('orders')])
    const byId = new Map(messages.map(({ id, record_key, record_value }) => [id, { record_key, record_value }]))
    expect(ids.map((id) => byId.get(id))).toEqual(pairs)
  })

  test('takes due messages, counts the attempt and leases them to the slot under its next number', async () => {
    const id = await insertDue({
      ...{ dlq_topic: 'orders.dlq.v1', original_partition: 2, original_topic_source: 'header' },
      ...{ record_key: Buffer.from([0, 255]), record_value: Buffer.from('{}') },
    })
    await database.sql`update dlq.dlq_messages set record_headers = ('[["a","b"]]'::text)::json, payload = ('1.10'::text)::jsonb`
    const slot = await take()
    const { token, batch, messages } = await claim(slot, [share('orders')])

    expect(batch).toBe(1n)
    expect(messages).toMatchObject([
      {
        ...{ id, retry_count: 1, max_retries: 3, original_topic: 'orders', original_partition: 2 },
        ...{ original_topic_source: 'header', record_key: Buffer.from([0, 255]), record_value: Buffer.from('{}') },
        // Only messages without a record have their payload read.
        ...{ record_headers: '[["a","b"]]', payload: null, dlq_topic: 'orders.dlq.v1' },
      },
    ])
    const row = await read(id)
    expect(row).toMatchObject({
      status: 'RETRYING',
      retry_count: 1,
      lease_token: token,
      lease_slot: 1,
      lease_until: null,
    })
    expect(row.lease_batch).toBe('1')
    expect(Date.now() - row.last_retry_at.getTime()).toBeLessThan(60_000)
  })

  test('leaves messages that are not due, not PENDING, without budget, or of a topic without a share', async () => {
    await insertDue({ next_retry_at: ago(-60) })
    await insertDue({ next_retry_at: null })
    for (const status of ['RETRYING', 'RESOLVED', 'DEAD']) await insertDue({ status })
    await insertDue({ retry_count: 3 })
    await insertDue({ original_topic: 'payments' })
    const slot = await take()

    expect((await claim(slot, [share('orders')])).messages).toEqual([])
    // An empty claim uses no number.
    expect(await nextBatchNumbers(service.sql, slot)).toBe(1n)
  })

  test('takes the longest due of a topic first, up to its quota', async () => {
    const ids: string[] = []
    for (const seconds of [10, 50, 30, 20, 40]) ids.push(await insertDue({ next_retry_at: ago(seconds) }))
    await insertMany(10, 'payments')
    const slot = await take()
    const first = await claim(slot, [share('orders', 2)])
    const second = await claim(slot, [share('orders', 2), share('payments', 7)])

    expect(idsOf(first.messages)).toEqual([ids[1], ids[4]].toSorted())
    expect(idsOf(second.messages.filter(({ original_topic }) => original_topic === 'orders'))).toEqual(
      [ids[2], ids[3]].toSorted(),
    )
    expect(second.messages).toHaveLength(9)
    expect([first.batch, second.batch]).toEqual([1n, 2n])
  })

  test('gives messages in the order of their ids, and of one without its value only the size', async () => {
    const ids = (
      await Promise.all(Array.from({ length: 4 }, () => insertDue({ record_key: Buffer.from('k') })))
    ).toSorted()
    await database.sql`update dlq.dlq_messages set unstored_value_bytes = 12 where id = ${ids[1]!}`
    const { messages } = await claim(await take(), [share('orders')])
    expect(messages.map(({ id }) => id)).toEqual(ids)
    expect(messages[0]).toMatchObject({ record_key: Buffer.from('k'), unsendable_bytes: null })
    expect(messages[1]).toMatchObject({ record_key: null, unsendable_bytes: 12 })
  })

  test('reads no more bytes than it may, but always one message', async () => {
    for (let n = 0; n < 5; n += 1) await insertDue({ record_value: Buffer.alloc(1000), next_retry_at: ago(60 - n) })
    const slot = await take()
    expect((await claim(slot, [share('orders')], { maxBytes: 2500 })).messages).toHaveLength(2)
    expect((await claim(slot, [share('orders')], { maxBytes: 10 })).messages).toHaveLength(1)
  })

  test('passes over messages that another claim holds, without waiting for it', async () => {
    await insertMany(40, 'orders')
    const [one, other] = [await take(), await take()]
    await service.sql.begin(async (sql) => {
      const first = await claimBatch(sql, { ...one, token: randomUUID(), shares: [share('orders', 15)], maxBytes: 1e9 })
      // The first claim is not committed yet.
      const second = await claim(other, [share('orders')])
      const ids = new Set([...idsOf(first!.messages), ...idsOf(second.messages)])
      expect([first!.messages.length, second.messages.length, ids.size]).toEqual([15, 25, 40])
    })
  })

  test('by many slots at once gives each message to one', async () => {
    for (let n = 0; n < 5; n += 1) await insertMany(100, `topic-${n}`)
    const slots = await Promise.all(Array.from({ length: 8 }, () => take()))
    const shares = Array.from({ length: 5 }, (_, n) => share(`topic-${n}`, 14))
    const claims = await Promise.all(slots.map((slot) => claim(slot, shares)))
    const ids = claims.flatMap(({ messages }) => idsOf(messages))

    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.length).toBeGreaterThanOrEqual(70)
    const [row] =
      await database.sql`select count(*)::int as retrying, max(retry_count) as most from dlq.dlq_messages where status = 'RETRYING'`
    expect(row).toEqual({ retrying: ids.length, most: 1 })
  })

  test('of a holder that lost the slot finds no message, also when it arrives late', async () => {
    await insertMany(10, 'orders')
    const zombie = await take(-1)
    // It waits for the take-over, which has locked the slot, and must then see the new epoch.
    const owner = await service.sql.begin(async (sql) => {
      const owner = await takeSlot(sql, { owner: 'successor', leaseMs: 60_000 })
      const late = claim(zombie, [share('orders')])
      await untilWaitingForLock(database)
      return { owner, late }
    })
    expect((await owner.late).messages).toEqual([])
    expect((await claim(owner.owner, [share('orders')])).messages).toHaveLength(10)
  })
})

describe('a topic with a bound on messages in flight', () => {
  test('never has more, however many slots claim at once', async () => {
    await insertMany(100, 'orders')
    const slots = await Promise.all(Array.from({ length: 6 }, () => take()))
    const claims = await Promise.all(
      slots.map((slot) =>
        service.sql.begin(async (sql) => {
          while (!(await lockTopicsInFlight(sql, ['orders'])).has('orders')) await sleep(5)
          const shares = [share('orders', 4, { maxInFlight: 10 })]
          return claimBatch(sql, { ...slot, token: randomUUID(), shares, maxBytes: 1e9 })
        }),
      ),
    )
    expect(claims.reduce((sum, claim) => sum + (claim?.messages.length ?? 0), 0)).toBe(10)
  })

  test('is locked by one claim at a time, and the other topics are not waited for', async () => {
    await service.sql.begin(async (first) => {
      expect(await lockTopicsInFlight(first, ['orders'])).toEqual(new Set(['orders']))
      const second = await service.sql.begin((sql) => lockTopicsInFlight(sql, ['payments', 'orders']))
      expect(second).toEqual(new Set(['payments']))
    })
    expect(await service.sql.begin((sql) => lockTopicsInFlight(sql, ['orders']))).toEqual(new Set(['orders']))
  })
})

describe('a topic with an order per key', () => {
  const insertKeyed = (key: number, offset: number, columns: MessageColumns = {}) =>
    insertDue({ order_key: key, original_partition: 0, original_offset: offset, ...columns })

  test('gives only the earliest unresolved message of each key, in the order of the original offsets', async () => {
    // They are due in another order than that of their offsets.
    const second = await insertKeyed(7, 11, { next_retry_at: ago(90) })
    const first = await insertKeyed(7, 10, { next_retry_at: ago(30) })
    const other = await insertKeyed(8, 12)
    const free = await insertDue({ order_key: null })
    const slot = await take()
    const shares = [share('orders', 100, { ordered: true })]

    const one = await claim(slot, shares)
    expect(idsOf(one.messages)).toEqual([first, other, free].toSorted())
    expect((await claim(slot, shares)).messages).toEqual([])
    await settleMessages(service.sql, { ...one, messages: resolved([first]) })
    expect(idsOf((await claim(slot, shares)).messages)).toEqual([second])
  })

  test('makes a key wait while its earliest is not due, manual, or being retried, and not for one that is DEAD', async () => {
    await insertKeyed(1, 10, { next_retry_at: ago(-600) })
    await insertKeyed(1, 11)
    await insertKeyed(2, 10, { next_retry_at: null })
    await insertKeyed(2, 11)
    await insertKeyed(3, 10, { status: 'RETRYING' })
    await insertKeyed(3, 11)
    await insertKeyed(4, 10, { status: 'DEAD' })
    const free = await insertKeyed(4, 11)
    const elsewhere = await insertKeyed(1, 11, { original_topic: 'payments' })
    const slot = await take()
    const shares = [share('orders', 100, { ordered: true }), share('payments', 100, { ordered: true })]
    expect(idsOf((await claim(slot, shares)).messages)).toEqual([free, elsewhere].toSorted())
  })

  test('gives what need not wait from behind thousands that wait, in the order in which they are due', async () => {
    await insertKeyed(7, 1, { status: 'RETRYING' })
    await database.sql`
      insert into dlq.dlq_messages (original_topic, error_message, order_key, original_partition, original_offset, next_retry_at)
      select 'orders', 'failed', 7, 0, n, now() - interval '1 hour' + n * interval '1 ms' from generate_series(2, 3000) n`
    await database.sql`insert into dlq.dlq_topic_pauses (topic, what, paused_by, reason) values ('orders.paused', 'retries', 'maria', 'a test')`
    const second = await insertKeyed(8, 3002, { next_retry_at: ago(90) })
    const first = await insertKeyed(8, 3001, { next_retry_at: ago(60) })
    const free = [await insertDue({ order_key: null, next_retry_at: ago(80) }), await insertDue({ order_key: null })]
    await insertKeyed(9, 3003, { dlq_topic: 'orders.paused' })
    await insertKeyed(9, 3004)
    const slot = await take()
    const of = (quota: number) => [share('orders', quota, { ordered: true })]
    try {
      expect(idsOf((await claim(slot, of(2))).messages)).toEqual([free[0], first].toSorted())
      expect(idsOf((await claim(slot, of(100))).messages)).toEqual([free[1]])
    } finally {
      await database.sql`delete from dlq.dlq_topic_pauses`
    }
    expect(await read(second)).toMatchObject({ status: 'PENDING' })
  })

  test('gives a topic its turn to be read further, beside others where many wait as well', async () => {
    const topics = Array.from({ length: 5 }, (_, n) => `orders-${n}`)
    await database.sql`
      insert into dlq.dlq_messages (original_topic, error_message, status, order_key, original_partition, original_offset, next_retry_at)
      select 'orders-' || n % 5, 'failed', case when n < 5 then 'RETRYING' else 'PENDING' end, 7, 0, n, now() - interval '1 hour'
      from generate_series(0, 7000) n`
    const behind = await Promise.all(
      topics.map((original_topic) => insertDue({ original_topic, order_key: null, next_retry_at: ago(1) })),
    )
    const slot = await take()
    const shares = topics.map((topic) => share(topic, 20, { ordered: true }))
    const claimed = new Set<string>()
    // One of them at each claim, by chance.
    for (let claims = 0; claimed.size < 5 && claims < 500; claims += 1) {
      const { messages } = await claim(slot, shares)
      expect(messages.length).toBeLessThanOrEqual(1)
      for (const { id } of messages) claimed.add(id)
    }
    expect([...claimed].toSorted()).toEqual(behind.toSorted())
  })
})

describe('settling', () => {
  test('writes the outcomes of the batch’s messages, and only once', async () => {
    const [first, second, third] = [await insertDue(), await insertDue(), await insertDue()]
    const batch = await claim(await take(), [share('orders')])
    const next_retry_at = ago(-600)
    const messages = [
      { id: first, status: 'RESOLVED' as const, next_retry_at: null, run_id: null },
      { id: second, status: 'PENDING' as const, next_retry_at, run_id: null },
      { id: third, status: 'DEAD' as const, next_retry_at: null, run_id: null },
    ]
    expect(await settleMessages(service.sql, { ...batch, messages })).toBe(3)
    const free = { lease_token: null, lease_slot: null, lease_batch: null }
    expect(await read(first)).toMatchObject({ status: 'RESOLVED', retry_count: 1, next_retry_at: null, ...free })
    expect(await read(second)).toMatchObject({ status: 'PENDING', retry_count: 1, next_retry_at, ...free })
    expect(await read(third)).toMatchObject({ status: 'DEAD', retry_count: 1, ...free })
    expect(await settleMessages(service.sql, { ...batch, messages })).toBe(0)
    expect(await releaseBatch(service.sql, batch)).toEqual([])
  })

  test('locks messages in the order of their ids, wherever their rows are', async () => {
    const ids = [await insertDue(), await insertDue(), await insertDue()]
    const batch = await claim(await take(), [share('orders')])
    const [first, second, third] = idsOf(batch.messages)
    // Moves the first row behind the others.
    await database.sql`update dlq.dlq_messages set order_key = 1 where id = ${first!}`

    const { settled, free } = await database.sql.begin(async (other) => {
      await other`select from dlq.dlq_messages where id = ${second!} for update`
      const settled = service.sql.begin(async (sql) => {
        await lockAlongIndexes(sql)
        return settleMessages(sql, { ...batch, messages: resolved(ids.toReversed()) })
      })
      await untilWaitingForLock(database)
      const free = await database.sql`
        select id from dlq.dlq_messages where id = any(${database.sql.array(ids)}::uuid[]) for update skip locked`
      return { settled, free }
    })
    expect(await settled).toBe(3)
    expect(free.map(({ id }) => id)).toEqual([third])
  })

  test('gives released messages back as they were, due and with the attempt', async () => {
    const id = await insertDue({ retry_count: 1 })
    const before = await read(id)
    const batch = await claim(await take(), [share('orders')])

    expect(await releaseBatch(service.sql, { ...batch, ids: [randomUUID()] })).toEqual([])
    expect(await releaseBatch(service.sql, { ...batch, ids: [id] })).toEqual([id])
    const { updated_at: _, last_retry_at: __, ...row } = await read(id)
    expect(before).toMatchObject(row)
  })

  test('by a holder that lost the slot changes nothing', async () => {
    const id = await insertDue()
    const zombie = await claim(await take(-1), [share('orders')])
    const owner = await take()
    expect(owner.slot).toBe(zombie.slot)
    const before = await read(id)

    expect(await settleMessages(service.sql, { ...zombie, messages: resolved([id]) })).toBe(0)
    expect(await releaseBatch(service.sql, zombie)).toEqual([])
    const part = { batch: 9n, token: randomUUID(), ids: [id] }
    expect(await leaseParts(service.sql, { ...zombie, parts: [part] })).toBe(false)
    expect(await read(id)).toEqual(before)
    expect(await settleMessages(service.sql, { ...owner, batch: zombie.batch, messages: resolved([id]) })).toBe(1)
    expect(await read(id)).toMatchObject({ status: 'RESOLVED' })
  })

  test('under the number of a part does not find the messages of another part', async () => {
    const [first, second] = [await insertDue(), await insertDue()]
    const batch = await claim(await take(), [share('orders')])
    const number = (await nextBatchNumbers(service.sql, { ...batch, count: 2 }))!
    expect(number).toBe(2n)
    const parts = [
      { batch: number, token: randomUUID(), ids: [first] },
      { batch: number + 1n, token: randomUUID(), ids: [second] },
    ]
    expect(await leaseParts(service.sql, { ...batch, parts })).toBe(true)
    expect([...(await listOutstanding(service.sql, batch))]).toEqual(
      parts.map(({ batch, token }) => ({ batch, token, messages: 1 })),
    )
    expect(idsOf(await listOutstandingMessages(service.sql, { ...batch, batch: number }))).toEqual([first])
    const both = resolved([first, second])
    const statuses = async () => [(await read(first)).status, (await read(second)).status]
    expect(await settleMessages(service.sql, { ...batch, messages: both })).toBe(0)
    expect(await settleMessages(service.sql, { ...batch, batch: 2n, messages: both })).toBe(1)
    // Nor does what gives back a batch: a part that was published would be sent twice.
    for (const number of [1n, 2n]) expect(await releaseBatch(service.sql, { ...batch, batch: number })).toEqual([])
    expect(await statuses()).toEqual(['RESOLVED', 'RETRYING'])
    expect(await settleMessages(service.sql, { ...batch, batch: 3n, messages: both })).toBe(1)
    expect(await statuses()).toEqual(['RESOLVED', 'RESOLVED'])
  })
})
