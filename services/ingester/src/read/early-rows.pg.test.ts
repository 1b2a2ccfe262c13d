// Rows that are written before their transaction begins: the same as those that are written in it, and not stored where
// the transaction finds something that they were not written for.

import { erasureKey, keyDigest } from 'dlq-core/domain/erase/erasure-digest.ts'
import type { DeadLetterRecord } from 'dlq-core/domain/record/record.ts'
import { beginErasure, insertErasures } from 'dlq-core/queries/erase/erasures.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import { createFramesRegister } from '../registers/frames-register.ts'
import type { StoreDeps } from '../store/store-batch.ts'
import { batchOf, recordAt, storeBatch, storeDeps, warmUp } from '../store/test-batch.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

warmUp()

beforeEach(() =>
  emptyTables(
    database.sql,
    ...['dlq.dlq_attempts', 'dlq.dlq_positions', 'dlq.dlq_messages', 'dlq.dlq_stack_frames', 'dlq.dlq_routes'],
    ...['dlq.dlq_deferred_payloads', 'dlq.dlq_erasure_keys', 'dlq.dlq_erasures'],
  ),
)

const now = new Date('2026-06-01T12:00:00Z')

/** `early`: how many rows were written early so far. */
function countedDeps(more: Partial<StoreDeps> = {}): { deps: StoreDeps; early: () => number } {
  let count = 0
  const frames = createFramesRegister(service.sql, { now: Date.now })
  const shortenKnown: typeof frames.shortenKnown = (letter) => {
    const isKnown = frames.shortenKnown(letter)
    if (isKnown) count++
    return isKnown
  }
  const deps = storeDeps(service.sql, { frames: { ...frames, shortenKnown }, now: () => now, ...more })
  return { deps, early: () => count }
}

const rows = async () => {
  const found = await database.sql<{ row: object }[]>`
    select to_jsonb(m) - '{created_at,updated_at,first_failed_at,last_failed_at}'::text[] || jsonb_build_object(
      'headers', dlq.record_headers(m), 'trace', dlq.stack_trace(m)) as row
    from dlq.dlq_messages m order by dlq_offset`
  return found.map(({ row }) => row)
}

const records = (from: number, to: number, headers = {}) =>
  Array.from({ length: to - from }, (_, at) => recordAt(from + at, { timestamp: 1_795_268_108_781n, headers }))
const place = { 'dlq-original-partition': '3', 'dlq-original-offset': '77' }
const frames = Array.from({ length: 30 }, (_, at) => `\tat com.example.orders.Step${at}.run(Step.java:${at})\n`).join(
  '',
)
/** With a trace whose frames are those of every other. */
const traced = (offset: number) => {
  const message = `no stock ${offset}`
  const stacktrace = `com.example.OutOfStock: ${message}\n${frames}Caused by: java.io.IOException: ${offset}\n${frames}`
  return recordAt(offset, {
    headers: { 'dlq-error-class': 'com.example.OutOfStock', 'dlq-error-stacktrace': stacktrace },
  })
}
const never = { note() {}, mayTry: () => false }

