// A retrier that dies by SIGKILL while it decodes what has waited for a schema: the next one decodes the rest.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { requestCronRun } from 'dlq-core/queries/upkeep/cron-runs.ts'
import { eventually } from 'dlq-testing/eventually.ts'
import { useLogFolder } from 'dlq-testing/fleet/log-folder.ts'
import { startService } from 'dlq-testing/fleet/service-process.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { endWorkerLeases, killInTransaction } from 'dlq-testing/process/kill-in-transaction.ts'
import { createReaper } from 'dlq-testing/process/reaper.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { orderBytes, orderSchema } from 'dlq-testing/schemas/avro-orders.ts'
import { afterAll, expect, test } from 'vitest'

const database = useDatabase()
const service = useServiceDatabase(database)
const logs = useLogFolder()
const reaper = createReaper()
afterAll(() => reaper.close())

/** More than two batches. */
const messages = 180

async function startRetrier() {
  const config = join(logs.path, 'config.json')
  writeFileSync(config, JSON.stringify({ schemas: { registries: [{ name: 'main', url: 'http://127.0.0.1:1' }] } }))
  return startService({
    ...{ name: 'retrier', databaseUrl: database.url, kafkaBrokers: [], reaper, logFile: `${logs.path}/retrier.log` },
    env: { DLQ_CONFIG: config },
  })
}

/** Null until a retrier has told its jobs. */
const requestDecoding = () =>
  service.sql.begin((sql) => requestCronRun(sql, { job: 'decode', actor: 'ann', now: new Date() }))

const countBy = async () => {
  const [row] = await database.sql`
    select count(*) filter (where decode_state = 1 and payload->>'id' like 'order-%')::int as decoded,
           count(*) filter (where decode_state = 2)::int as waiting
    from dlq.dlq_messages`
  return row
}

test('killed in the middle of a batch, it loses that batch alone, and decodes the rest afterwards', async () => {
  const [schema] = await database.sql`
    insert into dlq.dlq_schemas (registry, id_kind, schema_id, state, type, definition)
    values ('main', 'id', '5', 'known', 'avro', ${orderSchema}) returning id`
  for (let n = 0; n < messages; n += 1)
    await insertMessageRow(database.sql, {
      ...{ dlq_topic: 'orders.dlq.v1', record_value: orderBytes(5, `order-${n}`, n % 60), record_headers: [] },
      ...{ value_schema: schema!.id, decode_state: 2, status: 'RESOLVED' },
    })
  const decoding = { table: 'dlq_messages', where: 'exists (select from dlq.dlq_messages where decode_state = 1)' }
  await killInTransaction(database, { ...decoding, passed: 1 }, async () => {
    const retrier = await startRetrier()
    await eventually(async () => expect(await requestDecoding()).not.toBeNull())
    return retrier
  })
  const { decoded, waiting } = (await countBy())!
  expect(decoded).toBeGreaterThan(0)
  expect(waiting).toBeGreaterThan(0)
  expect(decoded + waiting).toBe(messages)

  await endWorkerLeases(database)
  const last = await startRetrier()
  await eventually(async () => expect(await countBy()).toEqual({ decoded: messages, waiting: 0 }))
  await last.stop('SIGTERM', 60_000)
})
