// Dead letters that say which message they are. Whoever writes a DLQ topic can write that, so each case here is an
// attack, a framework that carries headers along, or a second consumer group.

import { deriveAttemptId, deriveMessageId } from 'dlq-core/domain/record/message-id.ts'
import type { DeadLetterRecord } from 'dlq-core/domain/record/record.ts'
import { settleAttempts } from 'dlq-core/queries/retry/attempts.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { batchOf, recordAt, refailureAt, storeBatch, storeDeps } from './test-batch.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const target = 'orders.events.v1'

beforeEach(async () => {
  await emptyTables(
    database.sql,
    ...['dlq.dlq_attempts', 'dlq.dlq_attempts_archive', 'dlq.dlq_positions', 'dlq.dlq_messages'],
    ...['dlq.dlq_messages_archive', 'dlq.dlq_routes', 'dlq.dlq_siblings'],
  )
})

/** Stores the records as if they stood on the topic. */
function store(records: readonly DeadLetterRecord[], topic = 'orders.dlq.v1') {
  const moved = records.map((record) => ({ ...record, topic }))
  return storeBatch(storeDeps(service.sql), { ...batchOf(moved, { fetchedOffset: 0n }), topic })
}

const read = (id: string) => readMessageRow(database.sql, id)
const idOf = (record: DeadLetterRecord, topic = 'orders.dlq.v1') => deriveMessageId({ ...record, topic })

async function rows(): Promise<string[]> {
  const found = await database.sql<{ id: string }[]>`select id from dlq.dlq_messages`
  return found.map(({ id }) => id)
}

/** Writes down that the message was sent, as a retrier does. */
async function publish(id: string, { offset = 77n }: { offset?: bigint } = {}) {
  await database.sql`
    update dlq.dlq_messages set status = 'RESOLVED', next_retry_at = null, retry_count = retry_count + 1 where id = ${id}`
  const { retry_count: number } = await read(id)
  await settleAttempts(service.sql, {
    attempts: [
      {
        ...{ message_id: id, number, attempt_id: deriveAttemptId(id, number), outcome: 'published' as const },
        ...{ target_topic: target, target_partition: 0, target_offset: offset, error: null },
      },
    ],
  })
  return number
}

/** A message of the group "billing" whose first retry was sent. */
async function storePublished(): Promise<string> {
  const record = recordAt(0, { headers: { 'dlq-consumer-group': 'billing' } })
  await store([record])
  await publish(idOf(record))
  return idOf(record)
}

/** Stores the letter, and expects a row of its own that changes nothing of the message. */
async function expectStranger(id: string, letter: DeadLetterRecord, topic?: string) {
  const before = await read(id)
  const attempts = await database.sql`select * from dlq.dlq_attempts`
  expect(await store([letter], topic)).toMatchObject({ stored: 1, reopened: 0 })
  expect(await read(id)).toEqual(before)
  expect(await database.sql`select * from dlq.dlq_attempts`).toEqual(attempts)
  expect(await read(idOf(letter, topic))).toMatchObject({ related_to: id, status: 'PENDING', retry_count: 0 })
}

describe('a dead letter that names a message', () => {
  test('from another DLQ topic is a message of its own, whatever group it claims', async () => {
    const id = await storePublished()
    const headers = { 'dlq-consumer-group': 'billing' }
    await expectStranger(id, refailureAt(1, { id, attempt: 1, headers }), 'evil.dlq.v1')
  })

  test('by the place of its republished record, from another DLQ topic, is a message of its own', async () => {
    const id = await storePublished()
    const headers = { 'dlq-original-partition': '0', 'dlq-original-offset': '77' }
    await expectStranger(id, recordAt(1, { headers }), 'evil.dlq.v1')
  })

  test.each([2, 2_147_483_647])('with attempt %i, which was never made, is a message of its own', async (attempt) => {
    const id = await storePublished()
    await expectStranger(id, refailureAt(1, { id, attempt }))
  })

  test('with an attempt that somebody has only asked for is a message of its own', async () => {
    const id = await storePublished()
    await database.sql`
      insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome) values (${id}, 2, ${id}, 'requested')`
    await expectStranger(id, refailureAt(1, { id, attempt: 2 }))
  })

  test('with another attempt’s id is a message of its own', async () => {
    const id = await storePublished()
    const headers = { 'dlq-attempt-id': deriveAttemptId(id, 2) }
    await expectStranger(id, refailureAt(1, { id, attempt: 1, headers }))
  })

  test('with headers that a stream application carried into its output topic is a message of its own', async () => {
    const id = await storePublished()
    const headers = { 'dlq-original-topic': 'orders.enriched' }
    await expectStranger(id, refailureAt(1, { id, attempt: 1, headers }))
  })

  test('from a retry topic of the target is its failure', async () => {
    const id = await storePublished()
    const headers = { 'dlq-original-topic': `${target}-retry-1000`, 'dlq-consumer-group': 'billing-retry-1000' }
    expect(await store([refailureAt(1, { id, attempt: 1, headers })])).toMatchObject({ stored: 0, reopened: 1 })
  })

  test('does not bring it back from the archive unless it is believed', async () => {
    const id = await storePublished()
    await database.sql`select dlq.archive_messages(array[${id}::uuid])`
    const letter = refailureAt(1, { id, attempt: 1 })
    expect(await store([letter], 'evil.dlq.v1')).toMatchObject({ stored: 1, reopened: 0 })
    expect(await rows()).toEqual([idOf(letter, 'evil.dlq.v1')])
    expect(await store([letter])).toMatchObject({ stored: 0, reopened: 1 })
    expect(await read(id)).toMatchObject({ status: 'PENDING', retry_count: 1 })
  })

  test('from another DLQ topic with an approved route is its failure where the consumer group is the same', async () => {
    const id = await storePublished()
    await database.sql`
      insert into dlq.dlq_routes (dlq_topic, original_topic, state) values ('all.dlq', ${target}, 'approved')`
    const of = (group: Record<string, string>) => refailureAt(1, { id, attempt: 1, headers: group })
    await expectStranger(id, of({}), 'all.dlq')
    const letter = { ...of({ 'dlq-consumer-group': 'billing' }), offset: 2n }
    expect(await store([letter], 'all.dlq')).toMatchObject({ stored: 0, reopened: 1 })
    expect(await read(id)).toMatchObject({ status: 'PENDING', error_message: 'again 1' })
  })

  test('that is archived, and whose attempt has failed, is a message of its own where it cannot be believed', async () => {
    const id = await storePublished()
    await store([refailureAt(1, { id, attempt: 1 })])
    await publish(id)
    await database.sql`select dlq.archive_messages(array[${id}::uuid])`
    const letter = refailureAt(2, { id, attempt: 1 })
    expect(await store([letter], 'other.dlq.v1')).toMatchObject({ stored: 1, reopened: 0 })
    expect(await read(idOf(letter, 'other.dlq.v1'))).toMatchObject({ related_to: id, status: 'PENDING' })
    expect(await rows()).toHaveLength(1)
  })

  test('that is RETRYING is its failure before the attempt is recorded, and only of that attempt', async () => {
    const id = await storePublished()
    await database.sql`update dlq.dlq_messages set status = 'RETRYING', retry_count = 2 where id = ${id}`
    await expectStranger(id, refailureAt(1, { id, attempt: 3 }))
    expect(await store([refailureAt(2, { id, attempt: 2 })])).toMatchObject({ stored: 0, reopened: 1 })
  })
})

