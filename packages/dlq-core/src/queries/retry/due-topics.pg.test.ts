// Which topics have due messages, and that the known ones are neither listed nor read.
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { blocksOf, planCacheModes, plansOf } from 'dlq-testing/postgres/statement-plans.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, type MessageColumns } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, expect, test } from 'vitest'
import { listDueTopics } from './due-topics.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

beforeEach(() => emptyTables(database.sql, 'dlq.dlq_messages'))

const ago = (seconds: number) => new Date(Date.now() - seconds * 1000)
const insertDue = (columns: MessageColumns = {}) =>
  insertMessageRow(database.sql, { original_topic: 'orders', next_retry_at: ago(60), ...columns })

test('are those with due messages, each with the DLQ topic and the time of the one due longest', async () => {
  await insertDue({ dlq_topic: 'young.dlq.v1', next_retry_at: ago(10) })
  const since = { orders: ago(20), payments: ago(1) }
  await insertDue({ dlq_topic: 'old.dlq.v1', next_retry_at: since.orders })
  await insertDue({ original_topic: 'payments', next_retry_at: since.payments })
  await insertDue({ original_topic: 'later', next_retry_at: ago(-60) })
  await insertDue({ original_topic: 'manual', next_retry_at: null })
  await insertDue({ original_topic: 'done', status: 'RESOLVED' })
  expect([...(await listDueTopics(service.sql))]).toEqual([
    { original_topic: 'orders', dlq_topic: 'old.dlq.v1', due_at: since.orders },
    { original_topic: 'payments', dlq_topic: null, due_at: since.payments },
  ])
})

test('known topics are left out, wherever they stand among the others', async () => {
  const topics = ['Orders', 'a.b', 'a_b', 'orders', 'orders-2']
  for (const original_topic of topics)
    for (const seconds of [10, 20]) await insertDue({ original_topic, next_retry_at: ago(seconds) })
  await insertDue({ original_topic: 'a.later', next_retry_at: ago(-60) })
  const names = [...topics, 'nothing-due']
  for (let chosen = 0; chosen < 2 ** names.length; chosen += 1) {
    const known = names.filter((_, at) => chosen & (1 << at))
    const found = (await listDueTopics(service.sql, known)).map(({ original_topic }) => original_topic)
    expect(found.toSorted()).toEqual(topics.filter((topic) => !known.includes(topic)))
  }
})

test.each(planCacheModes)('with %s what known topics have is not read', async (mode) => {
  await database.sql`
    insert into dlq.dlq_messages (original_topic, error_message, next_retry_at)
    select 'topic-' || n % 2, 'processing failed', now() - interval '1 hour' from generate_series(1, 20000) n`
  await insertDue({ original_topic: 'topic-00' })
  await database.sql`vacuum analyze dlq.dlq_messages`
  const plans = await plansOf(database.url, mode, (sql) => listDueTopics(sql, ['topic-0', 'topic-1']))
  expect(Math.max(...plans.map(blocksOf))).toBeLessThan(100)
})
