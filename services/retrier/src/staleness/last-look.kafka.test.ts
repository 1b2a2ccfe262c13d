// A policy that holds what is not known to be fresh: what is sent, what is given back, and why.

import { defaultRetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { listStaleness } from 'dlq-core/queries/staleness/answers.ts'
import { forceStale } from 'dlq-core/queries/staleness/hold-stale.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { readTopic } from 'dlq-testing/kafka/read-topic.ts'
import { useTopics } from 'dlq-testing/kafka/test-topics.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, type MessageColumns, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import type { Producer } from 'kafkajs'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { createSlotWorker } from '../slot/run-slot.ts'
import { testSlotDeps } from '../test-retrier.ts'
import { createStalenessScan } from './scan-staleness.ts'
import { createStalenessMetrics } from './staleness-metrics.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const topics = useTopics()
let producer: Producer

beforeAll(async () => {
  producer = topics.kafka.producer({ allowAutoTopicCreation: false })
  await producer.connect()
})
afterAll(() => producer.disconnect())
beforeEach(() =>
  emptyTables(
    database.sql,
    ...['dlq.dlq_staleness', 'dlq.dlq_staleness_cursors', 'dlq.dlq_attempts', 'dlq.dlq_messages', 'dlq.dlq_runs'],
    ...['dlq.dlq_summary', 'dlq.dlq_summary_totals', 'dlq.dlq_summary_deltas'],
  ),
)

async function look(): Promise<void> {
  await database.sql`update dlq.dlq_staleness_cursors set look_due_at = now()`
  const scan = createStalenessScan({
    ...{ admin: topics.admin, reader: topics.reader, sql: service.sql, now: Date.now },
    ...{ maxBytes: 2 ** 30, ratePerSecond: 2 ** 40, signal: new AbortController().signal },
    log: createLog({ service: 'retrier', level: 'silent' }),
    metrics: createStalenessMetrics(new Registry()),
    policies: {
      load: async () => {},
      policyOf: () => ({ ...defaultRetryPolicy, staleness: 'hold' }),
      mayAskAboutNewer: () => true,
    },
  })
  while ((await scan()).more);
}

/** Sends what is due of the topic, as a retrier does. */
function retrier(topic: string, staleness: 'hold' | 'ignore' = 'hold') {
  const deps = testSlotDeps(
    {
      sql: service.sql,
      kafka: topics.kafka,
      prefix: topics.groupName('retrier'),
      policies: { [topic]: { staleness } },
    },
    { reader: topics.reader },
  )
  const worker = createSlotWorker(deps)
  onTestFinished(async () => {
    await worker.close()
    await deps.targets.close()
  })
  return async () => {
    while ((await worker.pass()).more);
  }
}

const send = (topic: string, ...keys: string[]) =>
  producer.send({ topic, messages: keys.map((key) => ({ key, value: 'from elsewhere', partition: 0 })) })

const due = (topic: string, offset: number | null, columns: MessageColumns = {}) =>
  insertMessageRow(database.sql, {
    ...{ original_topic: topic, original_partition: 0, original_offset: offset, next_retry_at: new Date(0) },
    ...{ record_key: Buffer.from('k'), record_value: Buffer.from('retried'), record_headers: database.sql.json([]) },
    ...columns,
  })

const retriedOf = async (topic: string) =>
  (await readTopic(topics.kafka, { topic, groupId: topics.groupName('reader') })).filter(
    ({ value }) => String(value) === 'retried',
  )
const held = { status: 'PENDING', retry_count: 0, next_retry_at: null, run_id: null }

test('a newer record between the scan and the send is found by the last read; what is fresh is sent', async () => {
  const topic = await topics.createTopic('orders')
  await send(topic, 'k', 'k2')
  const [overtaken, fresh] = [await due(topic, 0), await due(topic, 1, { record_key: Buffer.from('k2') })]
  await look()
  expect((await listStaleness(service.sql, [overtaken, fresh])).map(({ answer }) => answer)).toEqual(['fresh', 'fresh'])
  await send(topic, 'k')
  await retrier(topic)()
  expect(await readMessageRow(database.sql, overtaken)).toMatchObject(held)
  expect(await listStaleness(service.sql, [overtaken])).toMatchObject([{ answer: 'superseded', newer_offset: 2n }])
  expect(await readMessageRow(database.sql, fresh)).toMatchObject({ status: 'RESOLVED' })
  expect(await retriedOf(topic)).toHaveLength(1)
})

test('what nobody has looked at waits for the look, and what cannot be told is held', async () => {
  const topic = await topics.createTopic('orders')
  await send(topic, 'k')
  const [waiting, keyless] = [await due(topic, 0), await due(topic, 0, { record_key: null })]
  const pass = retrier(topic)
  await pass()
  const row = await readMessageRow(database.sql, waiting)
  expect(row).toMatchObject({ status: 'PENDING', retry_count: 0 })
  expect(row.next_retry_at.getTime()).toBeGreaterThan(0)
  expect(await readMessageRow(database.sql, keyless)).toMatchObject(held)
  expect(await listStaleness(service.sql, [keyless])).toMatchObject([{ answer: 'unknown', reason: 'no_key' }])
  expect(await retriedOf(topic)).toEqual([])
  await look()
  await database.sql`update dlq.dlq_messages set next_retry_at = '1970-01-01' where id = ${waiting}`
  await pass()
  expect(await readMessageRow(database.sql, waiting)).toMatchObject({ status: 'RESOLVED' })
})

test('what was held because Kafka did not allow the look is due again once it is fresh, if it was due by itself', async () => {
  const topic = await topics.createTopic('orders')
  await send(topic, 'k', 'k2', 'k3', 'k4')
  const letter = (n: number, columns: MessageColumns = {}) =>
    due(topic, n, { record_key: Buffer.from(['k', 'k2', 'k3', 'k4'][n]!), ...columns })
  const [own, asked, edited, stale] = [
    await letter(0),
    await letter(1, { retry_requested: true }),
    await letter(2),
    await letter(3),
  ]
  const all = [own, asked, edited, stale]
  const pass = retrier(topic)
  await pass()
  await database.sql`update dlq.dlq_staleness set answer = 'unknown', reason = 'not_allowed'`
  await database.sql`update dlq.dlq_messages set next_retry_at = '1970-01-01'`
  await pass()
  for (const id of all) expect(await readMessageRow(database.sql, id)).toMatchObject(held)
  await database.sql`update dlq.dlq_messages set error_message = 'changed' where id = ${edited}`
  await send(topic, 'k4')
  await look()
  expect((await listStaleness(service.sql, all)).map(({ answer }) => answer).sort()).toEqual([
    'fresh',
    'fresh',
    'fresh',
    'superseded',
  ])
  expect(await readMessageRow(database.sql, own)).toMatchObject({ next_retry_at: expect.any(Date) })
  for (const id of [asked, edited, stale]) expect(await readMessageRow(database.sql, id)).toMatchObject(held)
  await pass()
  expect(await readMessageRow(database.sql, own)).toMatchObject({ status: 'RESOLVED' })
  expect(await retriedOf(topic)).toHaveLength(1)
})

test('a run leaves alone what is held, and says why; with "send" it sends that too', async () => {
  const topic = await topics.createTopic('orders')
  await send(topic, 'k', 'k')
  const startRun = async (staleness: 'send' | null) => {
    const [run] = await database.sql`
      insert into dlq.dlq_runs (kind, status, actor, selection, cutoff, until_id, matched, matched_relation, on_refailure, max_refailure, taken, staleness)
      values ('retry', 'running', 'ann', '{"filter":{}}', now(), ${crypto.randomUUID()}, 2, 'eq', 'continue', 0.5, 2, ${staleness})
      returning id`
    const run_id = run!.id
    await database.sql`update dlq.dlq_messages set run_id = ${run_id} where original_topic = ${topic} and status = 'PENDING'`
    return run_id as string
  }
  const [overtaken, keyless] = [await due(topic, 0), await due(topic, 1, { record_key: null })]
  await look()
  const pass = retrier(topic)
  const first = await startRun(null)
  await pass()
  for (const id of [overtaken, keyless]) expect(await readMessageRow(database.sql, id)).toMatchObject(held)
  const skipped = await database.sql`
    select message_id, reason from dlq.dlq_run_skipped where run_id = ${first} order by reason`
  expect([...skipped]).toEqual([
    { message_id: keyless, reason: 'staleness_unknown' },
    { message_id: overtaken, reason: 'superseded' },
  ])
  await startRun('send')
  await pass()
  for (const id of [overtaken, keyless])
    expect(await readMessageRow(database.sql, id)).toMatchObject({ status: 'RESOLVED' })
})

test('a forced attempt is sent, the one after it is held again; another policy looks at nothing', async () => {
  const topic = await topics.createTopic('orders')
  await send(topic, 'k', 'k')
  const id = await due(topic, 0)
  await look()
  await forceStale(service.sql, { id, attempt: 1 })
  const pass = retrier(topic)
  await pass()
  expect(await readMessageRow(database.sql, id)).toMatchObject({ status: 'RESOLVED', retry_count: 1 })
  await database.sql`update dlq.dlq_messages set status = 'PENDING', next_retry_at = '1970-01-01' where id = ${id}`
  await pass()
  expect(await readMessageRow(database.sql, id)).toMatchObject({ ...held, retry_count: 1 })
  await database.sql`update dlq.dlq_messages set next_retry_at = '1970-01-01' where id = ${id}`
  await retrier(topic, 'ignore')()
  expect(await readMessageRow(database.sql, id)).toMatchObject({ status: 'RESOLVED', retry_count: 2 })
})
