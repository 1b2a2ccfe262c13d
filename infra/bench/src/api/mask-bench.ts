// What masks cost: a page of a hundred messages with masks, beside the same page without.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ServiceProcess } from 'dlq-testing/fleet/service-process.ts'
import { orderJson } from '../decode/order.ts'
import { type BenchDatabase, type BenchRun, withBenchDatabase, withService } from '../measure/bench-run.ts'
import { benchPages } from './page-cost.ts'

const messages = 2000
const path = '/api/v1/messages?limit=100&archived=false&topic=bench-orders&status=PENDING'

const masks = {
  topics: 'bench-*',
  hide: ['/customer/email', '/lines/*/price', '/**/iban'],
  key: 'pseudonym',
  headers: ['x-user-*'],
  errors: ['email', 'iban', 'card', 'cust-[0-9]+'],
}

/** Prints a table. */
export async function benchMasks(run: BenchRun): Promise<void> {
  const pages = run.quick ? 20 : 200
  run.print(`masks: a page of 100 messages with values of ${orderJson.length} bytes, one client`)
  const folder = mkdtempSync(join(tmpdir(), 'dlq-bench-'))
  const config = join(folder, 'config.yaml')
  const secret = join(folder, 'secret')
  writeFileSync(secret, 'a secret of the benchmark of masks')
  writeFileSync(config, JSON.stringify({ masks: [masks], masks_secret_file: secret }))
  try {
    await withBenchDatabase(run, async (database) => {
      await store(database)
      const env = { DLQ_LOG_LEVEL: 'warn', DLQ_AUTH_RATE_LIMIT: '1000000', KAFKA_BROKERS: undefined }
      const service = { name: 'api' as const, databaseUrl: database.url }
      await withService(run, { ...service, env }, (plain) =>
        withService(run, { ...service, env: { ...env, DLQ_CONFIG: config } }, async (masked) => {
          const page = (name: string, api: ServiceProcess) => ({ name, api, path })
          await benchPages(run, pages, [page('without masks (floor)', plain), page('with masks', masked)])
        }),
      )
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function store({ sql }: BenchDatabase): Promise<void> {
  await sql`
    insert into dlq.dlq_messages (original_topic, dlq_topic, error_message, payload, record_key, record_value, record_headers)
    select 'bench-orders', 'bench-orders.dlq.v1', 'no such customer: cust-' || n || ', maria@mail.example', ${orderJson}::text::jsonb,
           convert_to('customer-' || n, 'UTF8'), convert_to(${orderJson}::text, 'UTF8'), '[["x-user-id","7"]]'
    from generate_series(1, ${messages}::int) n`
  await sql`analyze dlq.dlq_messages`
}
