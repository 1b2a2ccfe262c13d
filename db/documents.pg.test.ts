// Runs the SQL of our documents: that of each page in its order, in one session. SQL for a server's administrator
// (configuration.md) is left out.
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import postgres from 'postgres'
import { afterAll, beforeEach, expect, test } from 'vitest'

const database = useDatabase()
const docs = fileURLToPath(new URL('../infra/docs/', import.meta.url))

const blocksOf = (page: string) =>
  [...readFileSync(docs + page, 'utf8').matchAll(/^```sql\n(.*?)^```$/gms)].map(([, text]) => text!)

/** One session, so that a page can end the transactions that it begins. */
async function runPage(page: string): Promise<void> {
  const sql = postgres(database.url, { max: 1, onnotice: () => {} })
  try {
    for (const block of blocksOf(page)) await sql.unsafe(block)
  } finally {
    await sql.end()
  }
}

beforeEach(() => database.sql`delete from dlq.dlq_policies`)

// Roles belong to the whole server.
afterAll(async () => {
  await database.sql.unsafe('drop role if exists order_service')
})

const pages = globSync('**/*.md', { cwd: docs }).filter((page) => blocksOf(page).length > 0)
const others = ['configuration.md', 'postgres-as-dlq.md']

test('no page with SQL is passed over', () => {
  expect(pages).toEqual(
    expect.arrayContaining([...others, 'architecture.md', 'verdicts.md', 'payloads.md', 'policies.md']),
  )
})

test.each(pages.filter((page) => !others.includes(page)))('the SQL of %s runs', (page) => runPage(page))

test('the SQL of postgres-as-dlq.md dead-letters, handles what is due, and fails the rest', async () => {
  await database.sql.unsafe(`
    create table orders (id int primary key, state text);
    insert into orders values (17, 'new');
    select dlq.dead_letter('order.created', '{"order_id": 17}', 'earlier', p_retry_after => '0');
    select dlq.dead_letter('order.created', '{"order_id": "x"}', 'no number', p_retry_after => '0', p_max_retries => 5)`)
  await runPage('postgres-as-dlq.md')
  const { sql } = database
  const rows =
    await sql`select status, error_message, max_retries, retry_count from dlq.dlq_messages order by error_message`
  expect([...rows]).toEqual([
    { status: 'RESOLVED', error_message: 'earlier', max_retries: 3, retry_count: 1 },
    { status: 'PENDING', error_message: 'enrichment timed out', max_retries: 240, retry_count: 0 },
    // The handler could not read the message, so the attempt failed, and the message waits as its policy says.
    {
      status: 'PENDING',
      error_message: expect.stringContaining('invalid input syntax'),
      max_retries: 5,
      retry_count: 1,
    },
  ])
  expect([...(await sql`select state from orders`)]).toEqual([{ state: 'enriched' }])
  // The pass has ended, and no other begins before it is due.
  expect([...(await sql`select dlq.begin_pass('order.created', 'instance-2', '1 minute') as begun`)]).toEqual([
    { begun: false },
  ])
  expect([...(await sql`select pg_has_role('order_service', 'dlq_app', 'member') as member`)]).toEqual([
    { member: true },
  ])
})

test('tables.md says of every table and view what one row is, and names no other', async () => {
  const named = [...readFileSync(`${docs}tables.md`, 'utf8').matchAll(/^\| (`.*?`) \|/gm)].flatMap(([, cell]) =>
    cell!.replaceAll('`', '').split(', '),
  )
  const rows = await database.sql<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace = 'dlq'::regnamespace and relkind in ('r', 'p', 'v') and not relispartition`
  expect(named.toSorted()).toEqual(rows.map(({ name }) => name).toSorted())
})
