import { randomUUID } from 'node:crypto'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { expect, test } from 'vitest'
import { type SettledAttempt, settleAttempts } from './attempts.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

const errors = ['a "quoted", {braced} \\ text\nof two lines', 'NULL', '', 'null', '🚚', null]

test('attempts are stored as they ended, whatever text, number or null they have', async () => {
  const attempts = errors.map(
    (error, at): SettledAttempt => ({
      ...{ message_id: randomUUID(), number: at + 1, attempt_id: randomUUID(), error },
      outcome: at === 0 ? 'unknown' : error === null ? 'published' : 'failed',
      ...{ slot: at === 1 ? null : at, run_id: at === 2 ? randomUUID() : null },
      ...{ target_topic: `orders.${at}`, target_partition: at === 3 ? null : at },
      target_offset: at === 3 ? null : 9_007_199_254_740_993n + BigInt(at),
    }),
  )
  await settleAttempts(service.sql, { attempts })

  const stored = await service.sql<SettledAttempt[]>`
    select message_id, number, attempt_id, outcome, slot, run_id, target_topic, target_partition, target_offset, error
    from dlq.dlq_attempts order by number`
  expect([...stored]).toEqual(attempts)
  const [unknown] = await service.sql`select count(*)::int as n from dlq.dlq_attempts where unknown_at is not null`
  expect(unknown!.n).toBe(1)
})
