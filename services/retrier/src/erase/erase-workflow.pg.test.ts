// Erases a canary that stands in every column of every table that may hold text of a dead letter, dying at every step.

import { setTimeout as sleep } from 'node:timers/promises'
import { openProof } from 'dlq-core/domain/erase/erase-proof.ts'
import { erasureKey, idDigest, keyDigest, placeDigest } from 'dlq-core/domain/erase/erasure-digest.ts'
import { forgottenSelection, type RunSelection } from 'dlq-core/domain/message/run.ts'
import { eraseMessages } from 'dlq-core/queries/erase/erase-messages.ts'
import { eraseFrames, retireFrames } from 'dlq-core/queries/erase/erase-traces.ts'
import { findErasures, readErasureKeys } from 'dlq-core/queries/erase/erasures.ts'
import { admitFrames, haveFrames } from 'dlq-core/queries/ingest/stack-frames.ts'
import { moveRun } from 'dlq-core/queries/runs/runs.ts'
import { eventually } from 'dlq-testing/eventually.ts'
import { untilWaitingForLock } from 'dlq-testing/postgres/lock-waits.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  canary,
  canaryKey,
  cancelErasure,
  carryOut,
  enterErasure,
  findCanary,
  findInFiles,
  plant,
  plantCancelledRun,
  plantKeyedRun,
  plantKeyOf,
  plantRun,
} from './test-canary.ts'
import { erasedColumns, keptColumns } from './text-columns.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

const enter = (selection: RunSelection, mode?: 'contents' | 'rows') => enterErasure(service.sql, selection, mode)

const erase = (id: string, how: Parameters<typeof carryOut>[2] = {}) => carryOut(service.sql, id, how)

const textTypes = ['text', 'character varying', 'bytea', 'json', 'jsonb', 'ARRAY', 'character', 'name']

async function textColumns(): Promise<string[]> {
  const rows = await database.sql`
    select c.table_schema || '.' || c.table_name || '.' || c.column_name as name
    from information_schema.columns c
    join pg_class t on t.oid = (quote_ident(c.table_schema) || '.' || quote_ident(c.table_name))::regclass
    where c.table_schema in ('dlq', 'saga') and t.relkind in ('r', 'p') and not t.relispartition
      and c.data_type in ${database.sql(textTypes)}
    order by 1`
  return rows.map(({ name }) => name)
}

test('every column that can hold text is classified', async () => {
  const known = [...erasedColumns, ...keptColumns]
  expect((await textColumns()).filter((name) => !known.includes(name))).toEqual([])
  expect(known.filter((name, at) => known.indexOf(name) !== at)).toEqual([])
})

