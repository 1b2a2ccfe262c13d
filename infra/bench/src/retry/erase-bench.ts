// What it takes to forget: a thousand messages by their ids, and one key among live and archived messages. Floor: a bare
// update of as many rows. Without Kafka; the retriers erase.

import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ServiceProcess } from 'dlq-testing/fleet/service-process.ts'
import { type BenchDatabase, type BenchRun, withBenchDatabase, withService } from '../measure/bench-run.ts'
import { median } from '../measure/statistics.ts'
import { formatNumber, formatTable } from '../measure/table.ts'

const token = 'bench-erase-token-of-an-administrator'
const topic = 'bench-orders'
const pollMs = 50
const longestMs = 30 * 60_000

const sizes = { full: { messages: 1000, archived: 1_000_000 }, quick: { messages: 100, archived: 20_000 } }

/** Prints a table: seconds until the run has ended, with its proof. */
export async function benchErase(run: BenchRun): Promise<void> {
  const { messages, archived } = run.quick ? sizes.quick : sizes.full
  run.print(`erase: ${messages} messages by id; one key of ${archived} archived messages`)
  const taken: Record<string, number[]> = { floor: [], ids: [], key: [] }
  const folder = mkdtempSync(join(tmpdir(), 'dlq-bench-'))
  const config = join(folder, 'config.yaml')
  const sha256 = createHash('sha256').update(token).digest('hex')
  writeFileSync(
    config,
    JSON.stringify({ auth: { tokens: [{ name: 'bench', sha256, role: 'sys_admin', payloads: 'full' }] } }),
  )
  try {
    await withBenchDatabase(run, async (database) => {
      await storeArchived(database, archived)
      const env = { DLQ_LOG_LEVEL: 'warn', DLQ_CONFIG: config, DLQ_AUTH_RATE_LIMIT: '1000000' }
      const service = { databaseUrl: database.url, env }
      await withService(run, { ...service, name: 'api' }, (api) =>
        withService(run, { ...service, name: 'retrier' }, async (retrier) => {
          await Promise.all([api.ready(), retrier.ready()])
          for (let round = 0; round < run.rounds; round += 1) {
            const ids = await storeLive(database, messages)
            taken.floor!.push(await secondsOf(() => updateBare(database, ids)))
            taken.ids!.push(await secondsOf(() => erase(api, { ids }, messages)))
            const key = `archived-${round * 1000 + 1}`
            taken.key!.push(await secondsOf(() => erase(api, { keys: [{ text: key }], topics: [topic] }, 0)))
          }
        }),
      )
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
  const line = (name: string, seconds: number[]) => [
    ...[name, formatNumber(median(seconds), 2), formatNumber(median(seconds) / median(taken.floor!), 1)],
  ]
  const rows = [
    line(`bare update of ${messages} rows (floor)`, taken.floor!),
    line(`erase ${messages} messages`, taken.ids!),
    line(`erase one key among ${archived} archived`, taken.key!),
  ]
  run.print(formatTable(['', 's', 'of floor'], rows))
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return (performance.now() - startedAt) / 1000
}

async function storeArchived({ sql }: BenchDatabase, count: number): Promise<void> {
  const session = await sql.reserve()
  try {
    await session`set statement_timeout = 0`
    await session`
      insert into dlq.dlq_messages_archive (
        id, original_topic, dlq_topic, error_message, status, retry_count, max_retries, record_key, record_value, created_at, updated_at)
      select dlq.new_message_id(), ${topic}, ${`${topic}.dlq.v1`}, 'failed', 'RESOLVED', 0, 3,
             convert_to('archived-' || n, 'UTF8'), convert_to(repeat('x', 600), 'UTF8'), now(), now()
      from generate_series(1, ${count}::int) n`
    await session`vacuum analyze dlq.dlq_messages_archive`
    await session`reset statement_timeout`
  } finally {
    session.release()
  }
}

async function storeLive({ sql }: BenchDatabase, count: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    insert into dlq.dlq_messages (original_topic, dlq_topic, error_message, payload, record_key, record_value, record_headers, status)
    select ${topic}, ${`${topic}.dlq.v1`}, 'no such customer', '{"name":"Maria"}', convert_to('customer-' || n, 'UTF8'),
           convert_to(repeat('x', 600), 'UTF8'), '[]', 'DEAD'
    from generate_series(1, ${count}::int) n
    returning id`
  return rows.map(({ id }) => id)
}

/** The same columns, and nothing else. */
async function updateBare({ sql }: BenchDatabase, ids: readonly string[]): Promise<void> {
  await sql`
    update dlq.dlq_messages set error_message = 'erased' where id = any(${sql.array([...ids])}::uuid[])`
}

async function erase({ url }: ServiceProcess, selection: object, expected: number): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ kind: 'erase', selection, expect_count: expected, reason: 'benchmark' })
  const created = await fetch(`${url}/api/v1/runs`, { method: 'POST', headers, body })
  const text = await created.text()
  if (!created.ok) throw new Error(`the run was refused: ${created.status} ${text}`)
  const { id } = JSON.parse(text) as { id: string }
  for (const until = performance.now() + longestMs; performance.now() < until; ) {
    const answer = (await (await fetch(`${url}/api/v1/runs/${id}`, { headers })).json()) as { status: string }
    if (answer.status === 'completed') return
    if (['failed', 'cancelled'].includes(answer.status)) throw new Error(`the run ended: ${JSON.stringify(answer)}`)
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
  throw new Error('the run did not end')
}
