// Retriers that died at some point of a batch, and the recovery by their successor; and commits that Kafka never answered.

import { randomUUID } from 'node:crypto'
import { findTopicsOfUnplaced } from 'dlq-core/queries/ingest/message-correlate.ts'
import { noteUnanswered, type Sent } from 'dlq-core/queries/retry/slots.ts'
import {
  createProxiedKafka,
  endTransactionApi,
  type ProxiedRequest,
  pass,
  startFaultProxy,
} from 'dlq-testing/cluster/fault-proxy.ts'
import { eventually } from 'dlq-testing/eventually.ts'
import { readTopic } from 'dlq-testing/kafka/read-topic.ts'
import { useTopics } from 'dlq-testing/kafka/test-topics.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { claimDue } from 'dlq-testing/rows/claim-due.ts'
import { insertDueRows } from 'dlq-testing/rows/due-rows.ts'
import { enterRun } from 'dlq-testing/rows/enter-run.ts'
import { beforeEach, expect, test } from 'vitest'
import { prepareOutgoing } from '../publish/outgoing.ts'
import type { Part, SlotProducer } from '../publish/slot-producer.ts'
import { toMessages, toSent } from '../publish/transactional-producer.ts'
import { createTopicHolds } from '../targets/topic-holds.ts'
import { retryAll, type TestRetrierOptions, testProducer, testSlotDeps } from '../test-retrier.ts'
import { ledgerGroup } from './ledger.ts'
import { createSlotWorker } from './run-slot.ts'
import { sweepSlots } from './sweep-slots.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const topics = useTopics()
const count = 20
let topic: string
let options: TestRetrierOptions

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_attempts', 'dlq.dlq_messages', 'dlq.dlq_slots')
  topic = await topics.createTopic('orders', { partitions: 2 })
  options = { sql: service.sql, kafka: topics.kafka, prefix: topics.groupName('retrier') }
  await insertDueRows(database.sql, { count, topics: [topic], partitions: 2 })
})

/** A claimed batch, and its records. */
async function claim() {
  const worker = createSlotWorker(testSlotDeps({ ...options, policies: { [topic]: { paused: true } } }))
  await worker.pass()
  await worker.close()
  const batch = await claimDue(service.sql)
  expect(batch.messages).toHaveLength(count)
  const deps = testSlotDeps(options)
  const { outgoing } = await prepareOutgoing(batch.messages, deps)
  await deps.targets.close()
  return { batch, outgoing }
}

const endLease = () => database.sql`update dlq.dlq_slots set owner_until = now() - interval '1 s'`

/** A retrier that claims a batch, does `until`, and then dies. Its slot's lease has expired. */
async function dieAfter(until: 'claim' | 'send' | 'commit'): Promise<void> {
  const { batch, outgoing } = await claim()
  const passFaultPoint = (point: string) => {
    if (until === 'send' && point === 'between-send-and-commit') throw new Error('died')
  }
  const producer = testProducer(options, batch.slot, { passFaultPoint })
  if (until !== 'claim') {
    await producer.publish({ batchNumber: batch.batch, token: batch.token, records: outgoing }).catch(() => {})
    if (until === 'commit') await producer.close()
  }
  await endLease()
}

async function sweep() {
  const deps = testSlotDeps(options, { reader: topics.reader })
  try {
    return await sweepSlots(deps)
  } finally {
    await deps.targets.close()
  }
}

const states = () => database.sql`select status, retry_count, count(*)::int from dlq.dlq_messages group by 1, 2`
const outcomes = async () => [
  ...(await database.sql`
    select outcome, unknown_at is not null as unknown, target_topic, target_offset is not null as placed, count(*)::int
    from dlq.dlq_attempts group by 1, 2, 3, 4`),
]
const seen = async () => {
  const records = await readTopic(topics.kafka, { topic, groupId: topics.groupName('reader') })
  return records.map(({ value }) => String(value)).toSorted()
}
const each = () => Array.from({ length: count }, (_, n) => `{"n":${n}}`).toSorted()

/** The window of the topic, in which the messages of the dead retrier were counted. */
async function openWindow(beganAt: Date): Promise<() => Promise<number>> {
  await database.sql`
    insert into dlq.dlq_rate_buckets (topic, tokens, refilled_at, run_started_at, run_used, granted)
    values (${topic}, 0, now(), ${beganAt}, ${count + 5}, ${count})`
  return async () => (await database.sql`select run_used from dlq.dlq_rate_buckets where topic = ${topic}`)[0]!.run_used
}

