// Migration 024 gives a schedule to rows that plain SQL inserted before it. In the soak a million of them.
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { expect, test } from 'vitest'
import { migrateUp } from './migrate.ts'

const database = useDatabase({ empty: true })
const total = process.env.DLQ_SOAK === '1' ? 1_000_000 : 1000

test('rows of before the trigger that nobody has touched get a schedule, and others keep theirs', async () => {
  const { sql } = database
  const options = { databaseUrl: database.url }
  await migrateUp({ ...options, only: { set: 'dlq', count: 23 } })
  await sql`
    insert into dlq.dlq_policies (pattern, auto_retry) values ('manual', false)`
  const insert = async (name: string, columns: Record<string, unknown> = {}) => {
    const row = { original_topic: 'orders', error_message: name, ...columns }
    const [inserted] = await sql<[{ id: string }]>`insert into dlq.dlq_messages ${sql(row)} returning id`
    return inserted.id
  }
  await insert('plain')
  await insert('by its policy', { original_topic: 'manual' })
  await insert('settled', { status: 'RESOLVED' })
  await insert('given', { next_retry_at: new Date('2031-01-01T00:00:00Z') })
  await insert('ingested', { dlq_topic: 'orders.dlq.v1' })
  await insert('reported', { original_topic_source: 'caller' })
  await insert('tried', { retry_count: 1 })
  const changed = await insert('touched')
  await sql`
    insert into dlq.dlq_audit (actor, role, action, target_type, target_id)
    values ('maria', 'write', 'message.dead', 'message', ${changed})`
  await sql`
    insert into dlq.dlq_messages (original_topic, error_message, payload)
    select 'orders', 'one of many', '{"n": 1}' from generate_series(1, ${total}::int)`

  const startedAt = performance.now()
  await migrateUp({ ...options, only: { set: 'dlq', count: 1 } })
  const seconds = (performance.now() - startedAt) / 1000
  console.log(`migration 024 over ${total} rows took ${seconds.toFixed(1)} s`)

  const rows = await sql<{ name: string; scheduled: number; given: number }[]>`
    select error_message as name, count(next_retry_at)::int as scheduled,
           count(*) filter (where next_retry_at = '2031-01-01T00:00:00Z')::int as given
    from dlq.dlq_messages group by error_message`
  expect(Object.fromEntries(rows.map(({ name, scheduled }) => [name, scheduled]))).toEqual({
    ...{ plain: 1, 'one of many': total, given: 1 },
    ...{ 'by its policy': 0, settled: 0, ingested: 0, reported: 0, tried: 0, touched: 0 },
  })
  expect(rows.find(({ name }) => name === 'given')!.given).toBe(1)
  const [infinite] = await sql`select count(*)::int as count from dlq.dlq_messages where not isfinite(next_retry_at)`
  expect(infinite!.count).toBe(0)
})
