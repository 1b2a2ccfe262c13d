// Messages whose retry failed again.

import { randomUUID } from 'node:crypto'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { decodeHeaders, encodeHeaders } from '../../domain/record/header-json.ts'
import { getAttempt, requestAttempt, type SettledAttempt, settleAttempts } from '../retry/attempts.ts'
import {
  countFailures,
  type FailedAgain,
  lockMessages,
  type ReopenedMessage,
  recordFailedAgain,
  reopenMessages,
} from './message-reopen.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_attempts', 'dlq.dlq_messages')
})

const read = (id: string) => readMessageRow(database.sql, id)

async function readAttempt(id: string) {
  const rows = await database.sql`select * from dlq.dlq_attempts where message_id = ${id} order by number`
  return rows[0]
}

function failedAgain(message_id: string, more: Partial<FailedAgain> = {}): FailedAgain {
  return {
    message_id,
    number: 1,
    attempt_id: randomUUID(),
    cluster: 'c',
    topic: 'orders.dlq.v1',
    partition: 0,
    offset: 9_007_199_254_740_993n,
    error_class: 'java.lang.Error',
    error_message: 'failed "again"\n',
    error_changed: true,
    group_id: null,
    ...more,
  }
}

function settled(message_id: string, more: Partial<SettledAttempt> = {}): SettledAttempt {
  return {
    message_id,
    number: 1,
    attempt_id: randomUUID(),
    outcome: 'published',
    target_topic: 'orders',
    target_partition: 3,
    target_offset: 42n,
    error: null,
    ...more,
  }
}

describe('recordFailedAgain', () => {
  test('notes the groups of the message before and of the failure, where they differ', async () => {
    const [before, after] = [randomUUID(), randomUUID()]
    const ids = [
      await insertMessageRow(database.sql, { group_id: before }),
      await insertMessageRow(database.sql, { group_id: before }),
      await insertMessageRow(database.sql),
    ]
    const groups = [after, before, after]
    await recordFailedAgain(
      service.sql,
      ids.map((id, n) => failedAgain(id, { group_id: groups[n]! })),
    )
    const noted = await Promise.all(ids.map(async (id) => (await readAttempt(id))!.failed_groups))
    expect(noted).toEqual([[before, after], null, [after]])
  })

  test('stores the exact coordinates of the re-failure, and returns the message as new', async () => {
    const id = await insertMessageRow(database.sql)
    await settleAttempts(service.sql, { attempts: [settled(id)] })

    expect(await recordFailedAgain(service.sql, [failedAgain(id)])).toEqual(new Set([id]))
    expect(await readAttempt(id)).toMatchObject({
      outcome: 'published',
      target_topic: 'orders',
      failed_again_at: expect.any(Date),
      failed_again_topic: 'orders.dlq.v1',
      failed_again_offset: '9007199254740993',
      failed_again_message: 'failed "again"\n',
      error_changed: true,
    })
  })

  test('returns nothing the second time, neither for the same record nor for another', async () => {
    const id = await insertMessageRow(database.sql)
    await recordFailedAgain(service.sql, [failedAgain(id)])
    const before = await readAttempt(id)

    expect(await recordFailedAgain(service.sql, [failedAgain(id)])).toEqual(new Set())
    expect(await recordFailedAgain(service.sql, [failedAgain(id, { offset: 7n, error_message: 'other' })])).toEqual(
      new Set(),
    )
    expect(await readAttempt(id)).toEqual(before)
    expect(await recordFailedAgain(service.sql, [failedAgain(id, { number: 2 })])).toEqual(new Set([id]))
  })

  test('does not need a settled attempt, and keeps the re-failure when it is settled later', async () => {
    const id = await insertMessageRow(database.sql)
    expect(await recordFailedAgain(service.sql, [failedAgain(id)])).toEqual(new Set([id]))
    await settleAttempts(service.sql, { attempts: [settled(id)] })

    expect(await readAttempt(id)).toMatchObject({
      target_offset: '42',
      failed_again_topic: 'orders.dlq.v1',
      failed_again_at: expect.any(Date),
    })
  })

  test('returns those of several messages whose re-failure is new', async () => {
    const ids = [await insertMessageRow(database.sql), await insertMessageRow(database.sql)]
    await recordFailedAgain(service.sql, [failedAgain(ids[0]!)])
    expect(
      await recordFailedAgain(
        service.sql,
        ids.map((id) => failedAgain(id)),
      ),
    ).toEqual(new Set([ids[1]]))
    expect(await recordFailedAgain(service.sql, [])).toEqual(new Set())
  })

  test.each([
    ['published', 'resolved'],
    ['failed', 'failed'],
  ] as const)('counts for its run as failed again, and no longer as it did: %s', async (outcome, before) => {
    const [id, run] = [await insertMessageRow(database.sql), randomUUID()]
    await settleAttempts(service.sql, { attempts: [settled(id, { outcome })] })
    await database.sql`update dlq.dlq_attempts set run_id = ${run} where message_id = ${id}`
    await recordFailedAgain(service.sql, [failedAgain(id)])
    const deltas = await database.sql`
      select outcome, sum(n)::int as n from dlq.dlq_run_deltas where run_id = ${run} group by outcome order by n`
    expect([...deltas]).toEqual([
      { outcome: before, n: -1 },
      { outcome: 'failed_again', n: 1 },
    ])
  })

  test.each([
    ['is sending', { status: 'RETRYING' }, true],
    ['is sending once more', { status: 'RETRYING', retry_count: 2 }, false],
    ['has only taken since', {}, false],
  ])('of an attempt that is not settled is that of the run which makes it: one that %s it', async (_, row, is) => {
    const run_id = randomUUID()
    const id = await insertMessageRow(database.sql, { retry_count: 1, run_id, ...row })
    await recordFailedAgain(service.sql, [failedAgain(id)])
    expect(await readAttempt(id)).toMatchObject({ run_id: is ? run_id : null })
  })
})

