// A run that edits values in Avro: each is written with its schema, or left alone with the reason.

import { defaultRetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { readContents } from 'dlq-core/queries/change/message-change.ts'
import type { HeldRun } from 'dlq-core/queries/runs/runs.ts'
import { createAside, patientBounds } from 'dlq-core/runtime/aside/aside.ts'
import { createPayloadReader } from 'dlq-core/runtime/schemas/payload-reader.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { orderBytes, orderSchema } from 'dlq-testing/schemas/avro-orders.ts'
import { schemasSection } from 'dlq-testing/schemas/schemas-section.ts'
import { expect, test } from 'vitest'
import { editChunk } from './edit-chunk.ts'
import { type PreparedEdit, workOut } from './prepare-edits.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

const aside = createAside(patientBounds)

async function editAll(ids: readonly string[], patch: unknown) {
  const payloads = createPayloadReader({ sql: service.sql, schemas: schemasSection(), now: Date.now })
  const deps = { aside, payloads, policyOf: () => defaultRetryPolicy }
  const run = { id: 'r', actor: 'ann', reason: null, scope: null, patch: JSON.stringify(patch) } as unknown as HeldRun
  const edits = new Map<string, PreparedEdit>()
  for (const message of await readContents(service.sql, { ids, scope: null }))
    edits.set(message.id, await workOut(deps, run, { message }))
  return service.sql.begin((sql) => editChunk(deps, sql, run, { ids, edits }))
}

test('a run patches decoded values, and leaves alone what it cannot write exactly', async () => {
  const [schema] = await database.sql`
    insert into dlq.dlq_schemas (registry, id_kind, schema_id, state, type, definition)
    values ('main', 'id', '5', 'known', 'avro', ${orderSchema}) returning id`
  const insert = (record_value: Buffer) => insertMessageRow(database.sql, { record_value, record_headers: [] })
  const avro = orderBytes(5, 'order-1', 42)
  const fits = await insert(avro)
  const json = await insert(Buffer.from('{"cents":42}'))
  const inexact = await insert(Buffer.concat([avro.subarray(0, 5), Buffer.from([0x8e, 0x00]), avro.subarray(6)]))
  const unknown = await insert(orderBytes(6, 'order-1', 42))

  const ids = [fits, json, inexact, unknown]
  const { done, skipped } = await editAll(ids, [{ op: 'replace', path: '/cents', value: 43 }])
  expect(done).toBe(2)
  expect(Object.fromEntries(skipped.map(({ id, reason }) => [id, reason]))).toEqual({
    [inexact]: 'not_exact',
    [unknown]: 'no_json',
  })
  expect(await readMessageRow(database.sql, fits)).toMatchObject({
    record_value: orderBytes(5, 'order-1', 43),
    payload: { id: 'order-1', cents: 43, note: null },
    ...{ value_schema: schema!.id, decode_state: 1, edits: 1 },
  })
  expect(await readMessageRow(database.sql, json)).toMatchObject({ payload: { cents: 43 }, value_schema: null })

  const refused = await editAll([fits], [{ op: 'replace', path: '/cents', value: 'many' }])
  expect(refused).toMatchObject({ done: 0, skipped: [{ reason: 'schema_refuses' }] })
})
