import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { beforeEach, expect, test } from 'vitest'
import { createTestApp } from '../../test-app.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const refresh = (number: number | string, body: object = {}) =>
  createTestApp(service.sql)(`POST /api/v1/schemas/${number}/refresh`, {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

beforeEach(() => emptyTables(database.sql, 'dlq.dlq_schemas', 'dlq.dlq_audit'))

test('a schema is asked for again at once, whatever its state, and the audit says who wanted it', async () => {
  const rows = await database.sql<{ id: number }[]>`
    insert into dlq.dlq_schemas (registry, id_kind, schema_id, state, type, name, definition, next_try_at)
    values ('main', 'id', '7', 'known', 'avro', 'shop.Order', '"int"', now() + interval '1 hour'),
           ('main', 'id', '8', 'missing', null, null, null, now() + interval '1 hour')
    returning id`
  const [known, missing] = rows.map(({ id }) => id) as [number, number]
  const answer = await refresh(known, { reason: 'the registry was set up anew' })
  expect(answer.status).toBe(202)
  expect(await answer.json()).toEqual({
    schema: { number: known, registry: 'main', id_kind: 'id', id: '7', state: 'known', name: 'shop.Order' },
  })
  expect((await refresh(missing)).status).toBe(202)
  const due = await database.sql`
    select schema_id, recheck_at <= now() as rechecked, next_try_at <= now() as tried from dlq.dlq_schemas order by id`
  expect([...due]).toEqual([
    { schema_id: '7', rechecked: true, tried: false },
    { schema_id: '8', rechecked: null, tried: true },
  ])
  const [entry] =
    await database.sql`select action, target_type, target_id, reason from dlq.dlq_audit where reason is not null`
  expect(entry).toEqual({
    ...{ action: 'schema.refresh', target_type: 'schema', target_id: String(known) },
    reason: 'the registry was set up anew',
  })
})

test('there must be such a schema', async () => {
  expect((await refresh(4711)).status).toBe(404)
  expect((await refresh('x')).status).toBe(400)
})
