// A long backlog needs no more memory than a short one: the ingester stores it, the retrier sends all of it, and the API
// lists and exports it, each within 256 MiB. Two million records with DLQ_SOAK=1 (40 minutes, and 10 GB), or as many as
// DLQ_BACKLOG says.
import { readFileSync } from 'node:fs'
import { useFleet } from 'dlq-testing/fleet/test-fleet.ts'
import { numberedDeadLetter } from 'dlq-testing/rows/spring-dead-letter.ts'
import { expect, test } from 'vitest'
import type { ServiceProcess } from '../src/fleet/service-process.ts'

const limitMiB = 256
const total = Number(process.env.DLQ_BACKLOG ?? 2_000_000)
const partitions = 8
const sendSize = 1000
const patience = { timeout: 50 * 60_000, interval: 500 }

const fleet = useFleet('memory', {
  partitions,
  env: { DLQ_RETRY_INITIAL_DELAY: '10ms', DLQ_LOG_LEVEL: 'warn' },
})

/** The most memory that the process has held. */
function peakMiB({ pid }: ServiceProcess): number {
  return Number(/^VmHWM:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
}

function expectSmall(service: ServiceProcess): void {
  console.log(`${service.name}: at most ${Math.round(peakMiB(service))} MiB for ${total} messages`)
  expect(service.hasExited()).toBe(false)
  expect(peakMiB(service)).toBeLessThan(limitMiB)
}

async function produceBacklog(): Promise<void> {
  const body = 'x'.repeat(1000)
  for (let sent = 0; sent < total; sent += sendSize) {
    const messages = Array.from({ length: Math.min(sendSize, total - sent) }, (_, at) =>
      numberedDeadLetter(sent + at, {
        ...{ topic: fleet.original, partitions, group: 'memory' },
        value: Buffer.from(`{"n":${sent + at},"body":"${body}"}`),
      }),
    )
    await fleet.producer.send({ topic: fleet.dlq, messages })
  }
}

/** Reads an export to its end, and keeps none of it. Returns its lines. */
async function exportAll(api: ServiceProcess): Promise<number> {
  const response = await fetch(`${api.url}/api/v1/messages/export?format=ndjson`)
  expect(response.status).toBe(200)
  let lines = 0
  for await (const chunk of response.body!) for (const byte of chunk as Uint8Array) if (byte === 10) lines += 1
  return lines
}

test('each service works off a backlog within its memory', async () => {
  const { sql } = fleet.database
  await produceBacklog()

  const ingester = await fleet.services.start('ingester')
  const stored = async () => {
    const [row] = await sql<{ n: number }[]>`
      select coalesce(sum(next_offset), 0)::int as n from dlq.dlq_positions where topic = ${fleet.dlq}`
    return row!.n
  }
  await expect.poll(stored, patience).toBe(total)
  expectSmall(ingester)

  const retrier = await fleet.services.start('retrier')
  // Counting the attempts would read all of them each time.
  const waiting = async () => (await sql`select from dlq.dlq_messages where next_retry_at is not null limit 1`).length
  await expect.poll(waiting, patience).toBe(0)
  expectSmall(retrier)

  const api = await fleet.services.start('api')
  await api.ready()
  expect(await exportAll(api)).toBe(total)
  const page = await fleet.services.request('/api/v1/messages?limit=1000&status=RESOLVED')
  expect(page.status).toBe(200)
  expectSmall(api)
  const [row] = await sql`select count(*)::int as n from dlq.dlq_attempts where outcome = 'published'`
  expect(row!.n).toBe(total)
})
