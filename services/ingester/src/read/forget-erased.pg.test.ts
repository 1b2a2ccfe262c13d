// What ingesters store of records whose key or message was erased.

import { randomUUID } from 'node:crypto'
import { erasureKey, idDigest, keyDigest, placeDigest } from 'dlq-core/domain/erase/erasure-digest.ts'
import { readDeadLetter } from 'dlq-core/domain/message/new-message.ts'
import type { RecordPlace } from 'dlq-core/domain/record/record-place.ts'
import { beginErasure, insertErasures } from 'dlq-core/queries/erase/erasures.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { expect, test } from 'vitest'
import { batchOf, partition, recordAt, refailureAt, storeBatch, storeDeps } from '../store/test-batch.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const hourMs = 3_600_000n

async function erase({
  keys = [],
  ids = [],
  places = [],
  topics = null,
}: {
  keys?: string[]
  ids?: string[]
  places?: RecordPlace[]
  topics?: string[] | null
}): Promise<void> {
  await service.sql.begin(async (sql) => {
    const { hmacKey, cutoff } = await beginErasure(sql, { newKey: Buffer.alloc(32, 7) })
    const digestKey = erasureKey(hmacKey)
    const digests = [
      ...keys.map((key) => keyDigest(digestKey, Buffer.from(key))),
      ...ids.map((id) => idDigest(digestKey, id)),
      ...places.map((place) => placeDigest(digestKey, place)),
    ]
    await insertErasures(sql, { runId: randomUUID(), hmacKey, digests, topics, cutoff })
  })
}

const store = (record: ReturnType<typeof recordAt>, more = {}) =>
  storeBatch({ ...storeDeps(service.sql), ...more }, batchOf([record]), { lowOffset: record.offset })
const idOf = (record: ReturnType<typeof recordAt>) =>
  readDeadLetter(record, storeDeps(service.sql).settings, new Date(), 0).message.id
const now = () => BigInt(Date.now())

test('an older record of an erased key is stored without what it holds, and its error group with no text of it', async () => {
  await erase({ keys: ['maria'] })
  const old = recordAt(0, { key: Buffer.from('maria'), value: '"secret-17"', timestamp: now() - hourMs })
  await store({ ...old, headers: [...old.headers, ['note', Buffer.from('secret-17')]] })
  expect(await readMessageRow(database.sql, idOf(old))).toMatchObject({
    ...{ status: 'DEAD', error_message: 'erased', record_key: null, record_value: null, record_headers: null },
    ...{ payload: null, next_retry_at: null, erased_at: expect.any(Date) },
  })
  const [groups] = await database.sql`select count(*)::int as n from dlq.dlq_groups g where g::text like '%no stock 0%'`
  expect(groups!.n).toBe(0)
})

test('a key that was erased of all topics, and then of others again, is erased in all topics', async () => {
  await erase({ keys: ['vera'] })
  for (const topic of ['payments', 'invoices', 'returns', 'claims']) await erase({ keys: ['vera'], topics: [topic] })
  const old = recordAt(5, { key: Buffer.from('vera'), timestamp: now() - hourMs })
  await store(old)
  expect(await readMessageRow(database.sql, idOf(old))).toMatchObject({ error_message: 'erased', record_key: null })
})

test('a newer record of the key, and one of another key, are stored as ever', async () => {
  await erase({ keys: ['maria'] })
  const newer = recordAt(10, { key: Buffer.from('maria'), timestamp: now() + hourMs })
  const other = recordAt(11, { key: Buffer.from('anna'), timestamp: now() - hourMs })
  for (const record of [newer, other]) {
    await store(record)
    expect(await readMessageRow(database.sql, idOf(record))).toMatchObject({ status: 'PENDING', erased_at: null })
  }
})

test('a failure of an erased message is counted, and nothing of it is stored', async () => {
  const id = await insertMessageRow(database.sql, {
    ...{ status: 'DEAD', erased_at: new Date(), error_message: 'erased', original_topic: 'orders.events.v1' },
    ...{ dlq_cluster: 'c', dlq_topic: partition.topic, dlq_partition: 0, dlq_offset: 1, retry_count: 1 },
  })
  await database.sql`
    insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome) values (${id}, 1, gen_random_uuid(), 'published')`
  await erase({ ids: [id] })
  await store(refailureAt(20, { id, attempt: 1, value: '"secret-18"' }))
  expect(await readMessageRow(database.sql, id)).toMatchObject({
    status: 'DEAD',
    error_message: 'erased',
    failure_count: 2,
  })
  const [found] = await database.sql`
    select (select count(*) from dlq.dlq_messages m where m::text like '%secret-18%')::int
         + (select count(*) from dlq.dlq_attempts a where a::text like '%again 20%')::int
         + (select count(*) from dlq.dlq_groups g where g::text like '%again%')::int as n`
  expect(found!.n).toBe(0)
})

