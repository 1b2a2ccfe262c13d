// Claims, leases and settling.
import { randomUUID } from 'node:crypto'
import { insertMessageRow, type MessageColumns, readMessageRow } from 'dlq-testing/message-rows.ts'
import { useServiceDatabase } from 'dlq-testing/service-database.ts'
import { useDatabase } from 'dlq-testing/test-database.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  claimDueMessages,
  refuseMessage,
  releaseExpiredLeases,
  releaseMessages,
  requestRetry,
  requestRetryOfTopic,
  resolveMessages,
} from './message-retry.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

beforeEach(async () => {
  await database.sql`truncate dlq.dlq_messages`
})

const ago = (seconds: number) => new Date(Date.now() - seconds * 1000)
const insertDue = (columns: MessageColumns = {}) =>
  insertMessageRow(database.sql, { next_retry_at: ago(60), ...columns })
const read = (id: string) => readMessageRow(database.sql, id)

async function claim({ token = randomUUID(), leaseMs = 60_000, limit = 100 } = {}) {
  return { token, messages: await claimDueMessages(service.sql, { token, leaseMs, limit }) }
}

async function insertMany(count: number, topic: string) {
  await database.sql`
    insert into dlq.dlq_messages (original_topic, error_message, next_retry_at)
    select ${topic}, 'processing failed', now() - interval '1 hour' from generate_series(1, ${count})`
}

describe('a claim', () => {
  test('takes what is due, counts the attempt and leases it', async () => {
    const id = await insertDue({
      dlq_topic: 'orders.dlq.v1',
      original_partition: 2,
      original_topic_source: 'header',
      record_key: Buffer.from([0, 255]),
      record_value: Buffer.from('{}'),
      error_stacktrace: 'at x',
    })
    await database.sql`update dlq.dlq_messages set record_headers = ('[["a","b"]]'::text)::json, payload = ('1.10'::text)::jsonb`
    const { token, messages } = await claim()

    expect(messages).toEqual([
      {
        id,
        retry_count: 1,
        max_retries: 3,
        original_topic: 'orders.events.v1',
        original_partition: 2,
        original_topic_source: 'header',
        record_key: Buffer.from([0, 255]),
        record_value: Buffer.from('{}'),
        record_headers: '[["a","b"]]',
        payload: '1.10',
        dlq_topic: 'orders.dlq.v1',
        error_stacktrace: 'at x',
      },
    ])
    const row = await read(id)
    expect(row).toMatchObject({ status: 'RETRYING', retry_count: 1, lease_token: token })
    expect(Math.abs(row.lease_until.getTime() - Date.now() - 60_000)).toBeLessThan(10_000)
    expect(Date.now() - row.last_retry_at.getTime()).toBeLessThan(10_000)
  })

  test('leaves what is not due, not PENDING, or has spent its budget', async () => {
    await insertDue({ next_retry_at: ago(-60) })
    await insertDue({ next_retry_at: null })
    for (const status of ['RETRYING', 'RESOLVED', 'DEAD']) await insertDue({ status })
    await insertDue({ retry_count: 3 })
    await insertDue({ retry_count: 4, max_retries: 2, original_topic: 'payments' })

    expect((await claim()).messages).toEqual([])
  })

  test('serves every small topic at once, however much another one has due', async () => {
    await insertMany(5000, 'a.flood')
    for (let n = 0; n < 20; n += 1) await insertMany(3, `topic-${n}`)
    const { messages } = await claim({ limit: 100 })

    const claimed = Map.groupBy(messages, ({ original_topic }) => original_topic)
    expect([...claimed.keys()].filter((topic) => topic !== 'a.flood')).toHaveLength(20)
    expect([...claimed].filter(([topic, { length }]) => topic !== 'a.flood' && length !== 3)).toEqual([])
    expect(claimed.get('a.flood')!.length).toBeGreaterThan(0)
    expect(messages.length).toBeLessThanOrEqual(100)
  })

  test('reaches every topic in turn where there are more topics than it may take', async () => {
    for (let n = 0; n < 30; n += 1) await insertMany(1, `topic-${n}`)
    const seen = new Set<string>()
    for (let n = 0; n < 3; n += 1) {
      const { messages } = await claim({ limit: 10 })
      expect(messages).toHaveLength(10)
      for (const { original_topic } of messages) seen.add(original_topic)
    }
    expect(seen.size).toBe(30)
  })

  test('takes the longest due of a topic first', async () => {
    const ids = []
    for (const seconds of [10, 50, 30, 20, 40]) ids.push(await insertDue({ next_retry_at: ago(seconds) }))
    const first = await claim({ limit: 2 })
    const second = await claim({ limit: 2 })

    expect(first.messages.map(({ id }) => id).toSorted()).toEqual([ids[1], ids[4]].toSorted())
    expect(second.messages.map(({ id }) => id).toSorted()).toEqual([ids[2], ids[3]].toSorted())
  })

  test('never takes more than its limit', async () => {
    await insertMany(50, 'orders')
    await insertMany(50, 'payments')
    await insertMany(50, 'refunds')
    for (const limit of [1, 2, 7]) expect((await claim({ limit })).messages.length).toBeLessThanOrEqual(limit)
    expect((await claim({ limit: 3 })).messages).toHaveLength(3)
  })

  test('passes over what another claim holds, without waiting for it', async () => {
    await insertMany(40, 'orders')
    await service.sql.begin(async (sql) => {
      const first = await claimDueMessages(sql, { token: randomUUID(), leaseMs: 60_000, limit: 15 })
      // The first claim is not committed yet.
      const { messages: second } = await claim({ limit: 100 })
      const ids = new Set([...first, ...second].map(({ id }) => id))
      expect([first.length, second.length, ids.size]).toEqual([15, 25, 40])
    })
  })

  test('by many at once gives each message to one', async () => {
    for (let n = 0; n < 5; n += 1) await insertMany(100, `topic-${n}`)
    const claims = await Promise.all(Array.from({ length: 8 }, () => claim({ limit: 70 })))
    const ids = claims.flatMap(({ messages }) => messages.map(({ id }) => id))

    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.length).toBeGreaterThanOrEqual(70)
    const [row] =
      await database.sql`select count(*)::int as retrying, max(retry_count) as most from dlq.dlq_messages where status = 'RETRYING'`
    expect(row).toEqual({ retrying: ids.length, most: 1 })
  })
})

