// A retrier compares messages with records of a real topic.

import { undecodableClass } from 'dlq-core/domain/message/new-message.ts'
import { storedOrigin } from 'dlq-core/domain/origin/origin-state.ts'
import { encodeHeaders } from 'dlq-core/domain/record/header-json.ts'
import { defaultRetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { freezeNow, insertRun, moveRun, type NewRun } from 'dlq-core/queries/runs/runs.ts'
import { archiveMessages, restoreArchived } from 'dlq-core/queries/upkeep/archive.ts'
import { createAside, patientBounds } from 'dlq-core/runtime/aside/aside.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { createPolicySource } from 'dlq-core/runtime/policy-source.ts'
import { useTopics } from 'dlq-testing/kafka/test-topics.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, type MessageColumns, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { springDeadLetter } from 'dlq-testing/rows/spring-dead-letter.ts'
import type { Chunk } from 'saga-core/workflow.ts'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { createRunWorkflows } from '../runs/run-workflows.ts'
import { whilePaused } from '../runs/while-paused.ts'
import { compareMessage } from './compare-message.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const topics = useTopics()
const written = 1_771_583_400_000
let topic: string

beforeAll(async () => {
  topic = await topics.createTopic('orders', { config: { 'retention.ms': '-1' } })
  const producer = topics.kafka.producer()
  await producer.connect()
  await producer.send({ topic, messages: [{ key: 'k', value: '{ "amount": 1.50 }', timestamp: String(written) }] })
  await producer.disconnect()
})

async function insert(value: string | null, changes: MessageColumns = {}, timestamp = written): Promise<string> {
  const { headers } = springDeadLetter({
    ...{
      topic,
      partition: 0,
      offset: 0n,
      timestamp: BigInt(timestamp),
      group: 'billing',
      error: new Error('no stock'),
    },
    ...{ key: Buffer.from('k'), value: null, headers: [] },
  })
  return insertMessageRow(database.sql, {
    ...{ dlq_topic: 'orders.dlq.v1', original_topic: topic, original_topic_source: 'header' },
    ...{ original_partition: 0, original_offset: 0, record_key: Buffer.from('k') },
    ...{ record_value: value === null ? null : Buffer.from(value), record_headers: JSON.parse(encodeHeaders(headers)) },
    ...changes,
  })
}

const compare = (id: string, record: 'dlq' | 'origin' = 'dlq', reader = topics.reader, maxValueBytes = 1024 * 1024) =>
  compareMessage(
    {
      ...{ sql: service.sql, reader, payloads: null, maxValueBytes, now: () => new Date() },
      ...{ policyOf: () => ({ ...defaultRetryPolicy, record }), log: createLog({ service: 'test', level: 'silent' }) },
    },
    id,
  )
const originOf = async (id: string) => {
  const [row] = await database.sql`select * from dlq.dlq_message_origins where message_id = ${id}`
  return row
}
const unreachable = { ...{}, fetchRecords: () => Promise.reject(new Error('no broker')) } as never

test('a comparison that somebody asks for changes neither the message nor its time', async () => {
  const id = await insert('{"amount":1.5}', { next_retry_at: new Date(0) })
  expect(await compare(id)).toBe('different')
  expect(await originOf(id)).toMatchObject({ state: 'different', differs: ['value'], tries: 1, next_try_at: null })
  expect(String((await originOf(id))!.record_value)).toBe('{ "amount": 1.50 }')
  expect(await readMessageRow(database.sql, id)).toMatchObject({
    origin_state: 2,
    edits: 0,
    next_retry_at: new Date(0),
  })
})

test('a lost value that is found is held from then on', async () => {
  const id = await insert(null, { next_retry_at: new Date(0) })
  expect(await compare(id)).toBe('value_lost')
  expect(await readMessageRow(database.sql, id)).toMatchObject({ origin_state: 18, next_retry_at: null })
})

test('a record that could not be read is looked for three times more, and then waits for a person', async () => {
  const id = await insert(null, { origin_state: 17 })
  await database.sql`insert into dlq.dlq_message_origins (message_id, state, next_try_at) values (${id}, 'unreachable', now())`
  for (const minutes of [5, 30]) {
    expect(await compare(id, 'dlq', unreachable)).toBe('wanted')
    const { next_try_at, compared_at } = (await originOf(id))!
    expect(Math.round((next_try_at - compared_at) / 60_000)).toBe(minutes)
  }
  expect(await compare(id, 'dlq', unreachable)).toBe('unreachable')
  expect(await originOf(id)).toMatchObject({ state: 'unreachable', next_try_at: null, problem: 'no broker', tries: 4 })
  expect(await readMessageRow(database.sql, id)).toMatchObject({ origin_state: 16, next_retry_at: null })
})

test('an original that could not be read for who asks does not hold a message that waited for none', async () => {
  const id = await insert('{"amount":1.5}', { next_retry_at: new Date(0) })
  expect(await compare(id, 'dlq', unreachable)).toBe('unreachable')
  expect(await originOf(id)).toMatchObject({ problem: 'no broker', next_try_at: null })
  expect(await readMessageRow(database.sql, id)).toMatchObject({ next_retry_at: new Date(0) })
})

test('a message of a topic that is never retried by itself gets no time once it waits for no original', async () => {
  const waiting = { origin_state: 17, next_retry_at: null }
  const ids = [await insert('{}', waiting), await insert('{}', { ...waiting, original_topic: `${topic}-retry-0` })]
  for (const id of ids) await compare(id)
  const rows = await Promise.all(ids.map((id) => readMessageRow(database.sql, id)))
  expect(rows.map(({ next_retry_at }) => next_retry_at)).toEqual([expect.any(Date), null])
})

test('nothing is read for what its route holds, and no value above the bound is kept', async () => {
  const held = await insert('{"amount":1.5}', { held_by_route: true })
  const fetchRecords = vi.fn(topics.reader.fetchRecords)
  expect(await compare(held, 'dlq', { ...topics.reader, fetchRecords })).toBe('unreachable')
  expect(fetchRecords).not.toHaveBeenCalled()
  expect(await originOf(held)).toMatchObject({ problem: expect.stringContaining('has not been allowed') })
  const large = await insert('{"amount":1.5}')
  expect(await compare(large, 'dlq', topics.reader, 5)).toBe('unreachable')
  expect(await originOf(large)).toMatchObject({ record_value: null, problem: expect.stringContaining('larger than') })
})

test('while the message is being sent nothing is compared, and its original is looked for again afterwards', async () => {
  const id = await insert(null, { origin_state: 17, status: 'RETRYING' })
  await database.sql`insert into dlq.dlq_message_origins (message_id, state, next_try_at) values (${id}, 'unreachable', now())`
  expect(await compare(id)).toBeNull()
  expect(await originOf(id)).toMatchObject({ tries: 1, next_try_at: expect.any(Date) })
  await database.sql`update dlq.dlq_messages set edits = 1 where id = ${id}`
  await database.sql`update dlq.dlq_messages set status = 'PENDING' where id = ${id}`
  expect(await compare(id)).toBeNull()
  expect(await originOf(id)).toMatchObject({ next_try_at: null })
})

test('one whose headers somebody has edited waits for its original no more, and a null among them for a person', async () => {
  const edited = { origin_state: 17, edits: 1, next_retry_at: null }
  const [kept, lost, unheld] = [await insert('{}', edited), await insert(null, edited), await insert('{}', edited)]
  for (const id of [kept, lost, unheld])
    await database.sql`insert into dlq.dlq_message_origins (message_id, state, next_try_at) values (${id}, 'unreachable', now())`
  expect(await compare(kept, 'origin')).toBeNull()
  expect(await compare(lost)).toBeNull()
  expect(await compare(unheld)).toBeNull()
  expect(await readMessageRow(database.sql, kept)).toMatchObject({ origin_state: 16, next_retry_at: null })
  expect(await readMessageRow(database.sql, lost)).toMatchObject({ origin_state: 16, next_retry_at: null })
  expect(await readMessageRow(database.sql, unheld)).toMatchObject({ origin_state: 6, next_retry_at: expect.any(Date) })
  expect(await originOf(unheld)).toMatchObject({ next_try_at: null })
})

test('one that comes back from the archive is looked for again', async () => {
  const id = await insert('{}', { origin_state: 17, status: 'DEAD', updated_at: new Date(0) })
  await database.sql`insert into dlq.dlq_message_origins (message_id, state, next_try_at) values (${id}, 'unreachable', now())`
  expect(await archiveMessages(service.sql, { ids: [id], now: new Date() })).toBe(1)
  expect(await compare(id)).toBeNull()
  expect(await originOf(id)).toMatchObject({ next_try_at: null })
  await restoreArchived(service.sql, [id])
  expect(await originOf(id)).toMatchObject({ next_try_at: expect.any(Date) })
})

test('one that is read later is adopted where the policy says so, and is due again', async () => {
  const id = await insert('{"amount":1.5}', { origin_state: 17 })
  expect(await compare(id, 'origin')).toBe('same')
  const message = await readMessageRow(database.sql, id)
  expect(message).toMatchObject({ record_source: 'origin', origin_state: 1, edits: 1 })
  expect(String(message.record_value)).toBe('{ "amount": 1.50 }')
  expect(message.next_retry_at).not.toBeNull()
})

test('one that is given up or sent is compared, and no policy adopts its original', async () => {
  for (const status of ['DEAD', 'RESOLVED']) {
    const id = await insert('{"amount":1.5}', { status })
    expect(await compare(id, 'origin')).toBe('different')
    expect(await readMessageRow(database.sql, id)).toMatchObject({ status, edits: 0 })
  }
})

test('another record at the place is neither kept nor adopted', async () => {
  const id = await insert('{"amount":1.5}', {}, written + 1)
  expect(await compare(id, 'origin')).toBe('mismatch')
  expect(await originOf(id)).toMatchObject({ state: 'mismatch', record_value: null })
  expect(await readMessageRow(database.sql, id)).toMatchObject({ edits: 0, origin_state: 13 })
})

test.each([
  ['that somebody has edited', { edits: 1 }],
  ['whose value was too large to be stored', { unstored_value_bytes: 12 }],
])('a message %s is not compared', async (_, change) => {
  const id = await insert('{}', change)
  expect(await compare(id)).toBeNull()
  expect(await originOf(id)).toBeUndefined()
})

test('a batch that cannot be decoded stays held', async () => {
  const held = storedOrigin({ state: 'unreachable', isHeld: true })
  const id = await insert('the batch', { error_class: undecodableClass, original_partition: null, origin_state: held })
  expect(await compare(id)).toBeNull()
  expect(await readMessageRow(database.sql, id)).toMatchObject({ origin_state: held })
})

describe('a run', () => {
  const log = createLog({ service: 'test', level: 'silent' })
  async function enter(ids: readonly string[], more: Partial<NewRun> = {}): Promise<string> {
    const id = await insertRun(service.sql, {
      ...{ kind: 'origin', is_forced: false, actor: 'ann', reason: 'ticket 17', scope: null, erase_mode: null },
      ...{ cutoff: await freezeNow(service.sql), until_id: 'ffffffff-ffff-ffff-ffff-ffffffffffff' },
      ...{ matched: ids.length, matched_relation: 'eq', retry_all_topic: null, target_topic: null, patch: null },
      ...{
        rate_per_second: null,
        max_lag: null,
        staleness: null,
        canary: null,
        on_refailure: 'continue',
        max_refailure: 0.05,
      },
      ...{ selection: JSON.stringify({ ids: ids.toSorted() }), adopts: false, ...more },
    })
    return id!
  }

  /** The pool exists only inside tests. */
  const workflow = () => {
    const policies = createPolicySource({ sql: service.sql, log, configured: { section: {}, fileEntries: [] } })
    return createRunWorkflows({
      ...{ policyOf: policies.policyOf, payloads: null, now: () => new Date(), maxActive: 4, readTimeoutMs: 900_000 },
      ...{ sql: service.sql, aside: createAside(patientBounds) },
      originals: {
        ...{ sql: service.sql, reader: topics.reader, policies, payloads: null, log },
        ...{ maxValueBytes: 1024 * 1024, now: () => new Date() },
      },
    }).find(({ name }) => name === 'run.compare')!
  }

  /** One chunk of the step; `meanwhile` happens while Kafka answers. */
  async function chunkOf(id: string, name: string, meanwhile = async () => {}): Promise<Chunk> {
    const step = workflow().steps.find((step) => step.name === name)!
    const context = { payload: { run_id: id }, signal: new AbortController().signal } as never
    const prepared = await step.prepareChunk?.(context)
    await meanwhile()
    return service.sql.begin((sql) => step.executeChunk!(sql, context, prepared))
  }
  const read = async (id: string) => {
    const [row] = await database.sql`
      select status, done::int as done, skipped, compared, step_taken::int as step_taken from dlq.dlq_runs where id = ${id}`
    return row
  }

  test('compares, and says how many originals are in which state', async () => {
    const [same, different] = [await insert('{ "amount": 1.50 }'), await insert('{"amount":1.5}')]
    const other = await insert('{"amount":1.5}', {}, written + 1)
    const gone = await insert('{}', { original_offset: 99 })
    const edited = await insert('{}', { edits: 1 })
    const id = await enter([same, different, other, gone, edited])
    await chunkOf(id, 'admit')
    expect(await chunkOf(id, 'compare')).toMatchObject({ isLast: true })
    expect(await read(id)).toEqual({
      ...{ status: 'completed', done: 4, step_taken: 5, skipped: { not_comparable: 1 } },
      compared: { same: 1, different: 1, mismatch: 1, gone: 1 },
    })
    expect(await originOf(different)).toMatchObject({ state: 'different' })
    expect(await readMessageRow(database.sql, different)).toMatchObject({ edits: 0, origin_state: 2 })
  })

  test('adopts what is proved and differs, and leaves the rest as it is', async () => {
    const [same, different] = [await insert('{ "amount": 1.50 }'), await insert('{"amount":1.5}')]
    const lost = await insert(null, { origin_state: 18 })
    const other = await insert('{"amount":1.5}', {}, written + 1)
    const resolved = await insert('{"amount":1.5}', { status: 'RESOLVED' })
    const id = await enter([same, different, lost, other, resolved], { adopts: true })
    await chunkOf(id, 'admit')
    await chunkOf(id, 'compare')
    expect(await read(id)).toMatchObject({
      ...{ status: 'completed', done: 2, skipped: { same: 1, mismatch: 1, resolved: 1 } },
      compared: { same: 1, different: 2, mismatch: 1 },
    })
    for (const adopted of [different, lost]) {
      const message = await readMessageRow(database.sql, adopted)
      expect(message).toMatchObject({ record_source: 'origin', origin_state: 1, edits: 1 })
      expect(String(message.record_value)).toBe('{ "amount": 1.50 }')
    }
    // It was held, and is retried by its policy again.
    expect((await readMessageRow(database.sql, lost)).next_retry_at).not.toBeNull()
    const [edit] = await database.sql`
      select actor, reason, request_id from dlq.dlq_message_edits where message_id = ${different}`
    expect(edit).toEqual({ actor: 'system', reason: 'ticket 17', request_id: `run ${id}` })
    expect(await readMessageRow(database.sql, other)).toMatchObject({ edits: 0 })
  })

  test('neither compares what changed while Kafka answered, nor goes on where it was paused or cancelled', async () => {
    const [kept, edited] = [await insert('{"amount":1.5}'), await insert('{"amount":1.5}')]
    const id = await enter([kept, edited], { adopts: true })
    await chunkOf(id, 'admit')
    await chunkOf(id, 'compare', async () => {
      await database.sql`update dlq.dlq_messages set edits = 1 where id = ${edited}`
    })
    expect(await read(id)).toMatchObject({ done: 1, skipped: { not_comparable: 1 } })

    const paused = await enter([await insert('{"amount":1.5}')], { adopts: true })
    await chunkOf(paused, 'admit')
    const pause = () => moveRun(service.sql, { id: paused, from: ['running'], to: 'paused' }).then(() => {})
    expect(await chunkOf(paused, 'compare', pause)).toEqual(whilePaused)
    expect(await chunkOf(paused, 'compare')).toEqual(whilePaused)
    expect(await read(paused)).toMatchObject({ done: 0, step_taken: 0 })
    await moveRun(service.sql, { id: paused, from: ['paused'], to: 'running' })
    expect(await chunkOf(paused, 'compare')).toMatchObject({ isLast: true })
    expect(await read(paused)).toMatchObject({ status: 'completed', done: 1 })
  })

  test('of a token with some topics needs both topics of a message', async () => {
    const message = await insert('{"amount":1.5}')
    const id = await enter([message], { adopts: true, scope: ['orders.dlq.*'] })
    await chunkOf(id, 'admit')
    await chunkOf(id, 'compare')
    expect(await read(id)).toMatchObject({ done: 0, skipped: { not_comparable: 1 } })
    expect(await originOf(message)).toBeUndefined()
  })

  test('goes on after a full chunk', async () => {
    const rows = await database.sql<{ id: string }[]>`
      insert into dlq.dlq_messages (original_topic, error_message, edits)
      select ${topic}, 'failed', 1 from generate_series(1, 101) returning id`
    const id = await enter(rows.map((row) => row.id))
    await chunkOf(id, 'admit')
    expect(await chunkOf(id, 'compare')).toMatchObject({ isLast: false })
    expect(await read(id)).toMatchObject({ status: 'running', step_taken: 100 })
    expect(await chunkOf(id, 'compare')).toMatchObject({ isLast: true })
    expect(await read(id)).toMatchObject({ status: 'completed', step_taken: 101 })
  })

  test('goes on where another process has stopped, and does nothing twice', async () => {
    const message = await insert('{"amount":1.5}')
    const id = await enter([message])
    await chunkOf(id, 'admit')
    await chunkOf(id, 'compare', async () => {
      await database.sql`update dlq.dlq_runs set cursor = 'ffffffff-0000-0000-0000-000000000000' where id = ${id}`
    })
    expect(await read(id)).toMatchObject({ done: 0, step_taken: 0 })
    expect(await originOf(message)).toBeUndefined()
  })
})
