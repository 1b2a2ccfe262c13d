// One chunk of a run: its bounds, the messages that it takes and edits, and those that it leaves alone.

import { randomUUID } from 'node:crypto'
import { orderKey } from 'dlq-core/domain/record/order-key.ts'
import { defaultRetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { createAside, patientBounds } from 'dlq-core/runtime/aside/aside.ts'
import { readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { describe, expect, test } from 'vitest'
import { prepareEdits } from './prepare-edits.ts'
import { type ChunkDeps, runChunk } from './run-chunk.ts'
import { selectChunk, targetsArchive } from './select-chunk.ts'
import { chunkDeps, useEngine } from './test-engine.ts'

const engine = useEngine()
const { insert, insertMany, enter, start, read, hold, heldBy } = engine

async function chunk(id: string, limit = Number.POSITIVE_INFINITY) {
  const prepared = await prepareEdits({ ...chunkDeps, sql: engine.service.sql }, { runId: id, most: () => limit })
  return hold(id, (sql, run) => runChunk(chunkDeps, sql, run, { limit, prepared }))
}

async function skippedIn(id: string): Promise<Record<string, string>> {
  const rows = await engine.database.sql<{ message_id: string; reason: string }[]>`
    select message_id, reason from dlq.dlq_run_skipped where run_id = ${id}`
  return Object.fromEntries(rows.map(({ message_id, reason }) => [message_id, reason]))
}

describe('chunk after chunk', () => {
  test('takes the messages in the order of their ids, each once, and ends with a chunk that is not full', async () => {
    const ids = await insertMany(5)
    const id = await start(enter({ matched: 5 }))
    const { chunk_size } = await read(id)
    expect(await chunk(id, 2)).toMatchObject({ taken: 2, step_taken: 2, cursor: ids[1], is_exhausted: false })
    expect(await heldBy(id)).toEqual(ids.slice(0, 2))
    expect(await chunk(id, 2)).toMatchObject({ taken: 4, cursor: ids[3], is_exhausted: false })
    expect(await chunk(id, 2)).toMatchObject({ taken: 5, cursor: ids[4], is_exhausted: true })
    expect(await heldBy(id)).toEqual(ids)
    // How quickly a few messages were taken says nothing about how many fit.
    expect(await read(id)).toMatchObject({ taken: 5, cursor: ids[4], is_exhausted: true, chunk_size })
  })

  test('a last chunk that is just full is followed by an empty one', async () => {
    const ids = await insertMany(2)
    const id = await start(enter({ matched: 2 }))
    expect(await chunk(id, 2)).toMatchObject({ taken: 2, is_exhausted: false })
    expect(await chunk(id, 2)).toMatchObject({ taken: 2, cursor: ids[1], is_exhausted: true })
  })

  test('a message that arrives after the run was created is not taken, whatever its id', async () => {
    const ids = await insertMany(2)
    const id = await start(enter({ matched: 2 }))
    await insert({ id: '01900000-0000-7000-8000-000000000001' })
    await insert()
    await chunk(id)
    expect(await heldBy(id)).toEqual(ids)
  })

  test('a chunk that is rolled back leaves no trace', async () => {
    await insertMany(3)
    const id = await start(enter({ matched: 3 }))
    const failing = hold(id, async (sql, run) => {
      await runChunk(chunkDeps, sql, run)
      throw new Error('killed')
    })
    await expect(failing).rejects.toThrow('killed')
    expect(await heldBy(id)).toEqual([])
    expect(await read(id)).toMatchObject({ taken: 0, cursor: null, is_exhausted: false })
  })

  test('chosen ids are walked in their order, and a given id that does not exist is passed over', async () => {
    const ids = await insertMany(3)
    const selection = { ids: [ids[2]!, randomUUID(), ids[0]!] }
    const id = await start(enter({ selection, matched: 3 }))
    const seen: string[] = []
    for (let is_exhausted = false; !is_exhausted; ) {
      const after = await hold(id, (sql, run) => selectChunk(sql, run, 2))
      seen.push(...after.ids)
      is_exhausted = (await chunk(id, 2)).is_exhausted
    }
    expect(seen).toEqual(selection.ids.toSorted())
    expect(await heldBy(id)).toEqual([ids[0], ids[2]])
  })
})

test('a chunk that finds too few among the rows that it may look at goes on behind these', async () => {
  await insertMany(4, { error_class: 'Timeout' })
  const wanted = await insert({ error_class: 'NoStock' })
  const id = await start(enter({ selection: { filter: { topic: 'orders', error_class: 'NoStock' } }, matched: 1 }))
  const first = await hold(id, (sql, run) => selectChunk(sql, run, 2, { examine: 2 }))
  expect(first).toMatchObject({ ids: [], cursor: expect.any(String), isExhausted: false })
  const all = await hold(id, (sql, run) => selectChunk(sql, { ...run, cursor: first.cursor }, 2, { examine: 9 }))
  expect(all).toEqual({ ids: [wanted], cursor: wanted, isExhausted: true })
})

test('a run over what failed again in another takes no more, chunk after chunk', async () => {
  const ids = await insertMany(4)
  const first = await start(enter({ matched: 3, selection: { ids: ids.slice(0, 3) } }))
  await chunk(first)
  await engine.publishOnce()
  await engine.failAgain([ids[0]!, ids[2]!])
  await engine.database.sql`update dlq.dlq_messages set status = 'PENDING'`
  const id = await start(enter({ matched: 2, selection: { failed_again_in: first } }))
  expect(await chunk(id, 1)).toMatchObject({ taken: 1, cursor: ids[0], is_exhausted: false })
  expect(await chunk(id, 2)).toMatchObject({ taken: 2, cursor: ids[2], is_exhausted: true })
  expect(await heldBy(id)).toEqual([ids[0], ids[2]])
})

test('a run over what another has changed revives these, and nothing else', async () => {
  const ids = await insertMany(4)
  const dead = await start(enter({ kind: 'dead', matched: 2, selection: { ids: ids.slice(1, 3) } }))
  await chunk(dead)
  await engine.database.sql`update dlq.dlq_messages set status = 'DEAD' where id = ${ids[3]!}`
  const id = await start(enter({ kind: 'revive', matched: 2, selection: { changed_in: dead } }))
  expect(await chunk(id, 1)).toMatchObject({ done: 1, cursor: ids[1], is_exhausted: false })
  expect(await chunk(id, 2)).toMatchObject({ done: 2, cursor: ids[2], is_exhausted: true })
  const rows = await engine.database.sql`select status from dlq.dlq_messages order by id`
  expect(rows.map(({ status }) => status)).toEqual(['PENDING', 'PENDING', 'PENDING', 'DEAD'])
})

test.each([
  ['a forced retry', { kind: 'retry', is_forced: true }],
  ['a revival', { kind: 'revive' }],
] as const)('%s of DEAD messages puts them in the order of keys, where the policy asks for it', async (_, run) => {
  const key = Buffer.from('key')
  await insertMany(2, { status: 'DEAD', record_key: key })
  const other = await insert({ status: 'DEAD', record_key: key, original_topic: 'payments' })
  const deps: ChunkDeps = {
    ...chunkDeps,
    policyOf: ({ original_topic }) => ({
      ...defaultRetryPolicy,
      ordering: original_topic === 'orders' ? 'per-key' : 'none',
    }),
  }
  const id = await start(enter({ ...run, selection: { filter: {} }, matched: 3 }))
  await hold(id, (sql, held) => runChunk(deps, sql, held))
  const rows = await engine.database.sql`select id, status, order_key from dlq.dlq_messages`
  const keyOf = (row: object) => ('id' in row && row.id === other ? null : String(orderKey(key)))
  expect(rows.map((row) => [row.status, row.order_key])).toEqual(rows.map((row) => ['PENDING', keyOf(row)]))
})

test('a forced retry puts nothing in the order of keys but what it takes', async () => {
  const record_key = Buffer.from('key')
  const mine = await insert({ status: 'DEAD', record_key })
  const others = await insert({ status: 'DEAD', record_key, original_topic: 'payments' })
  const deps: ChunkDeps = { ...chunkDeps, policyOf: () => ({ ...defaultRetryPolicy, ordering: 'per-key' }) }
  const forced = { kind: 'retry', is_forced: true, scope: ['orders'], selection: { ids: [mine, others] } } as const
  const id = await start(enter({ ...forced, matched: 2 }))
  await hold(id, (sql, held) => runChunk(deps, sql, held))
  expect(await readMessageRow(engine.database.sql, mine)).toMatchObject({ order_key: String(orderKey(record_key)) })
  expect(await readMessageRow(engine.database.sql, others)).toMatchObject({ status: 'DEAD', order_key: null })
})

describe('a retry-all', () => {
  const retryAll = (topic: string, scope: string[] | null = null) =>
    start(enter({ selection: { filter: { topic } }, retry_all_topic: topic, scope, matched: 1 }))

  test.each(['*', 'order?', 'orders*', '[o]rders'])(
    'of the topic %s takes nothing of the topics that it matches',
    async (topic) => {
      await insertMany(2)
      const literal = await insert({ original_topic: topic })
      const id = await retryAll(topic)
      await chunk(id)
      expect(await heldBy(id)).toEqual([literal])
    },
  )

  test('takes nothing beyond the topics of the token that asked, whatever the API has counted', async () => {
    await insertMany(2, { dlq_topic: 'orders.dlq.v1' })
    const own = await insert({ dlq_topic: 'refunds.dlq.v1' })
    const id = await retryAll('orders', ['refunds*'])
    await chunk(id)
    expect(await heldBy(id)).toEqual([own])
  })
})

test('a message that another run holds is left alone, with the reason', async () => {
  const [held, free] = await insertMany(2)
  const other = await start(enter({ selection: { ids: [held!] }, matched: 1 }))
  await chunk(other)
  const id = await start(enter({ matched: 2 }))
  expect(await chunk(id)).toMatchObject({ taken: 1, skipped: '{"in_another_run":1}' })
  expect(await heldBy(id)).toEqual([free])
  expect(await heldBy(other)).toEqual([held])
  expect(await skippedIn(id)).toEqual({ [held!]: 'in_another_run' })
})

test('the reasons add up over chunks', async () => {
  await insertMany(2, { retry_count: 3 })
  const [, last] = await insertMany(2)
  const id = await start(enter({ matched: 4 }))
  await engine.database.sql`update dlq.dlq_messages set status = 'DEAD' where id = ${last!}`
  for (let is_exhausted = false; !is_exhausted; ) is_exhausted = (await chunk(id, 1)).is_exhausted
  const { taken, skipped } = await read(id)
  expect({ taken, skipped: JSON.parse(skipped) }).toEqual({ taken: 1, skipped: { budget_spent: 2 } })
  expect(Object.keys(await skippedIn(id))).toHaveLength(2)
})

test('a run leaves alone what was erased, also what it restores from the archive', async () => {
  const erased = { status: 'DEAD', erased_at: new Date(), origin_state: 15 } as const
  const [live, archived] = [await insert(erased), await insert(erased)]
  await engine.database.sql`select dlq.archive_messages(array[${archived}]::uuid[])`
  for (const asked of [
    { kind: 'revive', selection: { ids: [live] } },
    { kind: 'retry', is_forced: true, selection: { filter: { topic: 'orders', archived: true } } },
  ] as const) {
    const id = await start(enter({ matched: 1, ...asked }))
    expect(await chunk(id)).toMatchObject({ taken: 0, done: 0, skipped: '{"erased":1}' })
  }
  for (const id of [live, archived])
    expect(await readMessageRow(engine.database.sql, id)).toMatchObject({ status: 'DEAD', run_id: null })
})

test('a run over the archive leaves what is held as it was', async () => {
  const route = { dlq_topic: 'evil.dlq.v1', original_topic: 'orders' }
  await engine.database.sql`insert into dlq.dlq_routes ${engine.database.sql({ ...route, state: 'blocked' })}`
  const ids = [await insert({ ...route, status: 'RESOLVED' }), await insert({ status: 'DEAD', origin_state: 18 })]
  await engine.database.sql`select dlq.archive_messages(${engine.database.sql.array(ids)}::uuid[])`
  const id = await start(enter({ matched: 2, selection: { filter: { topic: 'orders', archived: true } } }))
  const { taken, skipped } = await chunk(id)
  expect([taken, JSON.parse(skipped)]).toEqual([0, { held_by_route: 1, held_for_origin: 1 }])
  const rows = await Promise.all(ids.map((id) => readMessageRow(engine.database.sql, id)))
  expect(rows.map(({ status, held_by_route }) => [status, held_by_route])).toEqual([
    ['RESOLVED', true],
    ['DEAD', false],
  ])
})

test('a run over the archive leaves what its patch does not fit in the status that it had', async () => {
  const { sql } = engine.database
  const archived = { status: 'RESOLVED', retry_count: 3, max_retries: 3, record_headers: [] } as const
  const [fits, not] = [
    await insert({ ...archived, record_value: Buffer.from('{"n":1}') }),
    await insert({ ...archived, record_value: Buffer.from('text') }),
  ]
  await sql`select dlq.archive_messages(${sql.array([fits, not])}::uuid[])`
  const patch = [{ op: 'replace', path: '/n', value: 2 }]
  const id = await start(enter({ matched: 2, patch, selection: { filter: { topic: 'orders', archived: true } } }))
  expect(await engine.chunkOf(id, 'all')).toMatchObject({ response: { taken: 1, skipped: { no_json: 1 } } })
  expect(await readMessageRow(sql, fits)).toMatchObject({ status: 'PENDING', run_id: id, max_retries: 4 })
  expect(await readMessageRow(sql, not)).toMatchObject({ status: 'RESOLVED', run_id: null, max_retries: 3 })
})

describe('a run that edits', () => {
  const patch = [{ op: 'replace', path: '/currency', value: 'EUR' }]
  const textOf = async (id: string) => String((await readMessageRow(engine.database.sql, id)).record_value)
  const insertValue = (value: string) => insert({ record_value: Buffer.from(value) })

  test('patches messages that the patch fits, keeps the replaced values, and has reasons for the others', async () => {
    const fits = await insertValue('{"currency":"euro","amount":12345678901234567890.10}')
    const same = await insertValue('{"currency":"EUR"}')
    const misfit = await insertValue('{"amount":1}')
    const noJson = await insertValue('not JSON')
    const id = await start(enter({ kind: 'edit', matched: 4, patch, reason: 'INC-1' }))
    expect(await chunk(id)).toMatchObject({ taken: 0, done: 1, is_exhausted: true })
    expect(JSON.parse(await textOf(fits))).toMatchObject({ currency: 'EUR' })
    expect(await textOf(fits)).toContain('12345678901234567890.10')
    expect(await skippedIn(id)).toEqual({
      ...{ [same]: 'unchanged', [misfit]: 'patch_does_not_fit', [noJson]: 'no_json' },
    })
    const edits = await engine.database.sql`
      select message_id, actor, reason, convert_from(record_value, 'UTF8') as before from dlq.dlq_message_edits`
    expect([...edits]).toEqual([
      { message_id: fits, actor: 'ann', reason: 'INC-1', before: expect.stringContaining('euro') },
    ])
  })

  test('does not touch a message that another run holds', async () => {
    const held = await insertValue('{"currency":"euro"}')
    await chunk(await start(enter({ matched: 1 })))
    const id = await start(enter({ kind: 'edit', matched: 1, patch }))
    expect(await chunk(id)).toMatchObject({ done: 0, skipped: '{"in_another_run":1}' })
    expect(await textOf(held)).toBe('{"currency":"euro"}')
  })
})

describe('what a run writes is worked out before its transaction', () => {
  const patch = [{ op: 'copy', from: '/amount', path: '/again' }]
  const storedValue = async (id: string) => String((await readMessageRow(engine.database.sql, id)).record_value)
  const insertValue = (value: string) => insert({ record_value: Buffer.from(value), record_headers: [] })
  const unused = { ...chunkDeps, aside: { run: () => Promise.reject(new Error('worked out in the transaction')) } }
  const prepare = (runId: string, deps = chunkDeps) =>
    prepareEdits({ ...deps, sql: engine.service.sql }, { runId, most: () => Number.POSITIVE_INFINITY })
  const editing = (matched: number) => start(enter({ kind: 'edit', matched, patch }))

  test('which only writes it', async () => {
    const id = await insertValue('{"amount":1}')
    const run = await editing(1)
    const prepared = await prepare(run)
    expect(await hold(run, (sql, held) => runChunk(unused, sql, held, { prepared }))).toMatchObject({ done: 1 })
    expect(await storedValue(id)).toBe('{"amount":1,"again":1}')
  })

  test('a message that somebody has edited since is left alone, with the reason; one that was only touched is not', async () => {
    const value = '{"amount":1}'
    const [edited, touched, other] = [await insertValue(value), await insertValue(value), await insertValue(value)]
    const run = await editing(3)
    const prepared = await prepare(run)
    await engine.database.sql`update dlq.dlq_messages set record_value = '{"amount":7}' where id = ${edited}`
    // The headers may say by which schema it is written.
    await engine.database.sql`update dlq.dlq_messages set record_headers = '[["a","b"]]' where id = ${other}`
    await engine.database.sql`update dlq.dlq_messages set updated_at = now() where id = ${touched}`
    expect(await hold(run, (sql, held) => runChunk(unused, sql, held, { prepared }))).toMatchObject({ done: 1 })
    expect(await skippedIn(run)).toEqual({ [edited]: 'changed', [other]: 'changed' })
    expect(await storedValue(edited)).toBe('{"amount":7}')
  })

  test('what was prepared for another place of the run is not written', async () => {
    await insertValue('{"amount":1}')
    const run = await editing(1)
    const prepared = { ...(await prepare(run))!, before: 'another' }
    expect(await hold(run, (sql, held) => runChunk(unused, sql, held, { prepared }))).toMatchObject({
      ...{ done: 0, cursor: null, is_exhausted: false },
    })
    expect(await hold(run, (sql, held) => runChunk(unused, sql, held))).toMatchObject({ done: 0, cursor: null })
  })

  test('values that are too large together are prepared in several chunks', async () => {
    const ids = []
    for (let n = 0; n < 7; n += 1) ids.push(await insertValue(`{"amount":1,"text":"${'x'.repeat(1000)}"}`))
    ids.sort()
    const run = await editing(7)
    const deps = { ...chunkDeps, sql: engine.service.sql }
    const next = (bounds: { batchBytes: number; bytes: number; ms: number }) =>
      prepareEdits(deps, { runId: run, most: () => 100, bounds })
    // Two at a time, and no more once four new values wait.
    const byBytes = (await next({ batchBytes: 2500, bytes: 3500, ms: 60_000 }))!
    expect(byBytes.selected).toEqual({ ids: ids.slice(0, 4), cursor: ids[3], isExhausted: false })
    // At least one batch, however little time there is.
    expect((await next({ batchBytes: 2500, bytes: 1e6, ms: 0 }))!.selected.ids).toEqual(ids.slice(0, 2))
    await hold(run, (sql, held) => runChunk(unused, sql, held, { prepared: byBytes }))
    for (let is_exhausted = false; !is_exhausted; ) is_exhausted = (await chunk(run)).is_exhausted
    expect(await read(run)).toMatchObject({ done: 7, skipped: '{}' })
  })

  test('a message whose change takes too long is left alone, and the others are edited', async () => {
    const slow = await insertValue(`{"amount":1,"text":"${'x'.repeat(40_000)}"}`)
    const quick = await insertValue('{"amount":1}')
    const replacing = [{ op: 'replace', path: '/amount', value: 2 }]
    const run = await start(enter({ kind: 'edit', matched: 2, patch: replacing }))
    const prepared = await prepare(run, { ...chunkDeps, aside: createAside({ ...patientBounds, maxRunMs: 1 }) })
    expect(await hold(run, (sql, held) => runChunk(unused, sql, held, { prepared }))).toMatchObject({ done: 1 })
    expect(await skippedIn(run)).toEqual({ [slow]: 'takes_too_long' })
    expect(await storedValue(quick)).toBe('{"amount":2}')
  })
})

test('a run targets the archive where its filter says so', () => {
  const selection = (archived: boolean) => JSON.stringify({ filter: { topic: 'orders', archived } })
  expect([true, false].map((archived) => targetsArchive({ selection: selection(archived) }))).toEqual([true, false])
  expect(targetsArchive({ selection: JSON.stringify({ ids: [] }) })).toBe(false)
})
