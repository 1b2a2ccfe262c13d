// Somebody holds a row that the records of one partition need. The other partitions are stored meanwhile, and these when
// the row is free.
import { eventually } from 'dlq-testing/eventually.ts'
import { useFleet } from 'dlq-testing/fleet/test-fleet.ts'
import { beforeAll, expect, test } from 'vitest'

const rounds = 5
const fleet = useFleet('locked-partition', {
  partitions: 2,
  env: { DLQ_RETRY_AUTO_RETRY: 'false', DLQ_DATABASE_STATEMENT_TIMEOUT: '3s' },
})

beforeAll(() => fleet.services.startAll())

const counts = async () => {
  const rows = await fleet.database.sql<{ partition: number; count: number }[]>`
    select dlq_partition as partition, count(*)::int as count from dlq.dlq_messages group by 1 order by 1`
  return rows.map(({ count }) => count)
}
const send = (partition: number) =>
  fleet.producer.send({ topic: fleet.dlq, messages: [{ partition, value: `to ${partition}` }] })

test('a partition that waits for a locked row does not hold up the others, and is stored whole afterwards', async () => {
  for (const partition of [0, 1]) await send(partition)
  await eventually(async () => expect(await counts()).toEqual([1, 1]), { intervalMs: 100 })
  await fleet.database.sql.begin(async (sql) => {
    await sql`select from dlq.dlq_positions where partition = 0 for update`
    for (let round = 1; round <= rounds; round++) {
      for (const partition of [0, 1]) await send(partition)
      await eventually(async () => expect(await counts()).toEqual([1, 1 + round]), { intervalMs: 100 })
    }
  })
  await eventually(async () => expect(await counts()).toEqual([1 + rounds, 1 + rounds]), { intervalMs: 100 })
})
