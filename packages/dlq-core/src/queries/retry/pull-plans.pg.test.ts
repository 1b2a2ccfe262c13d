// What the claim of a program reads: about as much as it claims, however much its topic retries later, and however much
// other programs hold.
import { randomUUID } from 'node:crypto'
import { blocksOf, isRun, nodesOf, plansOf } from 'dlq-testing/postgres/statement-plans.ts'
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

const claim = (topic: string, found: number) =>
  // The mode is that of the session; the functions have their own.
  plansOf(database.url, 'auto', async (sql) => {
    expect(await sql`select from dlq.claim_messages(${topic}, 50)`).toHaveLength(found)
  })

test.each(['never analyzed', 'analyzed'])('a claim from a table that was %s reads no other rows', async (state) => {
  if (state === 'analyzed') await database.sql`vacuum analyze dlq.dlq_messages`
  const plans = await claim('orders', 10)
  const scans = plans.flatMap(nodesOf).filter((node) => node['Node Type'].includes('Scan') && isRun(node))
  const read = scans.map((node) => (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'])
  expect(scans.length).toBeGreaterThan(10)
  expect(Math.max(...read)).toBeLessThan(100)
})

test('nor does it read an index as a whole, beside many messages that are settled and none that is held', async () => {
  const { sql } = database
  await sql`delete from dlq.dlq_messages where status = 'RETRYING'`
  await sql`
    insert into dlq.dlq_messages (original_topic, error_message, status, record_value)
    select 'settled', 'failed', 'RESOLVED', decode(repeat(md5(n::text), 90), 'hex') from generate_series(1, 40000) n`
  await sql`vacuum analyze dlq.dlq_messages`
  const nodes = (await claim('orders', 10)).flatMap(nodesOf).filter(isRun)
  const scans = nodes.filter((node) => node['Node Type'].includes('Scan') && node['Relation Name'] !== undefined)
  expect(Math.max(...scans.map(blocksOf))).toBeLessThan(100)
})
