// Re-failures of messages, as the ingester reads them in batches.

import { randomUUID } from 'node:crypto'
import { deriveMessageId } from 'dlq-core/domain/record/message-id.ts'
import { orderKey } from 'dlq-core/domain/record/order-key.ts'
import type { DeadLetterRecord } from 'dlq-core/domain/record/record.ts'
import { defaultRetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { settleAttempts } from 'dlq-core/queries/retry/attempts.ts'
import { settleMessages } from 'dlq-core/queries/retry/batches.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { untilWaitingForLock } from 'dlq-testing/postgres/lock-waits.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { claimDue } from 'dlq-testing/rows/claim-due.ts'
import { readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, expect, test } from 'vitest'
import { batchOf, recordAt, refailureAt, storeBatch, storeDeps } from './test-batch.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const now = new Date('2026-06-01T12:00:00Z')

const store = (records: readonly DeadLetterRecord[]) =>
  storeBatch(storeDeps(service.sql, { now: () => now }), batchOf(records, { fetchedOffset: 0n }))
const read = (id: string) => readMessageRow(database.sql, id)
const forgetPositions = () => emptyTables(database.sql, 'dlq.dlq_positions')

async function countMessages(): Promise<number> {
  const [row] = await database.sql`select count(*)::int as count from dlq.dlq_messages`
  return row!.count
}

/** Stores a first failure at offset 0 and returns its message's id. */
async function storeFirst(): Promise<string> {
  const record = recordAt(0)
  await store([record])
  return deriveMessageId(record)
}

/** Claims the message as a retrier does. The returned function settles it as published. */
async function publish(id: string) {
  await database.sql`update dlq.dlq_messages set next_retry_at = now() where id = ${id}`
  const batch = await claimDue(service.sql)
  const claimed = batch.messages.find((message) => message.id === id)
  return async () => {
    const messages = [{ id, status: 'RESOLVED' as const, next_retry_at: null, run_id: null }]
    const resolved = await settleMessages(service.sql, { ...batch, messages })
    await settleAttempts(service.sql, {
      attempts: [
        {
          message_id: id,
          number: claimed!.retry_count,
          attempt_id: randomUUID(),
          outcome: 'published',
          target_topic: 'orders.events.v1',
          target_partition: 0,
          target_offset: 77n,
          error: null,
        },
      ],
    })
    return resolved
  }
}

/** Writes down that attempts were made whose messages this test did not claim. */
async function attemptsMade(...attempts: { id: string; number: number }[]) {
  await settleAttempts(service.sql, {
    attempts: attempts.map(({ id, number }) => ({
      message_id: id,
      number,
      attempt_id: randomUUID(),
      outcome: 'published',
      target_topic: 'orders.events.v1',
      target_partition: null,
      target_offset: null,
      error: null,
    })),
  })
}

beforeEach(async () => {
  await emptyTables(
    database.sql,
    'dlq.dlq_attempts',
    'dlq.dlq_positions',
    'dlq.dlq_messages',
    'dlq.dlq_messages_archive',
  )
})

test('a message that fails again after being resolved reopens its row', async () => {
  const id = await storeFirst()
  await (await publish(id))()
  const before = await read(id)
  expect(
    await store([
      refailureAt(1, { id, attempt: 1, headers: { 'dlq-error-class': 'Timeout', 'dlq-consumer-group': 'shop' } }),
    ]),
  ).toMatchObject({ stored: 0, reopened: 1 })

  expect(await countMessages()).toBe(1)
  const row = await read(id)
  expect(row).toMatchObject({
    status: 'PENDING',
    retry_count: 1,
    failure_count: 2,
    error_class: 'Timeout',
    error_message: 'again 1',
    consumer_group: 'shop',
    dlq_offset: '0',
    record_value: before.record_value,
    record_headers: before.record_headers,
    first_failed_at: before.first_failed_at,
  })
  expect(row.next_retry_at.getTime()).toBeGreaterThan(now.getTime())
  const [attempt] =
    await database.sql`select outcome, target_offset, failed_again_offset, error_changed from dlq.dlq_attempts`
  expect(attempt).toEqual({ outcome: 'published', target_offset: '77', failed_again_offset: '1', error_changed: true })
})

test('a message that was RESOLVED when its policy began to ask for the order of keys waits in that order from then on', async () => {
  const record = { ...recordAt(0), key: Buffer.from('key') }
  await store([record])
  const id = deriveMessageId(record)
  await (await publish(id))()
  expect(await read(id)).toMatchObject({ status: 'RESOLVED', order_key: null })
  const policyOf = () => ({ ...defaultRetryPolicy, ordering: 'per-key' as const })
  const settings = { policyOf, mappings: [], dlqPatterns: ['*.dlq.v1'] }
  await storeBatch(
    storeDeps(service.sql, { now: () => now, settings }),
    batchOf([refailureAt(1, { id, attempt: 1 })], { fetchedOffset: 0n }),
  )
  expect(await read(id)).toMatchObject({ status: 'PENDING', order_key: String(orderKey(record.key)) })
})

test('a re-failure without our headers is recognised by the coordinates of its original record', async () => {
  const id = await storeFirst()
  await (await publish(id))()
  const headers = { 'dlq-original-partition': '0', 'dlq-original-offset': '77' }
  expect(await store([recordAt(1, { headers })])).toMatchObject({ stored: 0, reopened: 1 })
  expect(await read(id)).toMatchObject({ status: 'PENDING', retry_count: 1, error_message: 'no stock 1' })
  // Other coordinates are another failure.
  expect(await store([recordAt(2, { headers: { ...headers, 'dlq-original-offset': '78' } })])).toMatchObject({
    stored: 1,
    reopened: 0,
  })
})

test('a record of a topic that was deleted and created again is no re-failure of what was sent to the old one', async () => {
  const id = await storeFirst()
  await (await publish(id))()
  const before = await read(id)
  const [sent] = await database.sql`select target_topic from dlq.dlq_attempts`
  await database.sql`
    insert into dlq.dlq_target_topics (target_topic, topic_id, new_since) values (${sent!.target_topic}, 'new', clock_timestamp())`
  const headers = { 'dlq-original-partition': '0', 'dlq-original-offset': '77' }
  expect(await store([recordAt(1, { headers })])).toMatchObject({ stored: 1, reopened: 0 })
  expect(await read(id)).toEqual(before)
})

test('a re-failure from before the subscription of its topic reopens its message without a time for a retry', async () => {
  const id = await storeFirst()
  await (await publish(id))()
  await database.sql`update dlq.dlq_positions set manual_below = 2`
  expect(await store([refailureAt(1, { id, attempt: 1 })])).toMatchObject({ reopened: 1 })
  expect(await read(id)).toMatchObject({ status: 'PENDING', retry_count: 1, next_retry_at: null })
  await (await publish(id))()
  expect(await store([refailureAt(2, { id, attempt: 2 })])).toMatchObject({ reopened: 1 })
  expect(await read(id)).toMatchObject({ status: 'PENDING', retry_count: 2, next_retry_at: expect.any(Date) })
})

test('the same re-failure read twice changes nothing the second time', async () => {
  const id = await storeFirst()
  await (await publish(id))()
  const refailure = refailureAt(1, { id, attempt: 1 })
  await store([refailure])
  const before = await read(id)
  await forgetPositions()

  expect(await store([refailure])).toMatchObject({ stored: 0, reopened: 0 })
  expect(await read(id)).toEqual(before)
})

test('a message whose budget is spent is DEAD, and has no time for a retry', async () => {
  const id = await storeFirst()
  for (const attempt of [1, 2, 3]) {
    await (await publish(id))()
    await store([refailureAt(attempt, { id, attempt })])
    expect(await read(id)).toMatchObject({
      status: attempt < 3 ? 'PENDING' : 'DEAD',
      retry_count: attempt,
      failure_count: attempt + 1,
    })
  }
  expect(await read(id)).toMatchObject({ next_retry_at: null })
  expect(await countMessages()).toBe(1)
})

test('a failure and its re-failure may stand in one batch', async () => {
  const first = recordAt(0)
  const id = deriveMessageId(first)
  await attemptsMade({ id, number: 1 })
  expect(await store([first, refailureAt(1, { id, attempt: 1 })])).toMatchObject({ stored: 1, reopened: 1 })
  expect(await read(id)).toMatchObject({
    status: 'PENDING',
    retry_count: 1,
    failure_count: 2,
    error_message: 'again 1',
    dlq_offset: '0',
  })
})

test('two re-failures of one message in one batch are taken one after the other', async () => {
  const id = await storeFirst()
  await (await publish(id))()
  await attemptsMade({ id, number: 2 })
  const outcome = await store([
    refailureAt(1, { id, attempt: 1 }),
    refailureAt(2, { id, attempt: 2, headers: { 'dlq-error-class': 'Timeout' } }),
  ])

  expect(outcome).toMatchObject({ stored: 0, reopened: 2 })
  expect(await read(id)).toMatchObject({
    status: 'PENDING',
    retry_count: 2,
    failure_count: 3,
    error_message: 'again 2',
  })
  const attempts = await database.sql`select number, error_changed from dlq.dlq_attempts order by number`
  expect([...attempts]).toEqual([
    { number: 1, error_changed: false },
    { number: 2, error_changed: true },
  ])
})

test('re-failures of one attempt by two consumers in one batch count once', async () => {
  const id = await storeFirst()
  await (await publish(id))()
  expect(await store([refailureAt(1, { id, attempt: 1 }), refailureAt(2, { id, attempt: 1 })])).toMatchObject({
    stored: 0,
    reopened: 1,
  })
  expect(await read(id)).toMatchObject({ status: 'PENDING', retry_count: 1, error_message: 'again 1' })
})

test('an older attempt’s re-failure that comes late is counted, and changes nothing else', async () => {
  const id = await storeFirst()
  for (let n = 0; n < 2; n += 1) {
    await (await publish(id))()
    await database.sql`update dlq.dlq_messages set status = 'PENDING' where id = ${id} and retry_count = 1`
  }
  expect(await read(id)).toMatchObject({ status: 'RESOLVED', retry_count: 2 })
  expect(await store([refailureAt(1, { id, attempt: 1 })])).toMatchObject({ stored: 0, reopened: 0 })
  expect(await read(id)).toMatchObject({
    status: 'RESOLVED',
    retry_count: 2,
    failure_count: 2,
    error_message: 'no stock 0',
  })
})

test('the re-failure of a message that is not settled yet ends its retrier’s lease', async () => {
  const id = await storeFirst()
  const settle = await publish(id)
  expect(await store([refailureAt(1, { id, attempt: 1 })])).toMatchObject({ reopened: 1 })
  const before = await read(id)

  expect(await settle()).toBe(0)
  expect(await read(id)).toEqual(before)
  expect(before).toMatchObject({ status: 'PENDING', retry_count: 1, lease_token: null })
  const [attempt] = await database.sql`select target_offset, failed_again_offset from dlq.dlq_attempts`
  expect(attempt).toEqual({ target_offset: '77', failed_again_offset: '1' })
})

test('the re-failure of a deleted message becomes a new message that names its predecessor', async () => {
  const id = await storeFirst()
  await (await publish(id))()
  await database.sql`delete from dlq.dlq_messages`
  const refailure = refailureAt(1, { id, attempt: 1 })

  expect(await store([refailure])).toMatchObject({ stored: 1, reopened: 0 })
  const successor = deriveMessageId(refailure)
  expect(await read(successor)).toMatchObject({
    status: 'PENDING',
    retry_count: 0,
    successor_of: id,
    error_message: 'again 1',
  })
  await forgetPositions()
  expect(await store([refailure])).toMatchObject({ stored: 0, reopened: 0 })
})

test('the re-failure of an archived message restores it', async () => {
  const id = await storeFirst()
  await (await publish(id))()
  const before = await read(id)
  await database.sql`update dlq.dlq_messages set updated_at = now()`
  await database.sql`alter table dlq.dlq_messages disable trigger trg_dlq_messages_updated_at`
  await database.sql`update dlq.dlq_messages set updated_at = now() - interval '40 days'`
  await database.sql`alter table dlq.dlq_messages enable trigger trg_dlq_messages_updated_at`
  await database.sql`call dlq.archive_old_dlq_messages()`
  expect(await countMessages()).toBe(0)

  expect(await store([refailureAt(1, { id, attempt: 1 })])).toMatchObject({ stored: 0, reopened: 1 })
  expect(await read(id)).toMatchObject({
    status: 'PENDING',
    retry_count: 1,
    record_value: before.record_value,
    record_headers: before.record_headers,
  })
  expect(await database.sql`select from dlq.dlq_messages_archive`).toHaveLength(0)
})

test('a re-failure that is read again, after a reset of positions, brings nothing back from the archive', async () => {
  const id = await storeFirst()
  await (await publish(id))()
  const again = refailureAt(1, { id, attempt: 1 })
  await store([again])
  await (await publish(id))()
  await database.sql`select dlq.archive_messages(array[${id}::uuid])`
  await forgetPositions()
  expect(await store([again])).toMatchObject({ stored: 0, reopened: 0 })
  expect(await countMessages()).toBe(0)
})

test('an archived message whose month has no partition any more gets one when its re-failure restores it', async () => {
  const id = await storeFirst()
  await (await publish(id))()
  const [month] = await database.sql`select tableoid::regclass::text as name from dlq.dlq_messages where id = ${id}`
  await database.sql`select dlq.archive_messages(array[${id}::uuid])`
  await database.sql.unsafe(`drop table ${month!.name}`)

  expect(await store([refailureAt(1, { id, attempt: 1 })])).toMatchObject({ stored: 0, reopened: 1 })
  expect(await read(id)).toMatchObject({ status: 'PENDING', retry_count: 1 })
})

test('the re-failure of an archived message that is deleted meanwhile becomes a new message that names its predecessor', async () => {
  const id = await storeFirst()
  await (await publish(id))()
  await database.sql`select dlq.archive_messages(array[${id}::uuid])`
  const refailure = refailureAt(1, { id, attempt: 1 })
  const { storing } = await database.sql.begin(async (sql) => {
    await sql`delete from dlq.dlq_messages_archive`
    // The message is still seen in the archive, and waited for when it is to be restored.
    const storing = store([refailure])
    await untilWaitingForLock(database)
    return { storing }
  })
  expect(await storing).toMatchObject({ stored: 1, reopened: 0 })
  expect(await read(deriveMessageId(refailure))).toMatchObject({ successor_of: id, retry_count: 0 })
})

test.each([
  ['an id that is none', { 'dlq-message-id': 'x', 'dlq-attempt': '1' }],
  ['an attempt that is no number', { 'dlq-message-id': randomUUID(), 'dlq-attempt': 'one' }],
  ['an attempt beyond all bounds', { 'dlq-message-id': randomUUID(), 'dlq-attempt': '99999999999' }],
  ['an id without an attempt', { 'dlq-message-id': randomUUID() }],
])('a record with %s is a first failure', async (_, headers) => {
  const record = recordAt(0, { headers })
  expect(await store([record])).toMatchObject({ stored: 1, reopened: 0 })
  expect(await read(deriveMessageId(record))).toMatchObject({ successor_of: null })
})

test('batches of two partitions that reopen the same messages in opposite orders wait for each other', async () => {
  const firsts = Array.from({ length: 50 }, (_, n) => recordAt(n))
  await store(firsts)
  const ids = firsts.map((record) => deriveMessageId(record))
  await attemptsMade(...ids.flatMap((id) => [1, 2, 3].map((number) => ({ id, number }))))
  const storeFor = (partition: number, order: string[]) =>
    storeBatch(storeDeps(service.sql), {
      ...batchOf(order.map((id, n) => ({ ...refailureAt(n, { id, attempt: partition }), partition }))),
      partition,
    })
  await Promise.all([storeFor(1, ids), storeFor(2, ids.toReversed()), storeFor(3, ids)])
  const rows = await database.sql`select distinct retry_count, status, failure_count from dlq.dlq_messages`
  expect(rows.every(({ retry_count, status }) => retry_count === 3 && status === 'DEAD')).toBe(true)
})
