// Services come and go while work goes on: each drains when it is asked to stop, and a second one shares
// the work of the first.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Header } from 'dlq-core/record.ts'
import { readTopic } from 'dlq-testing/read-topic.ts'
import type { ServiceProcess } from 'dlq-testing/service-process.ts'
import { springDeadLetter } from 'dlq-testing/spring-dead-letter.ts'
import { useFleet } from 'dlq-testing/test-fleet.ts'
import { beforeAll, describe, expect, test, vi } from 'vitest'

const soak = process.env.DLQ_SOAK === '1'
const report = soak ? console.log : () => {}
const flowMs = soak ? 30_000 : 4000
const flowRecords = soak ? 6000 : 400
const backlog = soak ? 20_000 : 1500
const drainMs = 10_000
/** Well under the megabyte that a broker takes at once. */
const maxSend = 200
/** No republished record gets there: a dead letter from where one stands would be its failure. */
const farOffset = 1_000_000_000n

const fleet = useFleet('lifecycle', {
  partitions: 4,
  env: { DLQ_RETRY_AUTO_RETRY: 'false', DLQ_RETRY_BATCH_SIZE: '25' },
})
let produced = 0

beforeAll(() => fleet.services.startAll())

function deadLetter(n: number) {
  const error = Object.assign(new Error(`failure ${n}`), { name: 'com.example.Failure' })
  const failed = {
    topic: fleet.original,
    partition: n % 4,
    offset: farOffset + BigInt(n),
    timestamp: 1_700_000_000_000n,
  }
  const headers: Header[] = [['n', Buffer.from(`${n}`)]]
  return springDeadLetter({
    ...failed,
    key: Buffer.from(`${n}`),
    value: Buffer.from(`{"n":${n}}`),
    headers,
    group: 'lifecycle',
    error,
  })
}

async function produce(count: number): Promise<void> {
  for (const end = produced + count; produced < end; ) {
    const messages = Array.from({ length: Math.min(maxSend, end - produced) }, (_, i) => deadLetter(produced + i))
    produced += messages.length
    await fleet.producer.send({ topic: fleet.dlq, messages })
  }
}

/** Records in a steady stream, which goes on, within a bound, until it was enough. */
async function flow(isEnough: () => boolean = () => true): Promise<void> {
  const steps = 100
  for (let step = 0; step < steps || (!isEnough() && step < 10 * steps); step += 1) {
    await produce(flowRecords / steps)
    await sleep(flowMs / steps)
  }
}

async function countRows(status?: string): Promise<number> {
  const { sql } = fleet.database
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from dlq.dlq_messages where status = ${status ?? sql`status`}`
  return row!.count
}

async function untilAllStored(): Promise<void> {
  await vi.waitFor(async () => expect(await countRows()).toBe(produced), { timeout: 30_000, interval: 50 })
  // One more look, later: nothing may be stored twice.
  await sleep(500)
  expect(await countRows()).toBe(produced)
}

/** Records that the ingester at `url` has stored. */
async function storedBy({ url }: ServiceProcess): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  return Number(/^dlq_ingest_records_total\{.*outcome="stored".*\} (\d+)$/m.exec(metrics)?.[1] ?? 0)
}

/** SIGTERM; what must follow is an orderly end, in time. */
async function expectDrained(service: ServiceProcess): Promise<void> {
  const start = performance.now()
  service.child.kill('SIGTERM')
  const exit = await Promise.race([service.exited, sleep(drainMs, 'still running', { ref: false })])
  expect(exit).toEqual({ code: 0, signal: null })
  report(`${service.name} drained in ${Math.round(performance.now() - start)} ms`)
}

test('a second ingester joins and leaves while records flow, and every record is stored once', async () => {
  const first = fleet.services.get('ingester')
  let isShared = false
  const flowing = flow(() => isShared)
  const second = await fleet.services.start('ingester', 'second-ingester')
  await vi.waitFor(async () => expect(await storedBy(second)).toBeGreaterThan(0), { timeout: 30_000, interval: 50 })
  isShared = true
  const before = await storedBy(first)
  await expectDrained(second)
  await flowing
  await produce(40)
  await untilAllStored()
  expect(await storedBy(first)).toBeGreaterThan(before)
})

describe('SIGTERM', () => {
  test('ends an ingester within ten seconds while records flow, and the next one goes on', async () => {
    const flowing = flow()
    const before = await countRows()
    await vi.waitFor(async () => expect(await countRows()).toBeGreaterThan(before), { timeout: 20_000, interval: 10 })
    await expectDrained(fleet.services.get('ingester'))
    await fleet.services.start('ingester')
    await flowing
    await untilAllStored()
  })

  test('ends an API within ten seconds while a retry waits for its outcome, which is still answered', async () => {
    await fleet.services.get('retrier').stop('SIGTERM', drainMs)
    const [row] = await fleet.database.sql<{ id: string }[]>`select id from dlq.dlq_messages order by id limit 1`
    const asking = fleet.services.request(`/api/v1/dlq/messages/${row!.id}/retry`, { method: 'POST' })
    asking.catch(() => {})
    await vi.waitFor(async () => {
      const attempts = await fleet.database.sql`select from dlq.dlq_attempts where message_id = ${row!.id}`
      expect(attempts).toHaveLength(1)
    })
    await expectDrained(fleet.services.get('api'))
    expect(await asking).toMatchObject({ status: 202 })
    const restarted = await Promise.all([fleet.services.start('retrier'), fleet.services.start('api')])
    await Promise.all(restarted.map((service) => service.ready()))
  })

  test('ends a retrier within ten seconds while it republishes: nothing is left claimed, nothing is sent twice', async () => {
    if (produced < backlog) await produce(backlog - produced)
    await untilAllStored()
    const asked = await fleet.services.request(`/api/v1/dlq/${fleet.dlq}/retry-all`, { method: 'POST' })
    expect(asked).toMatchObject({ status: 200 })
    await vi.waitFor(async () => expect(await countRows('RESOLVED')).toBeGreaterThan(50), {
      timeout: 20_000,
      interval: 5,
    })
    await expectDrained(fleet.services.get('retrier'))
    expect(await countRows('RETRYING')).toBe(0)
    expect(await countRows('PENDING')).toBeGreaterThan(0)

    await fleet.services.start('retrier')
    await vi.waitFor(async () => expect(await countRows('RESOLVED')).toBe(produced), { timeout: 60_000, interval: 100 })
    const records = await readTopic(fleet.topics.kafka, {
      topic: fleet.original,
      groupId: fleet.topics.groupName('reader'),
    })
    const numbers = records.map(({ headerPairs }) => Number(headerPairs.find(([name]) => name === 'n')?.[1]))
    expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: produced }, (_, n) => n))
  })
})