describe('reopenMessages', () => {
  const trace =
    'java.lang.IllegalStateException: no stock for "SKU-1"\n\tat Shop.take(Shop.java:7)\n\tat Shop.main(Shop.java:1) \\ end'
  const headers = [
    ['kafka_dlt-exception-stacktrace', Buffer.from(trace)],
    ['tricky', Buffer.from('{"column":"error_stacktrace"}')],
    ['kafka_dlt-exception-stacktrace', Buffer.from(trace)],
    ['{"column":"error_stacktrace"}', Buffer.from([0xff])],
    ['x', null],
  ] as const

  async function insertWithHeaders() {
    const id = await insertMessageRow(database.sql, {
      status: 'RESOLVED',
      retry_count: 1,
      error_stacktrace: trace,
      lease_token: randomUUID(),
      lease_until: new Date(),
      lease_slot: 1,
      lease_batch: 1,
      consumer_group: 'shop',
    })
    const json = encodeHeaders(headers, new Map([['error_stacktrace', trace]]))
    expect(json).toContain('{"column":"error_stacktrace"}')
    await database.sql`update dlq.dlq_messages set record_headers = (${json}::text)::json where id = ${id}`
    return id
  }

  const reopened = (id: string, more: Partial<ReopenedMessage> = {}): ReopenedMessage => ({
    id,
    status: 'PENDING',
    retry_count: 1,
    next_retry_at: new Date('2030-01-01T00:00:00Z'),
    error_class: 'Later',
    error_message: 'later',
    error_stacktrace: null,
    group_id: null,
    consumer_group: null,
    held_by_route: false,
    is_scrubbed: null,
    ...more,
  })

  async function readHeaders(id: string) {
    const [row] = await service.sql<{ record_headers: string; error_stacktrace: string | null }[]>`
      select record_headers, error_stacktrace from dlq.dlq_messages where id = ${id}`
    return decodeHeaders(row!.record_headers, { error_stacktrace: row!.error_stacktrace })
  }

  test('writes the new state and the new failure, counts it, and ends the lease', async () => {
    const id = await insertWithHeaders()
    await reopenMessages(service.sql, [reopened(id)])

    const row = await read(id)
    expect(row).toMatchObject({
      status: 'PENDING',
      retry_count: 1,
      error_class: 'Later',
      error_message: 'later',
      error_stacktrace: null,
      failure_count: 2,
      consumer_group: 'shop',
      lease_token: null,
      lease_until: null,
      lease_slot: null,
      lease_batch: null,
    })
    expect(row.next_retry_at).toEqual(new Date('2030-01-01T00:00:00Z'))
    expect(row.last_failed_at.getTime()).toBeGreaterThan(row.first_failed_at.getTime())
  })

  test.each([
    ['another one', 'at Other.run(Other.java:1)'],
    ['none', null],
    ['the same', trace],
  ])('leaves the first failure’s headers as they were when the stack trace becomes %s', async (_, error_stacktrace) => {
    const id = await insertWithHeaders()
    await reopenMessages(service.sql, [reopened(id, { error_stacktrace })])
    expect((await read(id)).error_stacktrace).toBe(error_stacktrace)
    expect(await readHeaders(id)).toEqual(headers)

    await reopenMessages(service.sql, [reopened(id, { error_stacktrace: 'at Third.time(Third.java:3)' })])
    expect(await readHeaders(id)).toEqual(headers)
    expect(await read(id)).toMatchObject({ failure_count: 3 })
  })

  test('gives no time to a message that waits for its original', async () => {
    const id = await insertWithHeaders()
    await database.sql`update dlq.dlq_messages set origin_state = 18 where id = ${id}`
    await reopenMessages(service.sql, [reopened(id)])
    expect(await read(id)).toMatchObject({ status: 'PENDING', next_retry_at: null })
  })

  test('takes the consumer group of the new failure where it names one', async () => {
    const id = await insertWithHeaders()
    await reopenMessages(service.sql, [reopened(id, { consumer_group: 'shop-2' })])
    expect(await read(id)).toMatchObject({ consumer_group: 'shop-2' })
  })
})

