// Order keys of messages that are stored already: which topic gets them when.

import { smallestId } from 'dlq-core/domain/record/message-id.ts'
import { assignOrderKeys } from 'dlq-core/queries/retry/order-keys.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { nodesOf, planCacheModes, plansOf } from 'dlq-testing/postgres/statement-plans.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { beforeEach, expect, test } from 'vitest'
import { createTopicOrder } from './topic-order.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

beforeEach(() => emptyTables(database.sql, 'dlq.dlq_messages'))

const insert = (topic: string, count: number, status = 'PENDING') => database.sql`
  insert into dlq.dlq_messages (original_topic, error_message, record_key, status)
  select ${topic}, 'failed', convert_to('key', 'UTF8'), ${status} from generate_series(1, ${count}::int)`

test('a topic waits neither for the first walk of a larger one nor for its second', async () => {
  await insert('large', 5000)
  await insert('small', 1)
  let now = 0
  const order = createTopicOrder(service.sql, { now: () => now })
  order.isReady('large')
  order.isReady('small')
  for (let passes = 0; passes < 4; passes += 1) await order.pass()
  expect([order.isReady('small'), order.isReady('large')]).toEqual([true, false])
  while ((await order.pass()).more);
  expect(order.isReady('large')).toBe(true)

  await insert('later', 1)
  now = 10_000
  order.isReady('later')
  for (let passes = 0; passes < 2; passes += 1) await order.pass()
  expect(order.isReady('later')).toBe(true)
})

test('a second walk gives keys to what an ingester stored by the former policy, and there is no third', async () => {
  let now = 0
  const order = createTopicOrder(service.sql, { now: () => now })
  const walk = async () => {
    while ((await order.pass()).more);
    const [row] = await database.sql`select count(*)::int as n from dlq.dlq_messages where order_key is null`
    return row!.n
  }
  order.isReady('orders')
  const left: number[] = []
  for (const at of [0, 4000, 6000, 12_000]) {
    now = at
    left.push(await walk())
    await insert('orders', 1)
  }
  expect(left).toEqual([0, 1, 0, 1])
})

test.each(planCacheModes)(
  'a walk reads what waits of its topic, and not the rows of others (%s)',
  async (planCacheMode) => {
    await insert('orders', 3000, 'RESOLVED')
    await insert('orders', 10)
    await insert('payments', 3000)
    await database.sql`vacuum analyze dlq.dlq_messages`
    const ids: (string | null)[] = []
    const plans = await plansOf(database.url, planCacheMode, async (sql) => {
      const walk = (afterId: string) => assignOrderKeys(sql, { topic: 'orders', afterId, limit: 50 })
      ids.push(await walk(smallestId))
      ids.push(await walk(ids[0]!))
    })
    expect(ids).toEqual([expect.any(String), null])
    const scans = plans.flatMap(nodesOf).filter((node) => node['Node Type'].includes('Scan'))
    const rows = scans.reduce(
      (sum, node) => sum + (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'],
      0,
    )
    expect(rows).toBeLessThan(500)
  },
)
