// When a message is due, once it is known what stands at its original coordinates.

import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, type MessageColumns, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { expect, test } from 'vitest'
import { storedOrigin } from '../../domain/origin/origin-state.ts'
import { writeOriginState } from './origins.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const isHeld = storedOrigin({ state: 'value_lost', isHeld: true })
const isFree = storedOrigin({ state: 'same', isHeld: false })
const [before, after] = [new Date('2030-01-01'), new Date('2031-01-01')]

test.each<[string, MessageColumns, number, Date | null]>([
  ['held from now on', { next_retry_at: before }, isHeld, null],
  ['held, and somebody has asked for it', { next_retry_at: before, retry_requested: true }, isHeld, before],
  ['no longer held', { next_retry_at: null, origin_state: isHeld }, isFree, after],
  [
    'no longer held, but its route holds it',
    { next_retry_at: null, origin_state: isHeld, held_by_route: true },
    isFree,
    null,
  ],
  ['not held, as before', { next_retry_at: before }, isFree, before],
  ['only retried when somebody asks, as before', { next_retry_at: null }, isFree, null],
  ['no longer held, but given up', { status: 'DEAD', next_retry_at: null, origin_state: isHeld }, isFree, null],
])('a message that is %s', async (_, row, stored, due) => {
  const id = await insertMessageRow(database.sql, row)
  await writeOriginState(service.sql, { id, stored, nextRetryAt: after })
  expect(await readMessageRow(database.sql, id)).toMatchObject({ origin_state: stored, next_retry_at: due })
})

test('a message from before the subscription of its DLQ topic has no time once it is no longer held', async () => {
  await database.sql`
    insert into dlq.dlq_positions (cluster, topic, partition, next_offset, manual_below) values ('c', 'orders.dlq.v1', 0, 20, 10)`
  const place = { dlq_cluster: 'c', dlq_topic: 'orders.dlq.v1', dlq_partition: 0 }
  for (const [dlq_offset, due] of [
    [9, null],
    [10, after],
  ] as const) {
    const id = await insertMessageRow(database.sql, { ...place, dlq_offset, origin_state: isHeld, next_retry_at: null })
    await writeOriginState(service.sql, { id, stored: isFree, nextRetryAt: after })
    expect((await readMessageRow(database.sql, id)).next_retry_at).toEqual(due)
  }
})