describe('settling', () => {
  test('resolves what the lease holds', async () => {
    const id = await insertDue()
    const { token } = await claim()

    expect(await resolveMessages(service.sql, { token, ids: [id] })).toEqual([id])
    expect(await read(id)).toMatchObject({
      status: 'RESOLVED',
      retry_count: 1,
      next_retry_at: null,
      lease_token: null,
      lease_until: null,
      lease_slot: null,
      lease_batch: null,
    })
  })

  test('writes the state after a refusal', async () => {
    const [first, second] = [await insertDue(), await insertDue()]
    const { token } = await claim()
    const next_retry_at = ago(-600)

    expect(await refuseMessage(service.sql, { token, id: first, status: 'PENDING', next_retry_at })).toBe(true)
    expect(await refuseMessage(service.sql, { token, id: second, status: 'DEAD', next_retry_at: null })).toBe(true)
    expect(await read(first)).toMatchObject({
      status: 'PENDING',
      retry_count: 1,
      next_retry_at,
      lease_token: null,
      lease_until: null,
    })
    expect(await read(second)).toMatchObject({ status: 'DEAD', retry_count: 1, next_retry_at: null, lease_token: null })
  })

  test('gives released messages back as they were, due and with the attempt', async () => {
    const id = await insertDue({ retry_count: 1 })
    const before = await read(id)
    const { token } = await claim()

    expect(await releaseMessages(service.sql, { token, ids: [id] })).toBe(1)
    const { updated_at: _, last_retry_at: __, ...row } = await read(id)
    expect(before).toMatchObject(row)
    expect((await claim()).messages).toMatchObject([{ id, retry_count: 2 }])
  })

  test('with a lease that was lost changes nothing', async () => {
    const id = await insertDue()
    const lost = await claim({ leaseMs: -1 })
    expect(await releaseExpiredLeases(service.sql, { limit: 10 })).toBe(1)
    const held = await claim({ limit: 1 })
    expect(held.messages).toHaveLength(1)
    const before = await read(id)

    const { token } = lost
    expect(await resolveMessages(service.sql, { token, ids: [id] })).toEqual([])
    expect(await refuseMessage(service.sql, { token, id, status: 'DEAD', next_retry_at: null })).toBe(false)
    expect(await releaseMessages(service.sql, { token, ids: [id] })).toBe(0)
    expect(await read(id)).toEqual(before)
    expect(await resolveMessages(service.sql, { token: held.token, ids: [id] })).toEqual([id])
  })

  test('a second time changes nothing', async () => {
    const id = await insertDue()
    const { token } = await claim()
    await resolveMessages(service.sql, { token, ids: [id] })

    expect(await resolveMessages(service.sql, { token, ids: [id] })).toEqual([])
    expect(await releaseMessages(service.sql, { token, ids: [id] })).toBe(0)
    expect(await read(id)).toMatchObject({ status: 'RESOLVED', retry_count: 1 })
  })

  test('nothing settles nothing', async () => {
    expect(await resolveMessages(service.sql, { token: randomUUID(), ids: [] })).toEqual([])
    expect(await releaseMessages(service.sql, { token: randomUUID(), ids: [] })).toBe(0)
  })
})