test.each([
  ['unpublished messages are taken off their window again', 'send', -60_000, 5],
  ['unpublished messages are not taken off a later window', 'send', 60_000, count + 5],
  ['published messages stay in their window', 'commit', -60_000, count + 5],
] as const)('%s', async (_, until, beganMs, used) => {
  const window = await openWindow(new Date(Date.now() + beganMs))
  await dieAfter(until)
  expect(await sweep()).toEqual({ more: true })
  expect(await window()).toBe(used)
})

test('committed messages are RESOLVED, with their attempts, and not sent again', async () => {
  await dieAfter('commit')
  expect(await sweep()).toEqual({ more: true })
  expect([...(await states())]).toEqual([{ status: 'RESOLVED', retry_count: 1, count }])
  const attempts =
    await database.sql`select number, outcome, slot, target_topic, count(*)::int from dlq.dlq_attempts group by 1, 2, 3, 4`
  expect([...attempts]).toEqual([{ number: 1, outcome: 'published', slot: 1, target_topic: topic, count }])
  await retryAll(testSlotDeps(options))
  expect(await seen()).toEqual(each())
  expect(await sweep()).toEqual({ more: false })
})

test('committed messages of a run count for it', async () => {
  const counted = await enterRun(database.sql)
  await dieAfter('commit')
  await sweep()
  expect(await counted()).toEqual({ resolved: count })
})

test.each(['claim', 'send'] as const)(
  'after a death behind the %s the messages are given back uncounted, and sent once',
  async (until) => {
    await dieAfter(until)
    expect(await sweep()).toEqual({ more: true })
    expect([...(await states())]).toEqual([{ status: 'PENDING', retry_count: 0, count }])
    expect(await outcomes()).toEqual([])
    await retryAll(testSlotDeps(options))
    expect([...(await states())]).toEqual([{ status: 'RESOLVED', retry_count: 1, count }])
    expect(await seen()).toEqual(each())
  },
)

test('a taker of the slot recovers it before it claims anything', async () => {
  await dieAfter('commit')
  await retryAll(testSlotDeps(options))
  expect([...(await states())]).toEqual([{ status: 'RESOLVED', retry_count: 1, count }])
  expect(await seen()).toEqual(each())
})

test('where Kafka has forgotten the number, the messages are sent again under the same attempt id', async () => {
  await dieAfter('commit')
  const groupId = ledgerGroup(options.prefix, 1)
  // Kafka answers a commit before its number is in the ledger. The first entry had number 1.
  await eventually(async () => {
    const [ledger] = await topics.admin.fetchOffsets({ groupId, topics: ['dlq-manager.ledger'] })
    expect(ledger!.partitions).toMatchObject([{ offset: '2' }])
  })
  await topics.admin.deleteGroups([groupId])
  expect(await sweep()).toEqual({ more: true })
  expect([...(await states())]).toEqual([{ status: 'PENDING', retry_count: 0, count }])
  expect(await outcomes()).toEqual([{ outcome: 'unknown', unknown: true, target_topic: topic, placed: false, count }])
  // Their records may be in Kafka at coordinates that are not stored, so the ingester searches the topic.
  expect(await findTopicsOfUnplaced(service.sql, [topic], () => topic)).toEqual(new Set([topic]))
  await retryAll(testSlotDeps(options))
  expect(await outcomes()).toEqual([{ outcome: 'published', unknown: true, target_topic: topic, placed: true, count }])
  expect(await findTopicsOfUnplaced(service.sql, [topic], () => topic)).toEqual(new Set([topic]))
  expect([...(await states())]).toEqual([{ status: 'RESOLVED', retry_count: 1, count }])
  const records = await readTopic(topics.kafka, { topic, groupId: topics.groupName('reader') })
  expect(records).toHaveLength(2 * count)
  const ids = records.map(({ headerPairs }) => String(headerPairs.find(([name]) => name === 'dlq-attempt-id')?.[1]))
  expect(new Set(ids).size).toBe(count)
})

test('a database restored from a backup continues above the number in the ledger', async () => {
  await dieAfter('commit')
  // As if the backup were from before: the numbers of the lost batches are given out a second time.
  await database.sql`update dlq.dlq_slots set batch = 0`
  await database.sql`update dlq.dlq_messages set lease_batch = 1, lease_token = ${randomUUID()}`
  await retryAll(testSlotDeps(options))
  expect([...(await states())]).toEqual([{ status: 'RESOLVED', retry_count: 1, count }])
  expect(await seen()).toHaveLength(2 * count)
  const [row] = await database.sql`select batch::int from dlq.dlq_slots`
  // The first taker's greeting is 1, the lost batch 2, the second taker's greeting 3, the batch it sent 4.
  expect(row).toEqual({ batch: 4 })
})

