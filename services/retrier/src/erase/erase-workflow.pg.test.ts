// Erases a canary that stands in every column of every table that may hold text of a dead letter, dying at every step.

import { openProof } from 'dlq-core/domain/erase/erase-proof.ts'
import type { RunSelection } from 'dlq-core/domain/message/run.ts'
import { defaultRetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { insertRun } from 'dlq-core/queries/runs/runs.ts'
import { eventually } from 'dlq-testing/eventually.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, readMessageRow } from 'dlq-testing/rows/message-rows.ts'
import type { Chunk, StepContext } from 'saga-core/workflow.ts'
import { describe, expect, test } from 'vitest'
import { eraseAgain } from '../../../../db/erase-again.ts'
import { createRunWorkflows } from '../runs/run-workflows.ts'
import { erasedColumns, keptColumns } from './text-columns.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const canary = 'Xq7-canary-Zw9'
const hex = Buffer.from(canary).toString('hex')

const workflow = createRunWorkflows({
  ...{ policyOf: () => defaultRetryPolicy, payloads: null, now: () => new Date() },
  ...{ maxActive: 4, readTimeoutMs: 900_000 },
}).find(({ name }) => name === 'run.erase')!

async function enter(selection: RunSelection, mode: 'contents' | 'rows' = 'contents'): Promise<string> {
  const id = await insertRun(service.sql, {
    ...{
      kind: 'erase',
      is_forced: false,
      actor: 'ann',
      reason: 'ticket 17',
      scope: null,
      erase_mode: mode,
      adopts: false,
    },
    ...{ cutoff: 'infinity', until_id: 'ffffffff-ffff-ffff-ffff-ffffffffffff', matched: 1, matched_relation: 'eq' },
    ...{ retry_all_topic: null, target_topic: null, patch: null, rate_per_second: null, max_lag: null, canary: null },
    ...{ on_refailure: 'continue', max_refailure: 0.05, selection: JSON.stringify(selection) },
  })
  return id!
}

/** Carries the run to its end. `dies`: each chunk is lost once before it is stored. */
async function erase(id: string, { dies = false } = {}) {
  const context = { payload: { run_id: id } } as StepContext<{ run_id: string }>
  for (const step of workflow.steps) {
    for (let chunk: Chunk | null = null; !chunk?.isLast; ) {
      if (dies)
        await service.sql
          .begin(async (sql) => {
            await step.executeChunk!(sql, context)
            throw new Error('killed')
          })
          .catch(() => {})
      chunk = await service.sql.begin((sql) => step.executeChunk!(sql, context))
    }
  }
  const [run] =
    await database.sql`select status, proof::text as proof, selection::text as selection from dlq.dlq_runs where id = ${id}`
  return run!
}

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

/** Where the canary stands in tables. */
async function findCanary(): Promise<string[]> {
  const tables = await database.sql`
    select oid::regclass::text as name from pg_class
    where relkind = 'r' and relnamespace::regnamespace::text in ('dlq', 'saga', 'graphile_worker')`
  const found: string[] = []
  for (const { name } of tables) {
    const [row] = await database.sql.unsafe(
      `select count(*)::int as n from ${name} t where t::text like '%${canary}%' or t::text like '%${hex}%'`,
    )
    if (row!.n > 0) found.push(name)
  }
  return found
}

/** Where it stands in the files of tables, TOAST and indexes. */
async function findInFiles(): Promise<string[]> {
  const tables = await database.sql`
    select oid::regclass::text as name from pg_class
    where relkind = 'r' and relnamespace::regnamespace::text in ('dlq', 'saga')`
  for (const { name } of tables) await database.sql.unsafe(`vacuum full ${name}`)
  await database.sql`checkpoint`
  const rows = await database.sql`
    select oid::regclass::text as name from pg_class
    where relkind in ('r', 'i', 't') and pg_relation_filepath(oid) is not null and pg_relation_size(oid) > 0
      and relnamespace::regnamespace::text in ('dlq', 'saga', 'pg_toast')
      and position(${canary}::text::bytea in pg_read_binary_file(pg_relation_filepath(oid))) > 0`
  return rows.map(({ name }) => name)
}

test('every column that can hold text is classified', async () => {
  const known = [...erasedColumns, ...keptColumns]
  expect((await textColumns()).filter((name) => !known.includes(name))).toEqual([])
  expect(known.filter((name, at) => known.indexOf(name) !== at)).toEqual([])
})

/** A message with the canary in each of its columns, and in each table beside it. */
async function plant(archived: boolean): Promise<string> {
  const { sql } = database
  const group = crypto.randomUUID()
  const frames = crypto.randomUUID()
  await sql`
    insert into dlq.dlq_groups (id, version, message, title) values (${group}, 1, ${`no stock for ${canary}`}, ${`E: ${canary}`})`
  await sql`insert into dlq.dlq_stack_frames (id, frames, topic) values (${frames}, ${[`\tat ${canary}\n`]}, 'orders')`
  await sql`
    insert into dlq.dlq_events (id, type, subject, severity, title, group_id, is_condition)
    values (gen_random_uuid(), 'group.new', ${group}, 'info', ${`new: ${canary}`}, ${group}, false)`
  const id = await insertMessageRow(sql, {
    ...{ dlq_cluster: 'c', dlq_topic: 'orders.dlq.v1', dlq_partition: 0, dlq_offset: 7, record_timestamp: new Date() },
    ...{ record_key: Buffer.from(canary), record_value: Buffer.from(canary), payload: { name: canary } },
    ...{
      record_headers: [
        ['name', canary],
        ['trace', { column: 'error_stacktrace' }],
      ],
      error_message: canary,
    },
    ...{ error_stacktrace: `${canary}\n\t⋮\n`, frames_id: frames, order_key: 77, group_id: group },
    ...{ status: archived ? 'RESOLVED' : 'PENDING', edits: 1 },
  })
  await sql`
    insert into dlq.dlq_message_edits (message_id, number, actor, reason, fields, record_key, record_value, record_headers, payload)
    values (${id}, 1, 'ann', ${canary}, '{key}', ${Buffer.from(canary)}, ${Buffer.from(canary)}, ${sql.json([canary])}, ${sql.json({ canary })})`
  await sql`
    insert into dlq.dlq_message_origins (message_id, state, record_key, record_value, record_headers, problem)
    values (${id}, 'same', ${Buffer.from(canary)}, ${Buffer.from(canary)}, ${sql.json([['a', canary]])}, ${canary})`
  await sql`
    insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome, error, failed_again_class, failed_again_message,
      target_topic, target_partition, target_offset, settled_at)
    values (${id}, 1, gen_random_uuid(), 'published', ${canary}, ${canary}, ${canary}, 'orders.events.v1', 0, 99, now())`
  await sql`
    insert into dlq.dlq_audit (actor, role, action, target_type, target_id, reason, before, after)
    values ('ann', 'operator', 'message.edit', 'message', ${id}, ${canary}, ${sql.json({ canary })}, ${sql.json({ canary })})`
  await sql`
    insert into dlq.dlq_idempotency_keys (actor, key, request, message_id) values ('ann', ${`${canary}-${id}`}, '\\x00', ${id})`
  await sql`
    insert into dlq.dlq_reads (actor, request_id, action, ids, filter, reason)
    values ('ann', 'r', 'GET', array[${id}]::uuid[], ${sql.json({ key: canary })}, ${canary})`
  if (archived) await sql`select dlq.archive_messages(array[${id}]::uuid[])`
  return id
}

async function plantRun(): Promise<string> {
  const { sql } = database
  const [run] = await sql`
    insert into dlq.dlq_runs (kind, status, actor, reason, selection, patch, until_id, matched, matched_relation, ended_at)
    values ('edit', 'completed', 'ann', ${`for ${canary}`}, ${sql.json({ filter: { key: canary } })},
            ${sql.json([{ op: 'add', path: '/x', value: canary }])}, gen_random_uuid(), 1, 'eq', now()) returning id`
  await sql`
    insert into dlq.dlq_audit (actor, role, action, target_type, target_id, reason)
    values ('ann', 'operator', 'run.create', 'run', ${run!.id}, ${`for ${canary}`})`
  return run!.id
}

describe('a run that erases', () => {
  test('leaves nothing of a key anywhere, though it dies at every step, and proves it', async () => {
    const ids = [await plant(false), await plant(true)].toSorted()
    await plantRun()
    const untouched = await insertMessageRow(database.sql, { record_key: Buffer.from('another'), payload: { a: 1 } })
    expect((await findCanary()).length).toBeGreaterThan(9)
    expect((await findInFiles()).length).toBeGreaterThan(9)
    const id = await enter({ keys: [Buffer.from(canary).toString('base64')] })
    const { status, proof, selection } = await erase(id, { dies: true })
    expect(status).toBe('completed')
    expect(await findCanary()).toEqual([])
    // While autovacuum analyses a table, vacuum keeps what that could still see.
    await eventually(async () => expect(await findInFiles()).toEqual([]))
    expect(selection).toBe('{"ids":[]}')
    const opened = openProof(proof)
    expect(opened).toMatchObject({ ids, remaining: 0, actor: 'ann', reason: 'ticket 17', mode: 'contents' })
    expect(opened.counts).toMatchObject({ dlq_messages: 1, dlq_messages_archive: 1, dlq_message_edits: 2, dlq_runs: 1 })
    expect(opened.copies_in_kafka).toContainEqual({
      ...{ what: 'dlq', topic: 'orders.dlq.v1', partition: 0, offset: '7', deleted_after: null },
    })
    expect(opened.copies_in_kafka.map(({ what }) => what)).toContain('republished')
    expect(
      await readMessageRow(database.sql, ids[0]!).catch(() => readMessageRow(database.sql, ids[1]!)),
    ).toMatchObject({
      ...{ status: 'DEAD', error_message: 'erased', record_key: null, record_headers: null, order_key: null },
    })
    expect(await readMessageRow(database.sql, untouched)).toMatchObject({ payload: { a: 1 }, erased_at: null })
    expect(() => openProof(proof.replace('ticket 17', 'ticket 18'))).toThrow('SHA-256')
  })

  test('erases again what a restore has brought back, by its proof', async () => {
    const id = await plant(false)
    const { proof } = await erase(await enter({ keys: [Buffer.from(canary).toString('base64')] }))
    const back = [await plant(false), await plant(true)]
    await database.sql`delete from dlq.dlq_runs where kind = 'erase'`
    expect(await eraseAgain(service.sql, proof)).toBeGreaterThanOrEqual(back.length)
    expect(await findCanary()).toEqual([])
    expect(await readMessageRow(database.sql, id)).toMatchObject({ error_message: 'erased' })
    await expect(eraseAgain(service.sql, proof.replace('ticket', 'tocket'))).rejects.toThrow('SHA-256')
  })

  test('waits for a message that is being sent', async () => {
    const id = await insertMessageRow(database.sql, { record_key: Buffer.from(canary), status: 'RETRYING' })
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
    expect(await readMessageRow(database.sql, id)).toMatchObject({ status: 'DEAD', record_key: null })
  })

  test('deletes the rows where that is wanted, and finds messages by a key that an edit replaced', async () => {
    const id = await insertMessageRow(database.sql, { record_key: Buffer.from('new'), edits: 1 })
    await database.sql`
      insert into dlq.dlq_message_edits (message_id, number, actor, fields, record_key)
      values (${id}, 1, 'ann', '{key}', ${Buffer.from(canary)})`
    await erase(await enter({ keys: [Buffer.from(canary).toString('base64')] }, 'rows'))
    expect(await database.sql`select from dlq.dlq_messages where id = ${id}`).toHaveLength(0)
    expect(await findCanary()).toEqual([])
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
