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
  expect(await stalenessOf(newer)).toEqual({ superseded: false, newer: [], advice: null })
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

test('what has another key, partition or topic, stood before, or has no place, is not newer', async () => {
  const key = newKey()
  const id = await insert(key, 10)
  const sent = { status: 'RESOLVED' } as const
  await insert(newKey(), 11, sent)
  await insert(key, 9, sent)
  await insert(key, 11, { ...sent, original_partition: 4 })
  await insert(key, 11, { ...sent, original_topic: 'shipments' })
  await insert(key, null, sent)
  const nothing = { superseded: false, newer: [], advice: null }
  expect(await stalenessOf(id)).toEqual(nothing)
  expect(await stalenessOf(await insert(null, 1))).toEqual(nothing)
  expect(await stalenessOf(await insert(key, null))).toEqual(nothing)
})