test('a batch of another retrier with the same number is not taken for ours', async () => {
  await dieAfter('claim')
  const [row] = await database.sql<{ batch: string }[]>`select batch from dlq.dlq_slots`
  const foreign = testProducer(options, 1)
  await foreign.connect()
  await foreign.begin({ batchNumber: BigInt(row!.batch), token: randomUUID() })
  await foreign.close()
  await retryAll(testSlotDeps(options))
  expect([...(await states())]).toEqual([{ status: 'RESOLVED', retry_count: 1, count }])
  expect(await seen()).toEqual(each())
})

test.each([
  ['a batch', false],
  ['the last part of a batch', true],
])('a settlement of %s that a failover has lost is made again, and nothing is sent twice', async (_, isSplit) => {
  const parts: Part[] = []
  const createProducer = (slot: number): SlotProducer => {
    const producer = testProducer(options, slot)
    return {
      ...producer,
      publish(part) {
        parts.push(part)
        return producer.publish(part)
      },
    }
  }
  // Doubtful records go in pieces, of which the first has `count`.
  await insertDueRows(database.sql, { count: 1, topics: [topic], from: count })
  const holds = { ...createTopicHolds({ now: Date.now }), isDoubtful: () => isSplit }
  const deps = testSlotDeps(options, { leaseMs: 300, createProducer, holds })
  const worker = createSlotWorker(deps)
  while ((await worker.pass()).more);
  expect(parts).toHaveLength(isSplit ? 2 : 1)
  // As the standby has it: they are claimed, under the last number.
  const { batchNumber, token, records } = parts.at(-1)!
  const ids = records.map(({ id }) => id)
  await database.sql`delete from dlq.dlq_attempts where message_id = any(${ids})`
  await database.sql`
    update dlq.dlq_messages set
      status = 'RETRYING', lease_slot = 1, lease_batch = ${String(batchNumber)}, lease_token = ${token}
    where id = any(${ids})`
  await eventually(async () => {
    await worker.pass()
    expect([...(await states())]).toEqual([{ status: 'RESOLVED', retry_count: 1, count: count + 1 }])
  })
  await worker.close()
  await deps.targets.close()
  const [attempts] = await database.sql`select count(*)::int from dlq.dlq_attempts where outcome = 'published'`
  expect(attempts).toEqual({ count: count + 1 })
  expect(await seen()).toEqual([...each(), `{"n":${count}}`].toSorted())
})

test('a slot from which nothing can be settled is not looked at again at once', async () => {
  await dieAfter('claim')
  // Past the trigger that ends a lease.
  await database.sql.begin(async (sql) => {
    await sql`set local session_replication_role = replica`
    await sql`update dlq.dlq_messages set status = 'DEAD'`
  })
  expect(await sweep()).toEqual({ more: false })
})

type Torn = { committed: number[]; aborted: number[]; ledger: boolean }

/**
 * A batch that Kafka has ended in one way for the ledger and in another for records, as it may where a coordinator is killed
 * and comes back (decision 94); then its recovery. Here each half is a transaction of its own.
 */
async function recoverTorn({ committed, aborted, ledger }: Torn): Promise<void> {
  const { batch, outgoing } = await claim()
  const sent: Sent[] = []
  for (const [partitions, end] of [
    [committed, 'commit'],
    [aborted, 'abort'],
  ] as const) {
    const records = outgoing.filter(({ partition }) => partitions.includes(partition))
    if (records.length === 0) continue
    const transactionalId = `${topic}-${end}`
    const producer = topics.kafka.producer({ transactionalId, idempotent: true, maxInFlightRequests: 1 })
    await producer.connect()
    const transaction = await producer.transaction()
    const topicMessages = [{ topic, messages: toMessages(records) }]
    sent.push(...toSent(records, await transaction.sendBatch({ acks: -1, topicMessages })))
    await transaction[end]()
    await producer.disconnect()
  }
  const producer = testProducer(options, batch.slot)
  await producer.connect()
  if (ledger) await producer.begin({ batchNumber: batch.batch, token: batch.token })
  await producer.close()
  await noteUnanswered(service.sql, { ...batch, records: sent })
  await endLease()
  expect(await sweep()).toEqual({ more: true })
}

