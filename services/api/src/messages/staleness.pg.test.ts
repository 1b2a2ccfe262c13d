// What the detail of a message says of newer dead letters of its key.

import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, type MessageColumns } from 'dlq-testing/rows/message-rows.ts'
import { expect, test } from 'vitest'
import { answerOf, createTestApp } from '../test-app.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

let keys = 0
const newKey = () => Buffer.from(`${'a long beginning that many keys share, '.repeat(3)}${keys++}`)
const insert = (key: Buffer | null, offset: number | null, columns: MessageColumns = {}) =>
  insertMessageRow(database.sql, {
    ...{ original_topic: 'orders', original_partition: 3, original_offset: offset, record_key: key },
    ...{ consumer_group: 'billing', ...columns },
  })
// biome-ignore lint/suspicious/noExplicitAny: the answer is compared, not used
const stalenessOf = async (id: string): Promise<any> => {
  const { body } = await answerOf(createTestApp(service.sql)(`GET /api/v1/dlq/messages/${id}`))
  return (body as { staleness: object }).staleness
}

test('a later dead letter of the key that was sent makes a message superseded', async () => {
  const key = newKey()
  const id = await insert(key, 10)
  const newer = await insert(key, 11, { status: 'RESOLVED' })
  expect(await stalenessOf(id)).toMatchObject({
    superseded: true,
    newer: [{ id: newer, status: 'RESOLVED', original_offset: '11' }],
    advice: expect.stringContaining('offset 11'),
  })
  // The other way round nothing is newer.
  expect(await stalenessOf(newer)).toEqual({ superseded: false, newer: [], guard: null, advice: null })
})

test('one that waits as well is told to be sent after it', async () => {
  const key = newKey()
  const id = await insert(key, 10)
  await insert(key, 12)
  expect(await stalenessOf(id)).toMatchObject({ superseded: false, advice: expect.stringContaining('per-key') })
})

test('one that only another group failed on was read by this one', async () => {
  const key = newKey()
  const id = await insert(key, 10, { consumer_group: 'billing-retry-0' })
  await insert(key, 12, { consumer_group: 'billing' })
  expect((await stalenessOf(id)).superseded).toBe(false)
  await insert(key, 13, { consumer_group: 'search' })
  expect(await stalenessOf(id)).toMatchObject({ superseded: true, advice: expect.stringContaining('search') })
})

test('a claim of another DLQ topic whose route is closed is not newer; one of its own is', async () => {
  const key = newKey()
  const held = { held_by_route: true, status: 'RESOLVED' } as const
  const id = await insert(key, 10, { dlq_topic: 'orders.dlq.v1' })
  await insert(key, 11, { ...held, dlq_topic: 'another.dlq.v1', consumer_group: 'search' })
  expect(await stalenessOf(id)).toMatchObject({ superseded: false, newer: [] })
  const claim = await insert(key, 10, { held_by_route: true, dlq_topic: 'another.dlq.v1' })
  expect(await stalenessOf(claim)).toMatchObject({ superseded: true, newer: [{ original_offset: '11' }] })
})

test('what has another key, partition or topic, stood before, or has no place, is not newer', async () => {
  const key = newKey()
  const id = await insert(key, 10)
  const sent = { status: 'RESOLVED' } as const
  await insert(newKey(), 11, sent)
  await insert(key, 9, sent)
  await insert(key, 11, { ...sent, original_partition: 4 })
  await insert(key, 11, { ...sent, original_topic: 'shipments' })
  await insert(key, null, sent)
  const nothing = { superseded: false, newer: [], guard: null, advice: null }
  expect(await stalenessOf(id)).toEqual(nothing)
  expect(await stalenessOf(await insert(null, 1))).toEqual(nothing)
  expect(await stalenessOf(await insert(key, null))).toEqual(nothing)
})

test('what a retrier found is said where the policy asks; under "hold" a retry needs force and a reason', async () => {
  const id = await insert(newKey(), 10, { original_topic: 'guarded' })
  const found = { message_id: id, original_topic: 'guarded', partition: 3, original_offset: 10 }
  await database.sql`insert into dlq.dlq_staleness ${database.sql({ ...found, answer: 'superseded', newer_offset: 17 })}`
  expect(await stalenessOf(id)).toMatchObject({ superseded: false, guard: null, advice: null })

  await database.sql`insert into dlq.dlq_policies (pattern, staleness) values ('guarded', 'warn')`
  const guard = { policy: 'warn', answer: 'superseded', newer_offset: '17', reason: null, fresh_to: null }
  const warned = await stalenessOf(id)
  expect(warned).toMatchObject({ superseded: true, guard, advice: expect.stringContaining('offset 17') })
  const unseen = await insert(newKey(), 11, { original_topic: 'guarded' })
  expect(await stalenessOf(unseen)).toMatchObject({ superseded: false, guard: { answer: 'waiting' }, advice: null })

  await database.sql`update dlq.dlq_policies set staleness = 'hold' where pattern = 'guarded'`
  const app = createTestApp(service.sql)
  const { body } = await answerOf(app(`GET /api/v1/dlq/messages/${id}`))
  expect(body).toMatchObject({ retryable: false, held_up_by: [expect.stringContaining('the policy holds it')] })
  const retry = (asked: object) =>
    answerOf(
      app(`POST /api/v1/dlq/messages/${id}/retry`, {
        headers: { 'content-type': 'application/json', prefer: 'wait=0' },
        body: JSON.stringify(asked),
      }),
    )
  const refused = await retry({})
  expect(refused).toMatchObject({ status: 409, body: { error: { message: expect.stringContaining('offset 17') } } })
  expect((await retry({ force: true })).status).toBe(400)
  const forced = await retry({ force: true, reason: 'the newer one failed as well' })
  expect(forced.status).toBe(202)
  const [row] = await database.sql`select forced_attempt from dlq.dlq_staleness where message_id = ${id}`
  expect(row).toEqual({ forced_attempt: 1 })
})
