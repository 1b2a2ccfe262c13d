// Dead letters in transactions, as Kafka Streams and Connect write them under exactly-once. Between them lie markers
// and records of aborted transactions.
import { randomBytes } from 'node:crypto'
import { eventually } from 'dlq-testing/eventually.ts'
import { useFleet } from 'dlq-testing/fleet/test-fleet.ts'
import type { Producer } from 'kafkajs'
import { afterAll, beforeAll, expect, test } from 'vitest'

const soak = process.env.DLQ_SOAK === '1'
const rounds = soak ? 200 : 10
/** One fetch takes 3.5 MB of a partition, so that whole fetches hold nothing but aborted records. */
const abortedValues = 12
const abortedValueBytes = 400_000

const fleet = useFleet('transactions', { env: { DLQ_RETRY_AUTO_RETRY: 'false' } })
let producer: Producer

beforeAll(async () => {
  await fleet.services.startAll()
  producer = fleet.topics.kafka.producer({
    transactionalId: fleet.topics.groupName('transactions'),
    idempotent: true,
    maxInFlightRequests: 1,
    retry: { initialRetryTime: 5, multiplier: 1.5, maxRetryTime: 200, retries: 300 },
  })
  await producer.connect()
})
afterAll(() => producer?.disconnect())

async function send(outcome: 'commit' | 'abort', values: (string | Buffer)[]): Promise<void> {
  const transaction = await producer.transaction()
  // One by one: a batch may not be larger than 1 MB.
  for (const value of values) await transaction.send({ topic: fleet.dlq, messages: [{ value }] })
  await transaction[outcome]()
}

async function storedValues(): Promise<string[]> {
  const rows = await fleet.database.sql<{ value: string }[]>`
    select convert_from(record_value, 'UTF8') as value from dlq.dlq_messages order by dlq_offset`
  return rows.map(({ value }) => value)
}

test('records of committed transactions are stored; aborted ones, of any size, are not stored and do not stop the partition', async () => {
  const expected: string[] = []
  for (let round = 0; round < rounds; round += 1) {
    const committed = [`${round} first`, `${round} second`]
    await send('commit', committed)
    await send(
      'abort',
      round % 5 === 0
        ? Array.from({ length: abortedValues }, () => randomBytes(abortedValueBytes))
        : [`${round} aborted`],
    )
    expected.push(...committed)
  }
  await fleet.producer.send({ topic: fleet.dlq, messages: [{ value: 'last' }] })
  expected.push('last')
  await eventually(async () => expect(await storedValues()).toEqual(expected), { intervalMs: 100 })

  const [position] = await fleet.database.sql<{ next_offset: string }[]>`select next_offset from dlq.dlq_positions`
  const [end] = await fleet.topics.admin.fetchTopicOffsets(fleet.dlq)
  expect(position).toEqual({ next_offset: end!.high })
})

test('a log that begins with fetches of aborted records, because retention has deleted others, does not stop the partition', async () => {
  const { admin } = fleet.topics
  const before = await storedValues()
  await fleet.services.get('ingester').stop('SIGTERM', 30_000)
  const endOfLog = async () => BigInt((await admin.fetchTopicOffsets(fleet.dlq))[0]!.high)
  const start = await endOfLog()
  await send('commit', ['deleted'])
  // Kafka answers a commit before its marker is written. Until then the log ends before the record, and nothing would be deleted.
  const end = await eventually(async () => {
    const end = await endOfLog()
    expect(end).toBeGreaterThan(start)
    return end
  })
  await send(
    'abort',
    Array.from({ length: abortedValues }, () => randomBytes(abortedValueBytes)),
  )
  await send('commit', ['kept'])
  await admin.deleteTopicRecords({ topic: fleet.dlq, partitions: [{ partition: 0, offset: String(end) }] })

  await fleet.services.start('ingester')
  await eventually(async () => expect(await storedValues()).toEqual([...before, 'kept']), { intervalMs: 100 })
})