test.each<[string, Torn]>([
  ['records were aborted, though the ledger has their number', { committed: [], aborted: [0, 1], ledger: true }],
  ['records were committed, though the ledger has not their number', { committed: [0, 1], aborted: [], ledger: false }],
  [
    'some were committed and some aborted, and the ledger has their number',
    { committed: [0], aborted: [1], ledger: true },
  ],
  ['some were committed and some aborted, and the ledger has it not', { committed: [1], aborted: [0], ledger: false }],
])('where %s, each message is what consumers see, and in the end each was sent once', async (_, torn) => {
  const ofEach = count / 2
  const resolved = { status: 'RESOLVED', retry_count: 1, count: ofEach }
  const given = { status: 'PENDING', retry_count: 0, count: ofEach }
  const states = async () => [
    ...(await database.sql`
      select status, retry_count, original_partition as partition, count(*)::int from dlq.dlq_messages
      group by 1, 2, 3 order by 3`),
  ]
  await recoverTorn(torn)
  expect([...(await database.sql`select unanswered from dlq.dlq_slots`)]).toEqual([{ unanswered: null }])
  expect(await states()).toEqual(
    [0, 1].map((partition) => ({ ...(torn.committed.includes(partition) ? resolved : given), partition })),
  )
  const attempts = await database.sql`
    select outcome, target_partition as partition, count(*)::int, count(target_offset)::int as placed
    from dlq.dlq_attempts group by 1, 2 order by 2`
  expect([...attempts]).toEqual(
    torn.committed.map((partition) => ({ outcome: 'published', partition, count: ofEach, placed: ofEach })),
  )
  await retryAll(testSlotDeps(options))
  expect(await states()).toEqual([0, 1].map((partition) => ({ ...resolved, partition })))
  await eventually(async () => expect(await seen()).toEqual(each()))
})

/** The broker answers the end of a retrier's first batch so much later. Its first transaction is before that, and empty. */
async function answerLater(ms: number) {
  let ends = 0
  const judge = ({ apiKey }: ProxiedRequest) => {
    if (apiKey === endTransactionApi) ends += 1
    return apiKey === endTransactionApi && ends === 2 ? ({ kind: 'hold-answer', ms } as const) : pass
  }
  const port = Number(topics.brokers[0]!.split(':').at(-1))
  const proxy = await startFaultProxy({ id: 1, port }, judge)
  const kafka = createProxiedKafka(topics.brokers, new Map([[port, proxy]]), { requestTimeout: 5000 })
  return { kafka, [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose]() }
}

/** topic and partition → how many records are noted. */
async function countNoted() {
  const rows = await database.sql`
    select sent ->> 'topic' as topic, (sent ->> 'partition')::int as partition, count(*)::int,
      count(distinct sent ->> 'offset')::int as offsets
    from dlq.dlq_slots, jsonb_array_elements(unanswered -> 'records') as sent group by 1, 2 order by 2`
  return [...rows]
}

const allNoted = () => [0, 1].map((partition) => ({ topic, partition, count: count / 2, offsets: count / 2 }))

async function countAttempts() {
  const rows = await database.sql`
    select m.status, outcome, target_offset is not null as placed, count(*)::int
    from dlq.dlq_attempts a join dlq.dlq_messages m on m.id = a.message_id group by 1, 2, 3`
  return [...rows]
}

test('an answer that is late is waited for; what was noted meanwhile is forgotten with the next recovery', async () => {
  await using late = await answerLater(1500)
  await retryAll(testSlotDeps({ ...options, kafka: late.kafka }))
  expect(await countAttempts()).toEqual([{ status: 'RESOLVED', outcome: 'published', placed: true, count }])
  expect(await countNoted()).toEqual(allNoted())
  await retryAll(testSlotDeps(options))
  expect(await countNoted()).toEqual([])
})

test('a retrier that dies while it waits leaves behind where its records stand', async () => {
  await using late = await answerLater(60_000)
  const deps = testSlotDeps({ ...options, kafka: late.kafka })
  const worker = createSlotWorker(deps)
  const waiting = worker.pass().catch(() => {})
  await eventually(async () => expect(await countNoted()).toEqual(allNoted()))
  await endLease()
  expect(await sweep()).toEqual({ more: true })
  expect(await countAttempts()).toEqual([{ status: 'RESOLVED', outcome: 'published', placed: true, count }])
  expect(await countNoted()).toEqual([])
  await waiting
  await worker.close()
  await deps.targets.close()
  expect(await countAttempts()).toEqual([{ status: 'RESOLVED', outcome: 'published', placed: true, count }])
})
