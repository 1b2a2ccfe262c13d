// A transaction that Kafka has ended in one way for the ledger and in another for records, as it may where a coordinator is
// killed and comes back (decision 94). Here each half is a transaction of its own.

import { eventually } from 'dlq-testing/eventually.ts'
import { readTopic } from 'dlq-testing/kafka/read-topic.ts'
import { useTopics } from 'dlq-testing/kafka/test-topics.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { claimDue } from 'dlq-testing/rows/claim-due.ts'
import { insertDueRows } from 'dlq-testing/rows/due-rows.ts'
import { beforeEach, expect, test } from 'vitest'
import { prepareOutgoing } from '../publish/outgoing.ts'
import type { Sent } from '../publish/slot-producer.ts'
import { toMessages, toSent } from '../publish/transactional-producer.ts'
import { type TestRetrierOptions, testProducer, testSlotDeps } from '../test-retrier.ts'
import { connectAndRecover } from './recover-slot.ts'
import { createSlotWorker } from './run-slot.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const topics = useTopics()
const count = 20
let topic: string
let options: TestRetrierOptions

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_attempts', 'dlq.dlq_messages', 'dlq.dlq_slots')
  topic = await topics.createTopic('torn', { partitions: 2 })
  options = { sql: service.sql, kafka: topics.kafka, prefix: topics.groupName('retrier') }
  await insertDueRows(database.sql, { count, topics: [topic], partitions: 2 })
})

type Torn = { committed: number[]; aborted: number[]; ledger: boolean }

/** A batch whose records end in each partition as named, and whose number is in the ledger or not; then its recovery. */
async function recoverTorn({ committed, aborted, ledger }: Torn): Promise<void> {
  const deps = testSlotDeps(options, { reader: topics.reader })
  const worker = createSlotWorker(testSlotDeps({ ...options, policies: { [topic]: { paused: true } } }))
  await worker.pass()
  await worker.close()
  const batch = await claimDue(service.sql)
  const { outgoing } = await prepareOutgoing(batch.messages, deps)
  await deps.targets.close()
  const sent: Sent[] = []
  for (const [partitions, end] of [
    [committed, 'commit'],
    [aborted, 'abort'],
  ] as const) {
    const records = outgoing.filter(({ partition }) => partitions.includes(partition))
    if (records.length === 0) continue
    const producer = topics.kafka.producer({
      transactionalId: `${topic}-${end}`,
      idempotent: true,
      maxInFlightRequests: 1,
    })
    await producer.connect()
    const transaction = await producer.transaction()
    sent.push(
      ...toSent(
        records,
        await transaction.sendBatch({ acks: -1, topicMessages: [{ topic, messages: toMessages(records) }] }),
      ),
    )
    await transaction[end]()
    await producer.disconnect()
  }
  const producer = testProducer(options, batch.slot)
  await producer.connect()
  if (ledger) await producer.begin({ batchNumber: batch.batch, token: batch.token })
  await connectAndRecover(deps, { slot: batch, producer, sent })
  await producer.close()
}

const states = async () => [
  ...(await database.sql`
    select status, retry_count, original_partition as partition, count(*)::int from dlq.dlq_messages
    group by 1, 2, 3 order by 3`),
]
const attempts = async () => [
  ...(await database.sql`
    select outcome, target_partition as partition, count(*)::int, count(target_offset)::int as placed
    from dlq.dlq_attempts group by 1, 2 order by 2`),
]
const ofEach = count / 2
const [resolved, given] = [
  { status: 'RESOLVED', retry_count: 1, count: ofEach },
  { status: 'PENDING', retry_count: 0, count: ofEach },
]

test.each<[string, Torn]>([
  ['records were aborted, though the ledger has their number', { committed: [], aborted: [0, 1], ledger: true }],
  ['records were committed, though the ledger has not their number', { committed: [0, 1], aborted: [], ledger: false }],
  [
    'some were committed and some aborted, and the ledger has their number',
    { committed: [0], aborted: [1], ledger: true },
  ],
  ['some were committed and some aborted, and the ledger has it not', { committed: [1], aborted: [0], ledger: false }],
])('where %s, each message is what consumers see, and in the end each was sent once', async (_, torn) => {
  await recoverTorn(torn)
  expect(await states()).toEqual(
    [0, 1].map((partition) => ({ ...(torn.committed.includes(partition) ? resolved : given), partition })),
  )
  expect(await attempts()).toEqual(
    torn.committed.map((partition) => ({ outcome: 'published', partition, count: ofEach, placed: ofEach })),
  )
  const deps = testSlotDeps(options)
  const worker = createSlotWorker(deps)
  while ((await worker.pass()).more);
  await worker.close()
  await deps.targets.close()
  expect(await states()).toEqual([0, 1].map((partition) => ({ ...resolved, partition })))
  await eventually(async () => {
    const records = await readTopic(topics.kafka, { topic, groupId: topics.groupName('reader') })
    expect(records.map(({ value }) => String(value)).toSorted()).toEqual(
      Array.from({ length: count }, (_, n) => `{"n":${n}}`).toSorted(),
    )
  })
})
