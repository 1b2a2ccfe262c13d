// To find the messages of a few keys, an erasure reads these messages, and not all that there are.

import { blocksOf, nodesOf, planCacheModes, plansOf } from 'dlq-testing/postgres/statement-plans.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { beforeAll, expect, test } from 'vitest'
import { findByKeys } from './erase-items.ts'

const database = useDatabase()
const stored = 20_000

beforeAll(async () => {
  const { sql } = database
  await sql`
    insert into dlq.dlq_messages (id, original_topic, error_message, record_key)
    select (left(dlq.uuid_floor(now() + n % 3 * interval '1 month')::text, 13) || '-7' || right(gen_random_uuid()::text, 21))::uuid,
           'topic-' || n % 5, 'failed', convert_to('key-' || n, 'UTF8')
    from generate_series(1, ${stored}::int) n`
  await sql`vacuum analyze dlq.dlq_messages`
})

test.each(
  planCacheModes.flatMap(
    (mode) =>
      [
        [mode, null],
        [mode, ['topic-1', 'topic-2']],
      ] as const,
  ),
)('with %s, and of topics %j', async (mode, topics) => {
  const keys = Array.from({ length: 20 }, (_, n) => Buffer.from(`key-${n * 7}`))
  const plans = await plansOf(database.url, mode, (sql) => findByKeys(sql, { keys, topics, until: 'infinity' }))
  const scans = plans.flatMap(nodesOf).filter((node) => node['Relation Name']?.startsWith('dlq_messages_2'))
  expect(scans.length).toBeGreaterThan(0)
  // Where a partition has no row, PostgreSQL may read it whole.
  const read = scans.map((node) => blocksOf(node) * node['Actual Loops'])
  expect(read.reduce((sum, blocks) => sum + blocks, 0)).toBeLessThan(keys.length * 10)
})
