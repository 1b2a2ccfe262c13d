// dlq_staleness: which messages are asked about, and which of them are due again when nothing newer was found.

import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { untilWaitingForLock } from 'dlq-testing/postgres/lock-waits.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, expect, test } from 'vitest'
import { smallestId } from '../../domain/record/message-id.ts'
import { countFailures } from '../ingest/message-reopen.ts'
import { writeOriginState } from '../origin/origins.ts'
import { assignOrderKeys } from '../retry/order-keys.ts'
import { writeDecoded } from '../schemas/waiting-messages.ts'
import { askAgain, enterOpen, forgetSettled, listUndecided, writeDecided, writeFresh, writeUnknown } from './answers.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const placed = {
  ...{ original_topic: 'orders', original_partition: 0, original_offset: 7, record_key: Buffer.from('k') },
  next_retry_at: null,
}

beforeEach(() => emptyTables(database.sql, 'dlq.dlq_staleness', 'dlq.dlq_staleness_cursors', 'dlq.dlq_messages'))

/** A message that its policy held when it was due by itself. */
async function holdOne(row: Record<string, unknown> = {}): Promise<string> {
  const id = await insertMessageRow(database.sql, { ...placed, ...row })
  await database.sql`
    insert into dlq.dlq_staleness (message_id, original_topic, partition, original_offset, answer, held_at)
    select id, 'orders', 0, 7, 'waiting', updated_at from dlq.dlq_messages where id = ${id}`
  return id
}
const timeOf = async (id: string) => (await readMessageRow(database.sql, id)).next_retry_at

test('what may still be sent is asked about, and nothing that is sent or held by its route', async () => {
  const ids = await Promise.all(
    (['PENDING', 'RETRYING', 'DEAD', 'RESOLVED'] as const).map((status) =>
      insertMessageRow(database.sql, { ...placed, status }),
    ),
  )
  await insertMessageRow(database.sql, { ...placed, held_by_route: true })
  await enterOpen(service.sql, { original_topic: 'orders', dlq_topic: null, after: smallestId, limit: 10 })
  const asked = await database.sql`select message_id from dlq.dlq_staleness order by message_id`
  expect(asked.map(({ message_id }) => message_id)).toEqual(ids.slice(0, 3).toSorted())
})

test('what was held and is fresh is due again, unless somebody has changed it since, or something else holds it', async () => {
  const [held, changed] = [await holdOne(), await holdOne()]
  const others = [await holdOne({ held_by_route: true }), await holdOne({ origin_state: 13 })]
  await database.sql`
    update dlq.dlq_staleness set held_at = held_at - interval '1 second' where message_id = ${changed}`
  await writeFresh(service.sql, [held, changed, ...others])
  expect(await timeOf(held)).toBeInstanceOf(Date)
  for (const id of [changed, ...others]) expect(await timeOf(id)).toBeNull()
})

test('what a service notes about a held message is no change: it is due again all the same', async () => {
  const record = { record_value: Buffer.from([0]) }
  const ids = [await holdOne(), await holdOne(), await holdOne(record), await holdOne(record), await holdOne()] as const
  const [, compared, decoded, undecodable, failed] = ids
  await assignOrderKeys(service.sql, { topic: 'orders', afterId: smallestId, limit: 1 })
  await service.sql.begin(async (sql) => {
    await writeOriginState(sql, { id: compared, stored: 1, nextRetryAt: null })
    const schema = { value_schema: 1, decode_state: 3 }
    await writeDecoded(
      sql,
      [decoded, undecodable].map((id) => ({ id, payload: id === decoded ? '{}' : null, ...schema })),
    )
    await countFailures(sql, [failed])
  })
  await writeFresh(service.sql, ids)
  for (const id of ids) expect(await timeOf(id)).toBeInstanceOf(Date)
})

