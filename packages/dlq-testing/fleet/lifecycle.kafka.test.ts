// Services start and stop under load: each drains when it is asked to stop, and a second one shares the work of the
// first.
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually, nothingHappensFor } from 'dlq-testing/eventually.ts'
import type { ServiceProcess } from 'dlq-testing/fleet/service-process.ts'
import { useFleet } from 'dlq-testing/fleet/test-fleet.ts'
import { readTopic } from 'dlq-testing/kafka/read-topic.ts'
import { numberedDeadLetter } from 'dlq-testing/rows/spring-dead-letter.ts'
import { beforeAll, describe, expect, test } from 'vitest'

const soak = process.env.DLQ_SOAK === '1'
const report = soak ? console.log : () => {}
const flowMs = soak ? 30_000 : 4000
const flowRecords = soak ? 6000 : 400
const backlog = soak ? 20_000 : 1500
/** A rate so low that the retrier still has a backlog when it is asked to stop. */
const ratePerSecond = soak ? 2000 : 300
/** The default configuration's time. The tests of a busy machine allow more. */
const drainMs = 10_000
const patientDrainMs = 60_000
/** Well under the megabyte that a broker takes at once. */
const maxSend = 200

const fleet = useFleet('lifecycle', {
  partitions: 4,
  env: { DLQ_RETRY_AUTO_RETRY: 'false', DLQ_RETRY_BATCH_SIZE: '25' },
})
let produced = 0

beforeAll(async () => {
  await fleet.database
    .sql`insert into dlq.dlq_policies (pattern, rate_per_second) values (${fleet.original}, ${ratePerSecond})`
  await fleet.services.startAll()
})

const deadLetter = (n: number) =>
  numberedDeadLetter(n, {
    ...{ topic: fleet.original, partitions: 4, group: 'lifecycle' },
    headers: [['n', Buffer.from(`${n}`)]],
  })

async function produce(count: number): Promise<void> {
  for (const end = produced + count; produced < end; ) {
    const messages = Array.from({ length: Math.min(maxSend, end - produced) }, (_, i) => deadLetter(produced + i))
    produced += messages.length
    await fleet.producer.send({ topic: fleet.dlq, messages })
  }
}

/** A steady stream of records that continues, within a bound, until the test ends it. */
async function flow(isEnough: () => boolean = () => true): Promise<void> {
  const steps = 100
  for (let step = 0; step < steps || (!isEnough() && step < 25 * steps); step += 1) {
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
  await eventually(async () => expect(await countRows()).toBe(produced))
  // No record may be stored twice.
  await nothingHappensFor(500)
  expect(await countRows()).toBe(produced)
}

/** Records that the ingester at `url` has stored. */
async function storedBy({ url }: ServiceProcess): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  return Number(/^dlq_ingest_records_total\{.*outcome="stored".*\} (\d+)$/m.exec(metrics)?.[1] ?? 0)
}

/** Sends SIGTERM. The process must end in order, at full size within ten seconds. */
async function expectDrained(service: ServiceProcess): Promise<void> {
  const start = performance.now()
  service.child.kill('SIGTERM')
  const timeout = sleep(soak ? drainMs : patientDrainMs, 'still running', { ref: false })
  expect(await Promise.race([service.exited, timeout])).toEqual({ code: 0, signal: null })
  report(`${service.name} drained in ${Math.round(performance.now() - start)} ms`)
}

test('a second ingester joins and leaves while records flow, and every record is stored once', async () => {
  const first = fleet.services.get('ingester')
  let isShared = false
  const flowing = flow(() => isShared)
  const second = await fleet.services.start('ingester', 'second-ingester')
  await eventually(async () => expect(await storedBy(second)).toBeGreaterThan(0))
  isShared = true
  const before = await storedBy(first)
  await expectDrained(second)
  await flowing
  await produce(40)
  await untilAllStored()
  expect(await storedBy(first)).toBeGreaterThan(before)
})

describe('SIGTERM', () => {
  test('ends an ingester in order while records flow, and the next one goes on', async () => {
    let isDrained = false
    const flowing = flow(() => isDrained)
    const before = await countRows()
    await eventually(async () => expect(await countRows()).toBeGreaterThan(before), { intervalMs: 10 })
    await expectDrained(fleet.services.get('ingester'))
    isDrained = true
    await fleet.services.start('ingester')
    await flowing
    await untilAllStored()
  })

  test('ends an API in order while a retry waits for its outcome, which is still answered', async () => {
    await fleet.services.get('retrier').stop('SIGTERM', patientDrainMs)
    const [row] = await fleet.database.sql<{ id: string }[]>`select id from dlq.dlq_messages order by id limit 1`
    const asking = fleet.services.request(`/api/v1/dlq/messages/${row!.id}/retry`, { method: 'POST' })
    asking.catch(() => {})
    await eventually(async () => {
      const attempts = await fleet.database.sql`select from dlq.dlq_attempts where message_id = ${row!.id}`
      expect(attempts).toHaveLength(1)
    })
    await expectDrained(fleet.services.get('api'))
    expect(await asking).toMatchObject({ status: 202 })
    const restarted = await Promise.all([fleet.services.start('retrier'), fleet.services.start('api')])
    await Promise.all(restarted.map((service) => service.ready()))
  })

  test('ends a retrier in order while it publishes: no message stays claimed, and none is sent twice', async () => {
    if (produced < backlog) await produce(backlog - produced)
    await untilAllStored()
    const asked = await fleet.services.request(`/api/v1/dlq/${fleet.dlq}/retry-all`, {
      method: 'POST',
      headers: { prefer: 'wait=0' },
    })
    expect(asked).toMatchObject({ status: 202 })
    await eventually(async () => expect(await countRows('RESOLVED')).toBeGreaterThan(50), { intervalMs: 5 })
    await expectDrained(fleet.services.get('retrier'))
    expect(await countRows('RETRYING')).toBe(0)
    expect(await countRows('PENDING')).toBeGreaterThan(0)

    await fleet.database.sql`delete from dlq.dlq_policies`
    await fleet.services.start('retrier')
    await eventually(async () => expect(await countRows('RESOLVED')).toBe(produced), { intervalMs: 100 })
    const records = await readTopic(fleet.topics.kafka, {
      topic: fleet.original,
      groupId: fleet.topics.groupName('reader'),
    })
    const numbers = records.map(({ headerPairs }) => Number(headerPairs.find(([name]) => name === 'n')?.[1]))
    expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: produced }, (_, n) => n))
  })
})
