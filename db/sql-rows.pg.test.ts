// Rows that plain SQL inserts with the specification's columns alone.
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { expect, test } from 'vitest'

const database = useDatabase()

/** Inserts rows with the given columns, and returns their ids. */
async function insert(...rows: Record<string, unknown>[]): Promise<string[]> {
  const { sql } = database
  const filled = rows.map((row) => ({ original_topic: 'orders', error_message: 'failed', ...row }))
  return (await sql`insert into dlq.dlq_messages ${sql(filled)} returning id`).map(({ id }) => id)
}
const read = (id: string) => readMessageRow(database.sql, id)

test('a PENDING row gets its first retry from the policy of its topic', async () => {
  await database.sql`
    insert into dlq.dlq_policies (pattern, backoff, initial_delay, auto_retry)
    values ('fixed.*', 'fixed', '1 hour', null), ('manual.*', null, null, false)`
  const ids = await insert({ original_topic: 'fixed.a' }, { original_topic: 'manual.a' }, {})
  const [fixed, manual, plain] = await Promise.all(ids.map(read))
  const waits = (row: typeof fixed) => (row!.next_retry_at - row!.created_at) / 1000

  expect(waits(fixed)).toBeGreaterThan(3590)
  expect(waits(fixed)).toBeLessThan(3610)
  expect(manual!.next_retry_at).toBeNull()
  // The built-in policy: five minutes, of which a part is random.
  expect(waits(plain)).toBeGreaterThan(25)
  expect(waits(plain)).toBeLessThan(310)
})

test('a schedule that was given stays, null among them; and a row that is settled gets none', async () => {
  const at = new Date('2031-01-01T00:00:00Z')
  const [given, none] = await insert({ next_retry_at: at }, { next_retry_at: null })
  const [dead] = await insert({ status: 'DEAD' })

  expect((await read(given!)).next_retry_at).toEqual(at)
  expect((await read(none!)).next_retry_at).toBeNull()
  expect((await read(dead!)).next_retry_at).toBeNull()
})

test('a row keeps the times that it was inserted with', async () => {
  const past = new Date('2020-01-01T00:00:00Z')
  const [id] = await insert({ created_at: past, updated_at: past })
  expect(await read(id!)).toMatchObject({ created_at: past, updated_at: past, next_retry_at: expect.any(Date) })
  await database.sql`update dlq.dlq_messages set error_class = 'E' where id = ${id!}`
  expect((await read(id!)).updated_at.getTime()).toBeGreaterThan(past.getTime())
})

test('rows in a partition that is named, and by COPY, get one as well', async () => {
  const { sql } = database
  const [name] = await sql<{ partition: string }[]>`
    select tableoid::regclass::text as partition from dlq.dlq_messages where id = ${(await insert({}))[0]!}`
  const [row] = await sql.unsafe(
    `insert into ${name!.partition} (original_topic, error_message) values ('orders', 'failed') returning id`,
  )
  expect((await read(row!.id)).next_retry_at).toEqual(expect.any(Date))

  const stream = await sql`copy dlq.dlq_messages (original_topic, error_message) from stdin`.writable()
  stream.end('copied\tfailed\n')
  await new Promise((resolve) => stream.once('finish', resolve))
  const [copied] = await sql`select next_retry_at::text as at from dlq.dlq_messages where original_topic = 'copied'`
  expect(copied!.at).toMatch(/^20/)
})
