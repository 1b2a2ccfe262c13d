// dlq_staleness: which messages are asked about, and which of them are due again when nothing newer was found.

import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { untilWaitingForLock } from 'dlq-testing/postgres/lock-waits.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, expect, test } from 'vitest'
import { smallestId } from '../../domain/record/message-id.ts'
import { enterOpen, writeFresh } from './answers.ts'

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

test('what was held and is fresh is due again, unless somebody has changed it since, or its route holds it', async () => {
  const [held, changed, closed] = [await holdOne(), await holdOne(), await holdOne({ held_by_route: true })]
  await database.sql`
    update dlq.dlq_staleness set held_at = held_at - interval '1 second' where message_id = ${changed}`
  await writeFresh(service.sql, [held, changed, closed])
  expect([await timeOf(held), await timeOf(changed), await timeOf(closed)]).toEqual([expect.any(Date), null, null])
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