describe('counting and locking', () => {
  test('a failure that changes nothing else is counted', async () => {
    const [id, other] = [await insertMessageRow(database.sql), await insertMessageRow(database.sql)]
    await countFailures(service.sql, [id])
    expect([(await read(id)).failure_count, (await read(other)).failure_count]).toEqual([2, 1])
  })

  test('locked messages come in the order of their ids, without those that do not exist', async () => {
    const ids: string[] = []
    for (let n = 0; n < 5; n += 1) ids.push(await insertMessageRow(database.sql))
    const locked = await service.sql.begin((sql) => lockMessages(sql, [...ids.toReversed(), randomUUID()]))
    expect(locked.map(({ id }) => id)).toEqual(ids.toSorted())
    expect(locked[0]).toMatchObject({
      status: 'PENDING',
      retry_count: 0,
      max_retries: 3,
      next_retry_at: null,
      error_message: 'processing failed',
    })
  })

  test('two transactions that lock the same messages in opposite orders wait instead of deadlocking', async () => {
    const ids: string[] = []
    for (let n = 0; n < 20; n += 1) ids.push(await insertMessageRow(database.sql))
    const lock = async (order: string[]) => {
      for (let n = 0; n < 20; n += 1) await service.sql.begin((sql) => lockMessages(sql, order))
    }
    await expect(Promise.all([lock(ids), lock(ids.toReversed())])).resolves.toBeDefined()
  })
})

describe('attempts', () => {
  test('keep the actor who asked when they are settled, and take the last outcome', async () => {
    const id = await insertMessageRow(database.sql)
    await requestAttempt(service.sql, { message_id: id, number: 1, attempt_id: randomUUID(), actor: 'alice' })
    await settleAttempts(service.sql, {
      attempts: [settled(id, { outcome: 'failed', error: 'too large', target_partition: null, target_offset: null })],
    })
    await requestAttempt(service.sql, { message_id: id, number: 1, attempt_id: randomUUID(), actor: 'bob' })
    expect(await readAttempt(id)).toMatchObject({
      actor: 'alice',
      outcome: 'failed',
      error: 'too large',
      target_offset: null,
    })

    await settleAttempts(service.sql, { attempts: [settled(id)] })
    expect(await readAttempt(id)).toMatchObject({
      actor: 'alice',
      outcome: 'published',
      error: null,
      target_partition: 3,
      target_offset: '42',
    })
  })

  test('have an outcome when the message says that they were made', async () => {
    const id = await insertMessageRow(database.sql)
    await settleAttempts(service.sql, { attempts: [settled(id)] })
    const outcomes = []
    for (const [status, retryCount] of [
      ['PENDING', 0],
      ['RETRYING', 1],
      ['RESOLVED', 1],
      ['PENDING', 1],
      ['RETRYING', 2],
    ] as const) {
      await database.sql`update dlq.dlq_messages set status = ${status}, retry_count = ${retryCount} where id = ${id}`
      outcomes.push((await getAttempt(service.sql, { message_id: id, number: 1 }))?.outcome ?? null)
    }
    expect(outcomes).toEqual([null, null, 'published', 'published', 'published'])
    await database.sql`delete from dlq.dlq_messages`
    expect(await getAttempt(service.sql, { message_id: id, number: 1 })).toEqual({ outcome: 'published', error: null })
    expect(await getAttempt(service.sql, { message_id: id, number: 2 })).toBeNull()
  })
})
