// What the claim of a program reads: about as much as it claims, however much its topic retries later, and however much
// other programs hold.
import { randomUUID } from 'node:crypto'
import { isRun, nodesOf, plansOf } from 'dlq-testing/postgres/statement-plans.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { beforeAll, expect, test } from 'vitest'

const database = useDatabase()
const others = 5000

beforeAll(async () => {
  const { sql } = database
  await sql`insert into dlq.dlq_policies (pattern, delivery) values ('orders', 'pull')`
  await sql`
    insert into dlq.dlq_messages (original_topic, error_message, next_retry_at)
    select 'orders', 'failed', now() + (case when n <= 10 then -1 else 1 end) * interval '1 hour' from generate_series(1, ${others}::int) n`
  await sql`
    insert into dlq.dlq_messages (original_topic, error_message, status, retry_count, next_retry_at, lease_token, lease_until)
    select 'orders', 'failed', 'RETRYING', 1, now(), ${randomUUID()}, now() + interval '1 hour' from generate_series(1, ${others}::int)`
})

test.each(['never analyzed', 'analyzed'])('a claim from a table that was %s reads no other rows', async (state) => {
  if (state === 'analyzed') await database.sql`vacuum analyze dlq.dlq_messages`
  // The mode is that of the session; the functions have their own.
  const plans = await plansOf(database.url, 'auto', async (sql) => {
    expect(await sql`select from dlq.claim_messages('orders', 50)`).toHaveLength(10)
  })
  const scans = plans.flatMap(nodesOf).filter((node) => node['Node Type'].includes('Scan') && isRun(node))
  const read = scans.map((node) => (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'])
  expect(scans.length).toBeGreaterThan(10)
  expect(Math.max(...read)).toBeLessThan(100)
})
