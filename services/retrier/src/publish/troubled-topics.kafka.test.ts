// Target topics with which something is wrong, although Kafka answers: what goes to others is sent.

import { createTopics } from 'dlq-testing/kafka/create-topics.ts'
import { useTopics } from 'dlq-testing/kafka/test-topics.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertDueRows } from 'dlq-testing/rows/due-rows.ts'
import { beforeEach, expect, test } from 'vitest'
import { createSlotWorker } from '../slot/run-slot.ts'
import { testSlotDeps } from '../test-retrier.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const topics = useTopics()

beforeEach(() => emptyTables(database.sql, 'dlq.dlq_attempts', 'dlq.dlq_messages'))

test('a topic that was created again with fewer partitions does not hold up the others, and is sent to where it has some', async () => {
  const [orders, payments] = [
    await topics.createTopic('orders', { partitions: 2 }),
    await topics.createTopic('payments', { partitions: 2 }),
  ]
  const deps = testSlotDeps(
    { sql: service.sql, kafka: topics.kafka, prefix: topics.groupName('troubled') },
    // Nobody has to wait for what was left alone.
    { cooldown: { has: () => false, add() {} } },
  )
  const worker = createSlotWorker(deps)
  try {
    await insertDueRows(database.sql, { count: 4, topics: [orders, payments], partitions: 2 })
    expect(await worker.pass()).toMatchObject({ published: 4 })

    await topics.admin.deleteTopics({ topics: [payments] })
    await expect.poll(async () => (await topics.admin.listTopics()).includes(payments)).toBe(false)
    await createTopics(topics.admin, [{ topic: payments, numPartitions: 1 }])
    await insertDueRows(database.sql, { count: 8, topics: [orders, payments], partitions: 2 })
    expect(await worker.pass()).toMatchObject({ published: 4, refused: 0, released: 4 })

    await database.sql`update dlq.dlq_messages set next_retry_at = now() where status = 'PENDING'`
    expect(await worker.pass()).toMatchObject({ published: 4, refused: 0, released: 0 })
  } finally {
    await worker.close()
    await deps.targets.close()
  }
})