describe('a row that is written early', () => {
  const various: DeadLetterRecord[] = [
    recordAt(0),
    recordAt(1, { key: Buffer.from('key'), value: Buffer.from([0xff, 0]), headers: place }),
    recordAt(2, { key: Buffer.from('deleted'), value: null }),
    recordAt(3, { headers: { 'dlq-original-topic': 'payments.events.v1' } }),
    recordAt(4, { headers: { 'dlq-error-message': 'é\0🚚', 'dlq-original-timestamp': '1771583400000' } }),
    ...[5, 6, 7].map(traced),
  ]

  test.each(['stored', 'auto', 'derived'] as const)(
    'is the row of one that is not, with payload: %s',
    async (payload) => {
      const { settings } = storeDeps(service.sql)
      const policy = settings.policyOf({ original_topic: 'a', dlq_topic: 'b' })
      const more = { settings: { ...settings, policyOf: () => ({ ...policy, payload }) } }
      const whole = countedDeps({ ...more, setbacks: never })
      await storeBatch(whole.deps, batchOf(various))
      expect(whole.early()).toBe(0)
      const expected = await rows()
      const [deferred] = await database.sql`select from_id, until_id from dlq.dlq_deferred_payloads`
      await emptyTables(database.sql, 'dlq.dlq_messages', 'dlq.dlq_positions', 'dlq.dlq_deferred_payloads')

      const early = countedDeps(more)
      const outcome = await storeBatch(early.deps, batchOf(various))

      expect(early.early()).toBe(various.length)
      expect(await rows()).toEqual(expected)
      expect((await database.sql`select from_id, until_id from dlq.dlq_deferred_payloads`)[0]).toEqual(deferred)
      expect(outcome).toMatchObject({ kind: 'stored', stored: various.length, dropped: 0, reduced: 0 })
    },
  )

  test('stands beside letters that cannot be, and the outcome names all in order', async () => {
    const { deps, early } = countedDeps()
    const { groups } = deps
    const assignKnown: typeof groups.assignKnown = (letter) =>
      letter.message.dlq_offset % 2n === 0n && groups.assignKnown(letter)
    const outcome = await storeBatch({ ...deps, groups: { ...groups, assignKnown } }, batchOf(records(0, 5)))
    expect(early()).toBe(3)
    expect(outcome).toMatchObject({ stored: 5, messages: [0n, 1n, 2n, 3n, 4n].map((dlq_offset) => ({ dlq_offset })) })
    expect(await rows()).toHaveLength(5)
  })
})

describe('early rows are read again, and written in the transaction, where', () => {
  /** Stores the records by rows that are read twice, and no row of the next batch is written early. */
  async function expectReadAgain(batch: DeadLetterRecord[], more: Partial<StoreDeps> = {}) {
    const { deps, early } = countedDeps(more)
    const outcome = await storeBatch(deps, batchOf(batch, { fetchedOffset: 0n }))
    expect(early()).toBe(batch.length)
    await storeBatch(deps, batchOf(records(100, 101)), { lowOffset: 100n })
    expect(early()).toBe(batch.length)
    return outcome
  }

  test('some are stored already', async () => {
    await storeBatch(storeDeps(service.sql), batchOf(records(0, 3)))
    expect(await expectReadAgain(records(0, 5))).toMatchObject({ stored: 2, dropped: 3 })
    expect(await rows()).toHaveLength(6)
  })

  test('some are from before the topic’s subscription', async () => {
    await storeBatch(storeDeps(service.sql), batchOf([]))
    await database.sql`update dlq.dlq_positions set next_offset = 0, manual_below = 2`
    const headers = { 'dlq-original-topic': 'orders' }
    await expectReadAgain(records(0, 4, headers))
    const times =
      await database.sql`select next_retry_at is null as held from dlq.dlq_messages order by dlq_offset limit 4`
    expect(times.map(({ held }) => held)).toEqual([true, true, false, false])
  })

  test('one is the failure of a message that was sent', async () => {
    const [first] = records(0, 1)
    await storeBatch(storeDeps(service.sql), batchOf([first!]))
    const [{ id }] = await database.sql<[{ id: string }]>`select id from dlq.dlq_messages`
    await database.sql`update dlq.dlq_messages set status = 'RESOLVED', next_retry_at = null, retry_count = 1`
    await database.sql`
      insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome, target_topic, target_partition, target_offset, started_at, settled_at)
      values (${id}, 1, gen_random_uuid(), 'published', 'orders.events.v1', 3, 77, now(), now())`
    await emptyTables(database.sql, 'dlq.dlq_positions')
    expect(await expectReadAgain([recordAt(1, { headers: place }), ...records(2, 4)])).toMatchObject({
      reopened: 1,
      stored: 2,
    })
  })

  test('one of ours may stand at an unknown place of their topic', async () => {
    await storeBatch(storeDeps(service.sql), batchOf(records(0, 1)))
    await database.sql`update dlq.dlq_messages set status = 'RETRYING', next_retry_at = null, lease_until = now() + '1 hour'`
    await emptyTables(database.sql, 'dlq.dlq_positions')
    const asked: unknown[] = []
    const fetchOriginals: StoreDeps['fetchOriginals'] = async (places) => {
      asked.push(...places)
      return new Map()
    }
    await expectReadAgain([recordAt(1, { headers: place }), ...records(2, 4)], { fetchOriginals })
    expect(asked).toEqual([{ topic: 'orders.events.v1', partition: 3, offset: 77n }])
  })
})

