// Quotas of Kafka hold our clients back. Everything takes longer then, the log says why, and nothing is lost or doubled.
import { randomBytes } from 'node:crypto'
import { eventually } from 'dlq-testing/eventually.ts'
import { useFleet } from 'dlq-testing/fleet/test-fleet.ts'
import { setClientQuota } from 'dlq-testing/kafka/java.ts'
import { readTopic } from 'dlq-testing/kafka/read-topic.ts'
import { numberedDeadLetter } from 'dlq-testing/rows/spring-dead-letter.ts'
import { expect, test } from 'vitest'

/** The session of an ingester's consumer, in ms. */
const sessionMs = 6000

const clientId = `quotas-${randomBytes(4).toString('hex')}`
const fleet = useFleet('quotas', { env: { DLQ_KAFKA_CLIENT_ID: clientId, DLQ_RETRY_AUTO_RETRY: 'false' } })
let produced = 0

const setQuota = (quota: string) => setClientQuota(fleet.topics.brokers, { clientId, quota })

/** Sends dead letters of about 5 KB. */
async function produce(count: number): Promise<void> {
  for (const end = produced + count; produced < end; ) {
    const few = Math.min(100, end - produced)
    const messages = Array.from({ length: few }, (_, i) => deadLetter(produced + i))
    await fleet.producer.send({ topic: fleet.dlq, messages })
    produced += few
  }
}

const deadLetter = (n: number) =>
  numberedDeadLetter(n, { topic: fleet.original, partitions: 1, group: 'quotas', value: randomBytes(1000) })

async function countWith(status: string): Promise<number> {
  const [row] = await fleet.database.sql<{ n: number }[]>`
    select count(*)::int as n from dlq.dlq_messages where status = ${status}`
  return row!.n
}

const throttledFor = (name: 'ingester' | 'retrier') =>
  fleet.logOf(name).flatMap(({ event, throttleMs }) => (event === 'kafka_throttled' ? [Number(throttleMs)] : []))

test('an ingester that is held back for longer than its session keeps its partitions; a retrier sends each message once', async ({
  skip,
}) => {
  const isSet = await setQuota('consumer_byte_rate=50000,producer_byte_rate=20000')
  skip(!isSet, 'no Java: nobody can set quotas here')
  await produce(210)
  await fleet.services.startAll()
  await eventually(async () => expect(await countWith('PENDING')).toBe(produced))
  // Both are held back from now on.
  await retryAll()
  await produce(10)
  await eventually(async () => expect(await countWith('RESOLVED')).toBe(210))
  await eventually(async () => expect(await countWith('PENDING')).toBe(10))
  expect(Math.max(...throttledFor('ingester'))).toBeGreaterThan(sessionMs)
  expect(Math.max(...throttledFor('retrier'))).toBeGreaterThan(1000)
  expect(fleet.logOf('ingester').filter(({ event }) => event === 'partitions_assigned')).toHaveLength(1)
  await expectSentOnce(210)
})

test('a batch that would be sent for longer than a transaction may take becomes smaller', async ({ skip }) => {
  const isSet = await setQuota('consumer_byte_rate=100000000,producer_byte_rate=20000')
  skip(!isSet, 'no Java: nobody can set quotas here')
  await produce(3000)
  await eventually(async () => expect((await countWith('PENDING')) + (await countWith('RESOLVED'))).toBe(produced))
  await retryAll()
  await eventually(async () => expect(await countWith('RESOLVED')).toBe(produced))
  const reasons = fleet
    .logOf('retrier')
    .flatMap(({ event, reason }) => (event === 'kafka_away' ? [String(reason)] : []))
  expect(reasons.join()).toContain('a transaction took more than the 60 s after which Kafka ends it')
  await expectSentOnce(produced)
})

async function retryAll(): Promise<void> {
  const asked = await fleet.services.request(`/api/v1/dlq/${fleet.dlq}/retry-all`, { method: 'POST' })
  expect(asked.status).toBeLessThan(300)
}

async function expectSentOnce(count: number): Promise<void> {
  const groupId = fleet.topics.groupName('reader')
  const records = await readTopic(fleet.topics.kafka, { topic: fleet.original, groupId })
  expect(records).toHaveLength(count)
  expect(new Set(records.map(({ value }) => value!.toString('base64'))).size).toBe(count)
}
