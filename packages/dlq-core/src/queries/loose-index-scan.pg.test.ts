// Tests which rows it finds, and that it does not read them all. The tests of plans check the index of each caller.
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { blocksOf, nodesOf, planCacheModes, plansOf } from 'dlq-testing/postgres/statement-plans.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { beforeAll, expect, test } from 'vitest'
import { looseIndexScan, type TopicWalk } from './loose-index-scan.ts'
import type { Sql } from './sql.ts'
import { sqlText, sqlWords, toQuery } from './sql-text.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const all = sqlWords('true')

const scan = async (sql: Sql, walk: TopicWalk) => [...(await toQuery(sql, looseIndexScan(walk)))]

beforeAll(async () => {
  await database.sql`
    insert into dlq.dlq_messages (original_topic, dlq_topic, error_message, status, next_retry_at)
    select 'topic-' || n % 5, case when n % 5 < 3 then 'dlq-' || n % 5 end, n::text,
           case when n % 5 < 2 then 'PENDING' else 'DEAD' end,
           case when n % 5 < 2 then timestamptz '2031-01-01T00:00:00Z' + n % 1000 * interval '1 minute' end
    from generate_series(1, 30000) n`
  await database.sql`vacuum analyze dlq.dlq_messages`
})

test('each topic is found once, in the order of the names', async () => {
  const originals = await scan(service.sql, { where: all })
  expect(originals.map(({ original_topic }) => original_topic)).toEqual([0, 1, 2, 3, 4].map((n) => `topic-${n}`))
})

test('the first row of each topic that the condition allows represents it, with its further columns', async () => {
  const found = await scan(service.sql, {
    where: sqlText`m.status = ${'PENDING'} and m.next_retry_at is not null`,
    ...{ columns: ['dlq_topic', 'next_retry_at'], firstBy: ['next_retry_at', 'id'] },
  })
  expect(found).toEqual([
    { original_topic: 'topic-0', dlq_topic: 'dlq-0', next_retry_at: new Date('2031-01-01T00:00Z') },
    { original_topic: 'topic-1', dlq_topic: 'dlq-1', next_retry_at: new Date('2031-01-01T00:01Z') },
  ])
})

test('nothing is found where no row is allowed', async () => {
  expect(await scan(service.sql, { where: sqlText`m.status = ${'RETRYING'}` })).toEqual([])
})

test.each(planCacheModes)('with %s it reads a few blocks per topic', async (mode) => {
  const walk: TopicWalk = { where: all }
  const plans = await plansOf(database.url, mode, (sql) => scan(sql, walk))
  expect(Math.max(...plans.map(blocksOf))).toBeLessThan(150)
  const types = new Set(plans.flatMap(nodesOf).map((node) => node['Node Type']))
  expect([...types].filter((type) => type.startsWith('Seq'))).toEqual([])
})