describe('where somebody has erased a key', () => {
  const of = (offset: number, key: string) =>
    recordAt(offset, { key: Buffer.from(key), timestamp: 1_795_268_108_781n - 86_400_000n })
  const erase = () =>
    service.sql.begin(async (sql) => {
      const { hmacKey, cutoff } = await beginErasure(sql, { newKey: Buffer.alloc(32, 7) })
      const digests = [keyDigest(erasureKey(hmacKey), Buffer.from('maria'))]
      const runId = '550e8400-e29b-41d4-a716-446655440000'
      await insertErasures(sql, { runId, hmacKey, digests, topics: null, cutoff })
    })
  /** With groups and routes that are known: none is learned where something was erased. */
  const warmDeps = async () => {
    const counted = countedDeps()
    await storeBatch(counted.deps, batchOf([of(0, 'anna')]))
    await erase()
    return counted
  }

  test('rows of other keys are written early as ever', async () => {
    const { deps, early } = await warmDeps()
    const outcome = await storeBatch(deps, batchOf([of(1, 'anna'), of(2, 'otto')]))
    expect(early()).toBe(3)
    expect(outcome).toMatchObject({ stored: 2, early: 2 })
  })

  test('a batch with a record of that key is read again, and its rows are written in the transaction', async () => {
    const { deps, early } = await warmDeps()
    const outcome = await storeBatch(deps, batchOf([of(1, 'anna'), of(2, 'maria')]))
    expect(early()).toBe(3)
    expect(outcome).toMatchObject({ stored: 2, early: 0 })
    const keys =
      await database.sql`select convert_from(record_key, 'utf8') as key from dlq.dlq_messages order by dlq_offset`
    expect(keys.map(({ key }) => key)).toEqual(['anna', 'anna', null])
  })
})

test('where an erasure begins before the transaction, the batch is read again', async () => {
  const { deps, early } = countedDeps()
  const { routes } = deps
  let hasBegun = false
  const admit: typeof routes.admit = async (letters) => {
    await routes.admit(letters)
    // The second call: the first one makes the routes known before the batch is read.
    if (hasBegun) await service.sql.begin((sql) => beginErasure(sql, { newKey: Buffer.alloc(32, 7) }))
    hasBegun = !hasBegun
  }
  await storeBatch({ ...deps, routes: { ...routes, admit } }, batchOf(records(0, 3)))
  expect(early()).toBe(6)
  expect(await rows()).toHaveLength(3)
})

test('where the database has lost their frames, these are stored again', async () => {
  const { deps, early } = countedDeps()
  const { frames } = deps
  let isLost = false
  const learn: typeof frames.learn = async (letters) => {
    await frames.learn(letters)
    // No letters: all rows were written early.
    if (letters.length === 0 && !isLost) await emptyTables(database.sql, 'dlq.dlq_stack_frames')
    if (letters.length === 0) isLost = true
  }
  await storeBatch({ ...deps, frames: { ...frames, learn } }, batchOf([0, 1, 2].map(traced)))
  expect(isLost).toBe(true)
  expect(early()).toBeGreaterThanOrEqual(3)
  const [found] = await database.sql`
    select count(*)::int as rows, count(f.id)::int as frames
    from dlq.dlq_messages m left join dlq.dlq_stack_frames f on f.id = m.frames_id`
  expect(found).toEqual({ rows: 3, frames: 3 })
})