test('what somebody gives up at the same time stays so', async () => {
  const id = await holdOne()
  const { writing } = await database.sql.begin(async (sql) => {
    await sql`update dlq.dlq_messages set status = 'DEAD' where id = ${id}`
    const writing = writeFresh(service.sql, [id])
    await untilWaitingForLock(database)
    return { writing }
  })
  await writing
  expect(await readMessageRow(database.sql, id)).toMatchObject({ status: 'DEAD', next_retry_at: null })
})

/** An answer about a message at this offset. */
async function answer(offset: number, known: Record<string, unknown>, status = 'PENDING'): Promise<string> {
  const id = await insertMessageRow(database.sql, { ...placed, original_offset: offset, status })
  const row = { message_id: id, original_topic: 'orders', partition: 0, original_offset: offset, ...known }
  await database.sql`insert into dlq.dlq_staleness ${database.sql(row)}`
  return id
}
const answers = async () => {
  const rows = await database.sql`
    select original_topic, partition, original_offset::int as at, answer, reason from dlq.dlq_staleness
    order by original_topic, partition, original_offset`
  return rows.map(({ original_topic, partition, at, answer, reason }) =>
    [original_topic, partition, at, answer, reason].filter((value) => value !== null).join(' '),
  )
}

test('answers about messages that are sent or gone are forgotten, and those of open ones and other topics stay', async () => {
  await answer(1, { answer: 'superseded' })
  await answer(2, { answer: 'superseded' }, 'RESOLVED')
  await answer(3, { answer: 'unknown' }, 'DEAD')
  const gone = await answer(4, { answer: 'unknown' })
  await database.sql`delete from dlq.dlq_messages where id = ${gone}`
  await answer(5, { answer: 'superseded', original_topic: 'payments' }, 'RESOLVED')
  await forgetSettled(service.sql, 'orders')
  expect(await answers()).toEqual(['orders 0 1 superseded', 'orders 0 3 unknown', 'payments 0 5 superseded'])
})

test('only what Kafka refused to tell of is asked about again, and only of this topic', async () => {
  const refused = { answer: 'unknown', reason: 'not_allowed' }
  await answer(1, refused)
  await answer(2, { answer: 'unknown', reason: 'retention' })
  await answer(3, { answer: 'superseded' })
  await answer(4, { ...refused, original_topic: 'payments' })
  await askAgain(service.sql, 'orders')
  expect(await answers()).toEqual([
    ...['orders 0 1 waiting', 'orders 0 2 unknown retention', 'orders 0 3 superseded'],
    'payments 0 4 unknown not_allowed',
  ])
})

test('what is decided stays decided, and a bound holds from its offset on, in its partition', async () => {
  const decided = await answer(3, { answer: 'superseded' })
  const fresh = await answer(2, { answer: 'fresh' })
  await answer(1, { answer: 'waiting' })
  await answer(4, { answer: 'fresh' })
  await answer(5, { answer: 'waiting' })
  await answer(6, { answer: 'waiting', partition: 1 })
  const place = { original_topic: 'orders', partition: 0 }
  const listed = async (limit: number) =>
    (await listUndecided(service.sql, { ...place, limit })).map((row) => Number(row.original_offset))
  expect([await listed(9), await listed(2)]).toEqual([
    [1, 2, 4, 5],
    [1, 2],
  ])
  await writeUnknown(service.sql, { ...place, fromOffset: 4n, reason: 'beyond_bound' })
  const newer = { newer_offset: 9n, newer_at: null, reason: null }
  await writeDecided(service.sql, [
    { id: fresh, answer: 'superseded', ...newer },
    { id: decided, answer: 'unknown', ...newer, reason: 'retention' },
  ])
  expect(await answers()).toEqual([
    ...['orders 0 1 waiting', 'orders 0 2 superseded', 'orders 0 3 superseded'],
    ...['orders 0 4 unknown beyond_bound', 'orders 0 5 unknown beyond_bound', 'orders 1 6 waiting'],
  ])
})
