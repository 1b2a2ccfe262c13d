// The plan by which PostgreSQL ran the deletion, where every table that names messages is large.
import { nodesOf, planCacheModes, plansOf } from 'dlq-testing/postgres/statement-plans.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { beforeAll, describe, expect, test } from 'vitest'
import { deleteMessages } from './delete-messages.ts'

const database = useDatabase()
const rowCount = 20_000
const largeTables = /^dlq_(messages|attempts|message_edits|idempotency_keys|run_skipped)/

beforeAll(async () => {
  const { sql } = database
  await sql`
    insert into dlq.dlq_messages (original_topic, error_message, created_at)
    select 'orders', 'failed', now() - n * interval '1 s' from generate_series(1, ${rowCount}) n`
  await sql`
    insert into dlq.dlq_messages_archive (id, original_topic, error_message, status, created_at)
    select dlq.new_message_id(), original_topic, error_message, 'DEAD', created_at from dlq.dlq_messages`
  for (const [messages, attempts] of [
    ['dlq.dlq_messages', 'dlq.dlq_attempts'],
    ['dlq.dlq_messages_archive', 'dlq.dlq_attempts_archive'],
  ] as const) {
    await sql`
      insert into ${sql(attempts)} (message_id, number, attempt_id, outcome)
      select id, 1, gen_random_uuid(), 'failed' from ${sql(messages)}`
    await sql`
      insert into dlq.dlq_message_edits (message_id, number, actor, fields) select id, 1, 'maria', '{value}' from ${sql(messages)}`
    await sql`
      insert into dlq.dlq_idempotency_keys (actor, key, request, message_id, created_at)
      select 'billing', id::text, '', id, created_at from ${sql(messages)}`
  }
  await sql`
    insert into dlq.dlq_runs (kind, actor, selection, until_id, matched, matched_relation)
    select 'retry', 'maria', '{}', gen_random_uuid(), 1, 'eq' from generate_series(1, 3)`
  await sql`insert into dlq.dlq_run_skipped select r.id, m.id, 'dead' from dlq.dlq_runs r cross join dlq.dlq_messages m`
  await sql`vacuum analyze`
})

describe.each(planCacheModes)('with %s', (planCacheMode) => {
  test.each([
    { archived: false, of: 'messages', table: 'dlq.dlq_messages' },
    { archived: true, of: 'archived messages', table: 'dlq.dlq_messages_archive' },
  ])('the deletion of $of reads no table as a whole', async ({ archived, table }) => {
    const found = await database.sql<{ id: string }[]>`select id from ${database.sql(table)} order by id limit 100`
    const ids = found.map(({ id }) => id)
    const plans = await plansOf(database.url, planCacheMode, async (sql) => {
      expect(await deleteMessages(sql, { ids, archived })).toBe(100)
    })
    const nodes = plans.flatMap(nodesOf)
    const whole = nodes.filter(
      (node) =>
        node['Node Type'].endsWith('Seq Scan') &&
        largeTables.test(node['Relation Name'] ?? '') &&
        (node['Shared Hit Blocks'] ?? 0) + (node['Shared Read Blocks'] ?? 0) > 0,
    )
    expect(whole.map((node) => node['Relation Name'])).toEqual([])
    expect(new Set(nodes.map((node) => node['Relation Name'])).size).toBeGreaterThan(5)
  })
})
