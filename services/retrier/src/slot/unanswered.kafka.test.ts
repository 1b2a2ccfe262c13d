// Commits whose answer is late, or never comes: where their records stand is known to whoever recovers the slot.

import {
  createProxiedKafka,
  endTransactionApi,
  type ProxiedRequest,
  pass,
  startFaultProxy,
} from 'dlq-testing/cluster/fault-proxy.ts'
import { eventually } from 'dlq-testing/eventually.ts'
import { useTopics } from 'dlq-testing/kafka/test-topics.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertDueRows } from 'dlq-testing/rows/due-rows.ts'
import { beforeEach, expect, test } from 'vitest'
import { retryAll, type TestRetrierOptions, testSlotDeps } from '../test-retrier.ts'
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
  await database.sql`update dlq.dlq_slots set owner_until = now() - interval '1 s'`
  const successor = testSlotDeps(options, { reader: topics.reader })
  expect(await sweepSlots(successor)).toEqual({ more: true })
  expect(await countAttempts()).toEqual([{ status: 'RESOLVED', outcome: 'published', placed: true, count }])
  expect(await countNoted()).toEqual([])
  await waiting
  await worker.close()
  await Promise.all([deps.targets.close(), successor.targets.close()])
  expect(await countAttempts()).toEqual([{ status: 'RESOLVED', outcome: 'published', placed: true, count }])
})
