// What a page of values costs that the API decodes when it shows them: stored before their schema was known. Beside it the
// same values as JSON, whose payload is stored. Previews are not measured: they decode nothing.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseAvroSchema } from 'dlq-core/domain/payload/avro/avro-schema.ts'
import { compileAvroWriter } from 'dlq-core/domain/payload/avro/write-avro.ts'
import { orderJson, orderSchema } from '../decode/order.ts'
import { type BenchDatabase, type BenchRun, withBenchDatabase, withService } from '../measure/bench-run.ts'
import { benchPages } from './page-cost.ts'

const messages = 2000
const schemaId = 1

/** Prints a table. */
export async function benchUndecoded(run: BenchRun): Promise<void> {
  run.print(`undecoded: a page of 100 messages with values of ${orderJson.length} bytes as JSON, one client`)
  const folder = mkdtempSync(join(tmpdir(), 'dlq-bench-'))
  const config = join(folder, 'config.yaml')
  writeFileSync(config, JSON.stringify({ schemas: { registries: [{ name: 'main', url: 'http://127.0.0.1:1' }] } }))
  const env = {
    DLQ_LOG_LEVEL: 'warn',
    DLQ_AUTH_RATE_LIMIT: '1000000',
    KAFKA_BROKERS: undefined,
    DLQ_CONFIG: config,
  }
  try {
    await withBenchDatabase(run, async (database) => {
      await store(database)
      await withService(run, { name: 'api', databaseUrl: database.url, env }, async (api) => {
        const pathOf = (topic: string) =>
          `/api/v1/messages?limit=100&archived=false&topic=bench-${topic}&status=PENDING`
        const page = (name: string, topic: string) => ({ name, api, path: pathOf(topic) })
        await api.ready()
        await holdsDecoded(api.url + pathOf('avro'))
        const pages = run.quick ? 20 : 200
        await benchPages(run, pages, [page('JSON (floor)', 'json'), page('Avro, not decoded yet', 'avro')])
      })
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Else pages of bytes would be measured. */
async function holdsDecoded(url: string): Promise<void> {
  const { messages } = (await (await fetch(url)).json()) as { messages: { decoding?: { state: string } }[] }
  const decoded = messages.filter(({ decoding }) => decoding?.state === 'decoded').length
  if (decoded !== 100) throw new Error(`${decoded} of 100 values were decoded`)
}

async function store({ sql }: BenchDatabase): Promise<void> {
  const avro = Buffer.concat([
    Buffer.from([0, 0, 0, 0, schemaId]),
    compileAvroWriter(parseAvroSchema(orderSchema))(orderJson),
  ])
  await sql`
    insert into dlq.dlq_schemas (registry, id_kind, schema_id, state, type, definition, schema_references)
    values ('main', 'id', ${String(schemaId)}, 'known', 'avro', ${orderSchema}, '[]')`
  for (const [topic, value, payload] of [
    ['bench-json', Buffer.from(orderJson), orderJson],
    ['bench-avro', avro, null],
  ] as const)
    await sql`
      insert into dlq.dlq_messages (original_topic, dlq_topic, error_message, payload, record_key, record_value)
      select ${topic}, ${`${topic}.dlq.v1`}, 'no such customer', ${payload}::text::jsonb,
             convert_to('customer-' || n, 'UTF8'), ${value}
      from generate_series(1, ${messages}::int) n`
  await sql`analyze dlq.dlq_messages`
}