describe('another consumer group that fails on a republished record', () => {
  const failure = (offset: number, id: string, attempt: number, group: string) =>
    refailureAt(offset, {
      id,
      attempt,
      headers: { 'dlq-consumer-group': group, 'dlq-error-message': `${group} failed` },
    })

  test('has a message of its own, and changes nothing of the first one’s', async () => {
    const id = await storePublished()
    const before = await read(id)
    const letter = failure(1, id, 1, 'search')
    expect(await store([letter])).toMatchObject({ stored: 1, reopened: 0 })
    expect(await read(id)).toEqual(before)
    expect(await read(idOf(letter))).toMatchObject({ related_to: id, consumer_group: 'search', status: 'PENDING' })
  })

  test('finds it again: after ten rounds between two groups there are two messages, and both are DEAD', async () => {
    const id = await storePublished()
    let offset = 0
    for (let round = 0; round < 10; round += 1) {
      for (const sent of await rows()) {
        const { status, retry_count: attempt } = await read(sent)
        if (status !== 'RESOLVED') continue
        for (const group of ['billing', 'search']) await store([failure(++offset, sent, attempt, group)])
      }
      for (const waiting of await rows()) if ((await read(waiting)).status === 'PENDING') await publish(waiting)
    }
    expect(await rows()).toHaveLength(2)
    expect(await read(id)).toMatchObject({ status: 'DEAD', retry_count: 3, consumer_group: 'billing' })
    const [other] = (await rows()).filter((row) => row !== id)
    expect(await read(other!)).toMatchObject({ status: 'DEAD', retry_count: 3, consumer_group: 'search' })
  })

  test('counts once when its dead letter is read again', async () => {
    const id = await storePublished()
    const letter = failure(1, id, 1, 'search')
    await store([letter])
    const before = await read(idOf(letter))
    await emptyTables(database.sql, 'dlq.dlq_positions')
    expect(await store([letter, { ...letter, offset: 2n }])).toMatchObject({ stored: 0, reopened: 0 })
    expect(await read(idOf(letter))).toEqual(before)
  })

  test('comes back from the archive for a new failure of its own, and for none of another or one that is read again', async () => {
    const id = await storePublished()
    const [search, mail] = [failure(1, id, 1, 'search'), failure(2, id, 1, 'mail')]
    await store([search, mail])
    await publish(id)
    await database.sql`update dlq.dlq_messages set status = 'RESOLVED', next_retry_at = null`
    await database.sql`select dlq.archive_messages(array(select id from dlq.dlq_messages))`
    await emptyTables(database.sql, 'dlq.dlq_positions')
    expect(await store([search, mail])).toMatchObject({ stored: 0, reopened: 0 })
    expect(await rows()).toEqual([])
    expect(await store([failure(3, id, 2, 'search')])).toMatchObject({ stored: 0, reopened: 1 })
    expect(await rows()).not.toContain(idOf(mail))
    expect(await read(idOf(search))).toMatchObject({ status: 'PENDING', failure_count: 2 })
  })

  test('counts each of its failures where one batch has several', async () => {
    const id = await storePublished()
    const letter = failure(1, id, 1, 'search')
    await store([letter])
    for (let sent = 0; sent < 2; sent += 1) await publish(id)
    await store([failure(2, id, 2, 'search'), failure(3, id, 3, 'search')])
    expect(await read(idOf(letter))).toMatchObject({ status: 'PENDING', failure_count: 3 })
  })

  test('from a DLQ topic that may not speak for the message does not become the sibling that others find', async () => {
    const id = await storePublished()
    await expectStranger(id, failure(1, id, 1, 'search'), 'evil.dlq.v1')
    expect(await database.sql`select from dlq.dlq_siblings`).toHaveLength(0)
  })
})