describe('a run that erases', () => {
  test('leaves nothing of a key anywhere, though it dies at every step, and proves it', async () => {
    const ids = [await plant(database), await plant(database, { archived: true })].toSorted()
    await plantRun(database)
    await plantCancelledRun(database)
    await plantKeyedRun(database)
    const untouched = await insertMessageRow(database.sql, { record_key: Buffer.from('another'), payload: { a: 1 } })
    expect((await findCanary(database)).length).toBeGreaterThan(9)
    expect((await findInFiles(database)).length).toBeGreaterThan(9)
    const id = await enter({ keys: [canaryKey] })
    await plantKeyOf(database, id)
    const { status, proof, selection } = await erase(id, { dies: true })
    expect(status).toBe('completed')
    expect(await findCanary(database)).toEqual([])
    // While autovacuum analyses a table, vacuum keeps what that could still see.
    await eventually(async () => expect(await findInFiles(database)).toEqual([]))
    expect(selection).toBe('{"ids":[]}')
    const opened = openProof(proof)
    expect(opened).toMatchObject({ ids, remaining: 0, actor: 'ann', reason: 'ticket 17', mode: 'contents' })
    expect(opened.counts).toMatchObject({ dlq_messages: 1, dlq_messages_archive: 1, dlq_message_edits: 2, dlq_runs: 3 })
    expect(opened.copies_in_kafka).toContainEqual({
      ...{ what: 'dlq', topic: 'orders.dlq.v1', partition: 0, offset: '7', deleted_after: null },
    })
    // Where it failed again, there is another copy.
    expect(opened.copies_in_kafka.map(({ what, offset }) => `${what} ${offset}`)).toEqual(
      expect.arrayContaining(['dlq 8', 'republished 99']),
    )
    expect(
      await readMessageRow(database.sql, ids[0]!).catch(() => readMessageRow(database.sql, ids[1]!)),
    ).toMatchObject({
      ...{ status: 'DEAD', error_message: 'erased', record_key: null, record_headers: null, order_key: null },
    })
    expect(await readMessageRow(database.sql, untouched)).toMatchObject({ payload: { a: 1 }, erased_at: null })
    expect(() => openProof(proof.replace('ticket 17', 'ticket 18'))).toThrow('SHA-256')
  })

  test('erases what it was asked for, though another one reaches the same key first', async () => {
    const key = Buffer.from('asked for twice')
    const [first, second] = [
      await insertMessageRow(database.sql, { record_key: key }),
      await insertMessageRow(database.sql, { record_key: key }),
    ]
    const run = await enter({ keys: [key.toString('base64')] })
    await erase(run, { before: 'find' })
    await erase(await enter({ ids: [first] }))
    const { proof } = await erase(run, { from: 'find' })
    expect(openProof(proof)).toMatchObject({ ids: [second], keys: [expect.any(String)] })
    expect(await readMessageRow(database.sql, second)).toMatchObject({ record_key: null, error_message: 'erased' })
  })

  test('reaches a message of its key that was stored while the clock of the database was ahead', async () => {
    const ahead = new Date(Date.now() + 3_600_000)
    const id = await insertMessageRow(database.sql, { record_key: Buffer.from('ahead'), created_at: ahead })
    const { status, proof } = await erase(await enter({ keys: [Buffer.from('ahead').toString('base64')] }))
    expect(status).toBe('completed')
    expect(openProof(proof)).toMatchObject({ ids: [id], remaining: 0 })
    expect(await readMessageRow(database.sql, id)).toMatchObject({ record_key: null, error_message: 'erased' })
  })

  test('says when Kafka deletes the copies, at the latest, in the clusters that have the topic', async () => {
    const { sql } = database
    await sql`
      insert into dlq.dlq_topics (cluster, topic, partitions, retention_ms, cleanup_policy) values
        ('a', 'in.both', 1, 5000, 'delete'), ('b', 'in.both', 1, 9000, 'compact,delete'),
        ('a', 'in.one.for.ever', 1, 5000, 'delete'), ('b', 'in.one.for.ever', 1, -1, 'delete'),
        ('a', 'compacted', 1, 5000, 'compact'),
        ('a', 'in.one.unknown', 1, 5000, 'delete'), ('b', 'in.one.unknown', 1, null, null)`
    const place = { dlq_cluster: 'a', dlq_partition: 0, dlq_offset: 7, record_timestamp: new Date('2026-01-01') }
    const topics = ['in.both', 'in.one.for.ever', 'compacted', 'in.one.unknown']
    const ids = await Promise.all(topics.map((dlq_topic) => insertMessageRow(sql, { ...place, dlq_topic })))
    const { proof } = await erase(await enter({ ids }))
    const times = new Map(openProof(proof).copies_in_kafka.map(({ topic, deleted_after }) => [topic, deleted_after]))
    expect(topics.map((topic) => times.get(topic))).toEqual(['2026-01-01T00:00:09.000Z', null, null, null])
  })

  test('that is cancelled leaves whole what comes of its keys later, and what it has erased stays erased', async () => {
    const key = Buffer.from('mistaken')
    const id = await insertMessageRow(database.sql, { record_key: key })
    const run = await enter({ keys: [key.toString('base64')] })
    await erase(run, { before: 'traces' })
    await cancelErasure(service.sql, run)
    const [known] = await readErasureKeys(service.sql)
    const digestKey = erasureKey(known!.hmac_key)
    const digests = [keyDigest(digestKey, key), idDigest(digestKey, id)]
    expect((await findErasures(service.sql, digests)).map(({ digest }) => digest)).toEqual([digests[1]])
    expect(await readMessageRow(database.sql, id)).toMatchObject({ record_key: null, error_message: 'erased' })
  })

  test('that is cancelled before it erases waits for nothing any more', async () => {
    const run = await enter({ ids: [await insertMessageRow(database.sql, {})] })
    await erase(run, { before: 'erase' })
    await cancelErasure(service.sql, run)
    const [counts] = await database.sql`select status, taken::int, done::int from dlq.dlq_runs where id = ${run}`
    expect(counts).toEqual({ status: 'failed', taken: 0, done: 0 })
  })

  test('that is cancelled before it begins keeps no key either', async () => {
    const run = await enter({ keys: [Buffer.from('not begun').toString('base64')] })
    await erase(run, { before: 'begin' })
    await cancelErasure(service.sql, run, { before: 'begin' })
    const [row] = await database.sql`select selection from dlq.dlq_runs where id = ${run}`
    expect(row).toEqual({ selection: { ids: [] } })
  })

  test('takes from another run its reason where only this names the key, and so the other goes on', async () => {
    const key = Buffer.from('only in a reason')
    const id = await insertMessageRow(database.sql, { record_key: key })
    const selection = { filter: { topic: 'orders' } }
    const patch = [{ op: 'add', path: '/x', value: 1 }]
    const insertRun = async (selection: RunSelection) => {
      const [run] = await database.sql<[{ id: string }]>`
        insert into dlq.dlq_runs (kind, status, actor, reason, selection, patch, until_id, matched, matched_relation)
        values ('edit', 'running', 'ann', ${`for ${key}`}, ${database.sql.json(selection as never)},
                ${database.sql.json(patch)}, gen_random_uuid(), 1, 'eq') returning id`
      return run.id
    }
    const [other, asking] = [await insertRun(selection), await insertRun({ filter: { key: String(key) } })]
    await erase(await enter({ ids: [id] }))
    const [row] = await database.sql`select reason, selection, patch from dlq.dlq_runs where id = ${other}`
    expect(row).toEqual({ reason: null, selection, patch })
    // Only the one whose selection is gone says so when it ends.
    for (const [id, status_reason] of [
      [other, null],
      [asking, forgottenSelection],
    ] as const) {
      await moveRun(service.sql, { id, from: ['running'], to: 'completed' })
      expect(await database.sql`select status_reason from dlq.dlq_runs where id = ${id}`).toEqual([{ status_reason }])
    }
  })

  test('waits for a message that is being sent', async () => {
    const id = await insertMessageRow(database.sql, {
      ...{ record_key: Buffer.from(canary), unstored_value_bytes: 12, status: 'RETRYING', retry_requested: true },
      run_id: crypto.randomUUID(),
    })
    const run = await enter({ ids: [id] })
    const erasing = erase(run)
    await eventually(async () => {
      const [row] = await database.sql`select step from dlq.dlq_runs where id = ${run}`
      expect(row!.step).toBe('erase')
    })
    expect(await readMessageRow(database.sql, id)).toMatchObject({ erased_at: null })
    await database.sql`
      update dlq.dlq_messages set status = 'RESOLVED', lease_slot = null, lease_batch = null where id = ${id}`
    expect((await erasing).status).toBe('completed')
    expect(await readMessageRow(database.sql, id)).toMatchObject({
      ...{ status: 'DEAD', record_key: null, unstored_value_bytes: null, retry_requested: false, run_id: null },
    })
  })

  test('waits for a message that a retrier claims at the same time', async () => {
    const id = await insertMessageRow(database.sql, { record_key: Buffer.from('claimed') })
    const erasing = await database.sql.begin(async (sql) => {
      await sql`update dlq.dlq_messages set status = 'RETRYING' where id = ${id}`
      const erasing = service.sql.begin((sql) =>
        eraseMessages(sql, { runId: crypto.randomUUID(), ids: [id], mode: 'contents' }),
      )
      await untilWaitingForLock(database)
      return { erasing }
    })
    expect(await erasing.erasing).toEqual({ ids: [], waiting: 1, counts: {} })
    expect(await readMessageRow(database.sql, id)).toMatchObject({ status: 'RETRYING', erased_at: null })
    await database.sql`delete from dlq.dlq_messages where id = ${id}`
  })

  test('knows the places and the groups of what was sent, and failed again, after it was found', async () => {
    const { sql } = database
    const id = await insertMessageRow(sql, { record_key: Buffer.from(canary), status: 'RETRYING', retry_count: 1 })
    const run = await enter({ ids: [id] })
    await erase(run, { before: 'erase' })
    const groups = [crypto.randomUUID(), crypto.randomUUID()]
    await sql`
      insert into dlq.dlq_groups (id, version, message, title)
      select id, 1, ${canary}, ${canary} from unnest(${groups}::uuid[]) as g (id)`
    await sql`
      insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome, target_topic, target_partition, target_offset,
        settled_at, failed_again_topic, failed_again_partition, failed_again_offset, failed_again_at, failed_groups)
      values (${id}, 1, gen_random_uuid(), 'published', 'orders', 1, 98, now(), 'orders.dlq.v1', 1, 99, now(), ${groups}::uuid[])`
    await sql`update dlq.dlq_messages set status = 'PENDING', group_id = ${groups[1]!} where id = ${id}`
    const { proof } = await erase(run, { from: 'erase' })
    expect(openProof(proof).copies_in_kafka.map(({ what, offset }) => `${what} ${offset}`)).toEqual([
      ...['republished 98', 'dlq 99'],
    ])
    expect(await findCanary(database)).toEqual([])
  })

  test('finds what comes out of the archive, or is stored, while it erases', async () => {
    const run = await enter({ keys: [canaryKey] })
    await erase(run, { before: 'verify' })
    // Of before the request: a later record of the key is another matter.
    const group_id = crypto.randomUUID()
    await database.sql`
      insert into dlq.dlq_groups (id, version, message, title) values (${group_id}, 1, ${canary}, ${canary})`
    const before = { record_key: Buffer.from(canary), created_at: new Date(Date.now() - 86_400_000), group_id }
    const ids = [
      await insertMessageRow(database.sql, before),
      await insertMessageRow(database.sql, { ...before, status: 'RESOLVED' }),
    ]
    await database.sql`select dlq.archive_messages(array[${ids[1]!}]::uuid[])`
    expect((await erase(run, { from: 'verify' })).status).toBe('completed')
    expect(await findCanary(database)).toEqual([])
    const [erased] = await database.sql`
      select (select count(*) from dlq.dlq_messages where id = any(${ids}) and erased_at is not null)
           + (select count(*) from dlq.dlq_messages_archive where id = any(${ids}) and erased_at is not null) as n`
    expect(Number(erased!.n)).toBe(2)
  })

  test('has a retrier of the version before, which takes it over between two chunks, erase all traces', async () => {
    await plant(database)
    const run = await enter({ keys: [canaryKey] })
    await erase(run, { before: 'traces' })
    await erase(run, { from: 'traces', chunks: 1 })
    // By a cursor that version takes the texts of groups and the frames for erased.
    const [row] = await database.sql`select step, cursor from dlq.dlq_runs where id = ${run}`
    expect(row).toEqual({ step: 'traces', cursor: null })
    await erase(run, { from: 'traces' })
    expect(await findCanary(database)).toEqual([])
  })

  describe('and deletes stack frames', () => {
    const frames = ['\tat a.b\n']
    let [id, run] = ['', '']
    /** As an ingester stores a dead letter with these frames. */
    const store = (before: () => Promise<unknown>) =>
      service.sql.begin(async (sql) => {
        await readErasureKeys(sql)
        if (!(await haveFrames(sql, [id]))) return false
        await before()
        const traced = { error_stacktrace: 'E\n\t⋮\n', frames_id: id }
        await sql`insert into dlq.dlq_messages ${sql({ original_topic: 'orders', error_message: 'failed', ...traced })}`
        return true
      })
    const retire = () => service.sql.begin((sql) => retireFrames(sql, run))
    const deleted = () => service.sql.begin((sql) => eraseFrames(sql, run))

    beforeEach(async () => {
      ;[id, run] = [crypto.randomUUID(), crypto.randomUUID()]
      await database.sql`insert into dlq.dlq_stack_frames (id, frames, topic) values (${id}, ${frames}, 'orders')`
      await database.sql`
        insert into dlq.dlq_erase_items (run_id, message_id, frames_id) values (${run}, gen_random_uuid(), ${id})`
    })

    test('leaves those that a dead letter is being stored with', async () => {
      let retiring: Promise<void> = Promise.resolve()
      await store(async () => {
        retiring = retire()
        await Promise.race([retiring.then(deleted), sleep(200)])
      })
      await retiring
      expect(await deleted()).toBe(0)
    })

    test('leaves those that were stored again meanwhile', async () => {
      await retire()
      expect(await store(async () => {})).toBe(false)
      await admitFrames(service.sql, [{ id, frames, headers: '[]', topic: 'orders' }])
      await store(async () => expect(await deleted()).toBe(0))
    })

    test('waits for those that are noted as used meanwhile, without a deadlock', async () => {
      const ids = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002']
      for (const frames_id of ids.toReversed()) {
        await database.sql`insert into dlq.dlq_stack_frames (id, frames, topic) values (${frames_id}, ${frames}, 'orders')`
        await database.sql`
          insert into dlq.dlq_erase_items (run_id, message_id, frames_id) values (${run}, gen_random_uuid(), ${frames_id})`
      }
      let retiring: Promise<void> = Promise.resolve()
      // Locks them in the order in which admitFrames does.
      await service.sql.begin(async (sql) => {
        await sql`update dlq.dlq_stack_frames set used_at = now() where id = ${ids[0]!}`
        retiring = retire()
        await Promise.race([retiring, sleep(200)])
        await sql`update dlq.dlq_stack_frames set used_at = now() where id = ${ids[1]!}`
      })
      await retiring
      expect(await haveFrames(service.sql, ids)).toBe(false)
    })

    test('deletes those that nothing uses', async () => {
      await retire()
      expect(await deleted()).toBe(1)
    })
  })

  test('deletes the rows where that is wanted, and finds messages by a key that an edit replaced', async () => {
    const id = await insertMessageRow(database.sql, { record_key: Buffer.from('new'), edits: 1 })
    await database.sql`
      insert into dlq.dlq_message_edits (message_id, number, actor, fields, record_key)
      values (${id}, 1, 'ann', '{key}', ${Buffer.from(canary)})`
    await database.sql`
      insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome, target_topic, target_partition, target_offset, settled_at)
      values (${id}, 1, gen_random_uuid(), 'published', 'orders', 1, 980, now())`
    await erase(await enter({ keys: [canaryKey] }, 'rows'))
    expect(await database.sql`select from dlq.dlq_messages where id = ${id}`).toHaveLength(0)
    // So that a failure of its retry is recognised, whose attempt is deleted with it.
    const [key] = await readErasureKeys(service.sql)
    const digest = placeDigest(erasureKey(key!.hmac_key), { topic: 'orders', partition: 1, offset: 980n })
    expect(await findErasures(service.sql, [digest])).toHaveLength(1)
    expect(await findCanary(database)).toEqual([])
  })

  test('leaves alone what is of other topics, or was stored later, also by a key that an edit replaced', async () => {
    const { sql } = database
    const key = Buffer.from('of two topics')
    const store = async ({ record_key = key, archived = false, ...row }: Record<string, unknown>) => {
      const id = await insertMessageRow(sql, { original_topic: 'orders', status: 'RESOLVED', record_key, ...row })
      if (archived) await sql`select dlq.archive_messages(array[${id}]::uuid[])`
      return id
    }
    const storeEdited = async (row: Record<string, unknown>) => {
      const id = await store({ record_key: Buffer.from('new'), edits: 1, ...row })
      await sql`
        insert into dlq.dlq_message_edits (message_id, number, actor, fields, record_key) values (${id}, 1, 'ann', '{key}', ${key})`
      return id
    }
    const storeAll = (row: Record<string, unknown>) =>
      Promise.all([false, true].flatMap((archived) => [store({ ...row, archived }), storeEdited({ ...row, archived })]))
    const asked = await storeAll({})
    await storeAll({ original_topic: 'payments' })
    const run = await enter({ keys: [key.toString('base64')], topics: ['orders'] })
    await erase(run, { before: 'find' })
    await storeAll({})
    expect(openProof((await erase(run, { from: 'find' })).proof).ids).toEqual(asked.toSorted())
  })

  test('keeps counts exact', async () => {
    const { sql } = database
    const dead = async () => {
      await sql`select dlq.fold_summary(100000)`
      const [row] = await sql`select coalesce(sum(count), 0)::int as n from dlq.dlq_summary where status = 'DEAD'`
      return row!.n
    }
    const id = await insertMessageRow(sql, { record_key: Buffer.from(canary) })
    const before = await dead()
    await erase(await enter({ ids: [id] }))
    expect(await dead()).toBe(before + 1)
  })
})