describe('the sweep', () => {
  test('gives back what expired leases held, the attempt not counted and due now, and only that', async () => {
    const [expired, held] = [await insertDue({ original_topic: 'a' }), await insertDue({ original_topic: 'b' })]
    await claim({ limit: 2 })
    await database.sql`update dlq.dlq_messages set lease_until = now() - interval '1 s', next_retry_at = now() - interval '1 h' where id = ${expired}`

    expect(await releaseExpiredLeases(service.sql, { limit: 10 })).toBe(1)
    const row = await read(expired)
    expect(row).toMatchObject({ status: 'PENDING', retry_count: 0, lease_token: null, lease_until: null })
    expect(Date.now() - row.next_retry_at.getTime()).toBeLessThan(10_000)
    expect(await read(held)).toMatchObject({ status: 'RETRYING', retry_count: 1 })
  })

  test('takes no more than its limit, and passes over what somebody is settling', async () => {
    await insertMany(10, 'orders')
    const { token, messages } = await claim({ leaseMs: -1 })
    await service.sql.begin(async (sql) => {
      await resolveMessages(sql, { token, ids: messages.slice(0, 4).map(({ id }) => id) })
      expect(await releaseExpiredLeases(service.sql, { limit: 5 })).toBe(5)
      expect(await releaseExpiredLeases(service.sql, { limit: 5 })).toBe(1)
    })
    expect(await releaseExpiredLeases(service.sql, { limit: 5 })).toBe(0)
    const [row] =
      await database.sql`select count(*) filter (where status = 'RESOLVED')::int as resolved from dlq.dlq_messages`
    expect(row!.resolved).toBe(4)
  })
})

describe('a request for a retry', () => {
  test('makes a waiting message due, and no other', async () => {
    const waiting = await insertDue({ next_retry_at: ago(-3600) })
    const manual = await insertDue({ next_retry_at: null })
    const others = [
      await insertDue({ status: 'DEAD' }),
      await insertDue({ status: 'RETRYING' }),
      await insertDue({ retry_count: 3 }),
    ]

    for (const id of [waiting, manual]) expect(await requestRetry(service.sql, id)).toBe(true)
    for (const id of [...others, randomUUID()]) expect(await requestRetry(service.sql, id)).toBe(false)
    expect((await claim()).messages.map(({ id }) => id).toSorted()).toEqual([waiting, manual].toSorted())
  })

  test('of a topic goes on where its last chunk ended, and ends at its bound', async () => {
    await insertMany(5, 'orders')
    const ids = (await database.sql`select id from dlq.dlq_messages order by id`).map(({ id }) => id)
    await database.sql`update dlq.dlq_messages set next_retry_at = null`
    await insertMany(3, 'payments')
    const bounds = { column: 'original_topic', topic: 'orders', untilId: ids[3], limit: 3 } as const

    const smallest = '00000000-0000-0000-0000-000000000000'
    expect(await requestRetryOfTopic(service.sql, { ...bounds, afterId: smallest })).toEqual({
      lastId: ids[2],
      marked: 3,
    })
    expect(await requestRetryOfTopic(service.sql, { ...bounds, afterId: ids[2] })).toEqual({
      lastId: ids[3],
      marked: 1,
    })
    expect(await requestRetryOfTopic(service.sql, { ...bounds, afterId: ids[3] })).toEqual({ lastId: null, marked: 0 })
    expect((await read(ids[4])).next_retry_at).toBeNull()
  })
})