test('neither is where the consumer has dropped our headers: the place of the retry says whose failure it is', async () => {
  const id = await insertMessageRow(database.sql, {
    ...{ status: 'DEAD', erased_at: new Date(), error_message: 'erased', original_topic: 'orders.events.v1' },
    ...{ dlq_cluster: 'c', dlq_topic: partition.topic, dlq_partition: 0, dlq_offset: 2, retry_count: 1 },
  })
  await database.sql`
    insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome, target_topic, target_partition, target_offset)
    values (${id}, 1, gen_random_uuid(), 'published', 'orders.events.v1', 3, 77)`
  await erase({ ids: [id] })
  const place = { 'dlq-original-partition': '3', 'dlq-original-offset': '77' }
  const headers = { ...place, 'dlq-error-message': 'no such secretive word' }
  await store(recordAt(25, { value: '"secretive"', headers }))
  expect(await readMessageRow(database.sql, id)).toMatchObject({ error_message: 'erased', failure_count: 2 })
  const [found] = await database.sql`
    select (select count(*) from dlq.dlq_messages m where m::text like '%secretive%')::int
         + (select count(*) from dlq.dlq_attempts a where a::text like '%secretive%')::int
         + (select count(*) from dlq.dlq_groups g where g::text like '%secretive%')::int as n`
  expect(found!.n).toBe(0)
})

test('an erasure between two batches of an ingester is seen before the group of the second one is made known', async () => {
  const deps = storeDeps(service.sql)
  const record = (offset: number, message: string) =>
    recordAt(offset, {
      ...{ key: Buffer.from('otto'), timestamp: now() - hourMs },
      headers: { 'dlq-error-message': message },
    })
  const [first, second] = [record(28, 'no stock'), record(29, 'confidential')]
  await storeBatch(deps, batchOf([first]), { lowOffset: 28n })
  await erase({ keys: ['otto'] })
  await storeBatch(deps, batchOf([second]), { lowOffset: 29n })
  expect(await readMessageRow(database.sql, idOf(second))).toMatchObject({ error_message: 'erased' })
  const [groups] =
    await database.sql`select count(*)::int as n from dlq.dlq_groups g where g::text like '%confidential%'`
  expect(groups!.n).toBe(0)
})

test('an erasure that begins after a batch was read is seen before the batch is stored', async () => {
  const record = recordAt(30, { key: Buffer.from('late'), timestamp: now() - hourMs })
  let isFirst = true
  // The step behind the look at what is erased.
  const groups = storeDeps(service.sql).groups
  const assign: typeof groups.assign = async (letters) => {
    if (isFirst) await erase({ keys: ['late'] })
    isFirst = false
    return groups.assign(letters)
  }
  await store(record, { groups: { ...groups, assign } })
  expect(await readMessageRow(database.sql, idOf(record))).toMatchObject({ error_message: 'erased', record_key: null })
})

test('an older record of an erased key is stored without its stack trace, also where the frames in it are known', async () => {
  await erase({ keys: ['eve'] })
  const deps = storeDeps(service.sql)
  const frames = Array.from({ length: 30 }, (_, at) => `\tat com.example.Orders.step${at}(Orders.java:${at})\n`).join(
    '',
  )
  const timestamp = now() - hourMs
  const records = ['adam', 'adam', 'adam', 'eve'].map((key, at) =>
    recordAt(40 + at, {
      ...{ key: Buffer.from(key), timestamp },
      headers: { 'dlq-error-stacktrace': `com.example.Failed: ${key} of secret-19\n${frames}` },
    }),
  )
  for (const record of records) await storeBatch(deps, batchOf([record]), { lowOffset: record.offset })
  expect((await readMessageRow(database.sql, idOf(records[2]!))).frames_id).not.toBeNull()
  expect(await readMessageRow(database.sql, idOf(records[3]!))).toMatchObject({
    ...{ error_message: 'erased', error_stacktrace: null, frames_id: null, record_headers: null },
  })
})

test('a failure of an erased message whose row is deleted is known by the place of its retry; a later record there is stored as ever', async () => {
  await erase({ places: [{ topic: 'orders.events.v1', partition: 3, offset: 78n }] })
  const failed = (offset: number, place: number, timestamp: bigint) =>
    recordAt(offset, {
      ...{ value: '"secret-20"', timestamp },
      headers: { 'dlq-original-partition': '3', 'dlq-original-offset': String(place) },
    })
  const records = [failed(50, 78, now() - hourMs), failed(51, 78, now() + hourMs), failed(52, 79, now() - hourMs)]
  for (const record of records) await store(record)
  const stored = await Promise.all(records.map((record) => readMessageRow(database.sql, idOf(record))))
  expect(stored.map(({ record_value }) => record_value === null)).toEqual([true, false, false])
})
