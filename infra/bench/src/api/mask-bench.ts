// What masks cost: a page of a hundred messages with masks, beside the same page without.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ServiceProcess } from 'dlq-testing/fleet/service-process.ts'
import { orderJson } from '../decode/order.ts'
import { type BenchDatabase, type BenchRun, withBenchDatabase, withService } from '../measure/bench-run.ts'
import { cpuSecondsOf } from '../measure/process-usage.ts'
import { median } from '../measure/statistics.ts'
import { formatNumber, formatTable } from '../measure/table.ts'

const messages = 2000
const path = '/api/v1/messages?limit=100&archived=false&topic=bench-orders&status=PENDING'

const masks = {
  topics: 'bench-*',
  hide: ['/customer/email', '/lines/*/price', '/**/iban'],
  key: 'pseudonym',
  headers: ['x-user-*'],
  errors: ['email', 'iban', 'card', 'cust-[0-9]+'],
}

type Taken = { ms: number[]; cpuMs: number[] }

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
          const taken = [plain, masked].map((): Taken => ({ ms: [], cpuMs: [] }))
          for (const api of [plain, masked]) {
            await api.ready()
            await read(api, pages)
          }
          // One after the other in every round, so that both meet the same machine.
          for (let round = 0; round < run.rounds; round += 1)
            for (const [at, api] of [plain, masked].entries()) await measure(api, pages, taken[at]!)
          report(run, taken as [Taken, Taken])
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

async function read({ url }: ServiceProcess, pages: number): Promise<string> {
  let text = ''
  for (let page = 0; page < pages; page += 1) {
    const answer = await fetch(url + path)
    text = await answer.text()
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${text}`)
  }
  return text
}

async function measure(api: ServiceProcess, pages: number, { ms, cpuMs }: Taken): Promise<void> {
  const before = cpuSecondsOf(api.pid) ?? 0
  const startedAt = performance.now()
  await read(api, pages)
  ms.push((performance.now() - startedAt) / pages)
  cpuMs.push((((cpuSecondsOf(api.pid) ?? 0) - before) * 1000) / pages)
}

function report(run: BenchRun, [plain, masked]: [Taken, Taken]): void {
  const line = (name: string, taken: Taken) => [
    name,
    formatNumber(median(taken.ms), 2),
    formatNumber(median(taken.ms) / median(plain.ms), 2),
    formatNumber(median(taken.cpuMs), 2),
    formatNumber(median(taken.cpuMs) / median(plain.cpuMs), 2),
  ]
  const columns = ['', 'ms a page', 'of floor', 'API CPU ms', 'of floor']
  run.print(formatTable(columns, [line('without masks (floor)', plain), line('with masks', masked)]))
}
