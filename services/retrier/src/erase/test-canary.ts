// A word that stands in every column that may hold text of a dead letter, and the search for it afterwards.

import type { RunSelection } from 'dlq-core/domain/message/run.ts'
import { smallestId } from 'dlq-core/domain/record/message-id.ts'
import { defaultRetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { insertRun } from 'dlq-core/queries/runs/runs.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import { createAside, patientBounds } from 'dlq-core/runtime/aside/aside.ts'
import type { Database as ServiceSql } from 'dlq-core/runtime/database/database.ts'
import type { TestDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import type { Chunk, StepContext } from 'saga-core/workflow.ts'
import { createRunWorkflows } from '../runs/run-workflows.ts'

export const canary = 'Xq7-canary-Zw9'
export const canaryKey = Buffer.from(canary).toString('base64')
const hex = Buffer.from(canary).toString('hex')

type Database = Pick<TestDatabase, 'sql'>

const workflowOn = (sql: ServiceSql) =>
  createRunWorkflows({
    ...{ sql, aside: createAside(patientBounds) },
    ...{ policyOf: () => defaultRetryPolicy, payloads: null, now: () => new Date() },
    ...{ maxActive: 4, readTimeoutMs: 900_000 },
  }).find(({ name }) => name === 'run.erase')!

/** A message with the canary in each of its columns, and in each table beside it. */
export async function plant({ sql }: Database, { archived = false } = {}): Promise<string> {
  const group = crypto.randomUUID()
  // Of the failure before.
  const former = crypto.randomUUID()
  const frames = crypto.randomUUID()
  await sql`
    insert into dlq.dlq_groups (id, version, message, title)
    select id, 1, ${`no stock for ${canary}`}, ${`E: ${canary}`} from unnest(${[group, former]}::uuid[]) as g (id)`
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
      failed_groups, failed_again_topic, failed_again_partition, failed_again_offset, failed_again_at, target_topic, target_partition, target_offset, settled_at)
    values (${id}, 1, gen_random_uuid(), 'published', ${canary}, ${canary}, ${canary},
      ${[former, group]}::uuid[], 'orders.dlq.v1', 0, 8, now(), 'orders.events.v1', 0, 99, now())`
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

/** A run that names the key everywhere, with its event and its saga. */
export async function plantRun({ sql }: Database): Promise<string> {
  const [run] = await sql`
    insert into dlq.dlq_runs (kind, status, actor, reason, selection, patch, until_id, matched, matched_relation, ended_at)
    values ('edit', 'completed', 'ann', ${`for ${canary}`}, ${sql.json({ filter: { key: canary } })},
            ${sql.json([{ op: 'add', path: '/x', value: canary }])}, gen_random_uuid(), 1, 'eq', now()) returning id`
  await tellOfRun(sql, run!.id)
  await plantKeyOf({ sql }, run!.id)
  await sql`
    insert into dlq.dlq_audit (actor, role, action, target_type, target_id, reason)
    values ('ann', 'operator', 'run.create', 'run', ${run!.id}, ${`for ${canary}`})`
  return run!.id
}

/** A run that names the key only where somebody said why it is cancelled. */
export async function plantCancelledRun({ sql }: Database): Promise<string> {
  const [run] = await sql`
    insert into dlq.dlq_runs (kind, status, status_reason, actor, selection, until_id, matched, matched_relation, ended_at)
    values ('retry', 'cancelled', ${`cancelled by ann: ${canary} asks`}, 'ann', '{"ids":[]}', gen_random_uuid(), 1, 'eq', now())
    returning id`
  await tellOfRun(sql, run!.id)
  return run!.id
}

/** A run that names the key only in its Idempotency-Key. */
export async function plantKeyedRun({ sql }: Database): Promise<string> {
  const [run] = await sql`
    insert into dlq.dlq_runs (kind, status, actor, selection, until_id, matched, matched_relation, ended_at)
    values ('retry', 'completed', 'ann', '{"ids":[]}', gen_random_uuid(), 1, 'eq', now()) returning id`
  await plantKeyOf({ sql }, run!.id)
  return run!.id
}

export async function plantKeyOf({ sql }: Database, run: string): Promise<void> {
  await sql`
    insert into dlq.dlq_idempotency_keys (actor, key, request, message_id, run_id)
    values ('ann', ${`${canary}-${run}`}, '\\x00', ${smallestId}, ${run})`
}

async function tellOfRun(sql: TestDatabase['sql'], id: string): Promise<void> {
  await sql`
    insert into dlq.dlq_events (id, type, subject, severity, title, run_id, is_condition)
    values (gen_random_uuid(), 'run.finished', ${`run/${id}`}, 'info', ${`was cancelled; ${canary} asks`}, ${id}, false)`
  await sql`
    insert into saga.saga_states (workflow_name, status, correlation_id, error_message)
    values ('run.retry', 'CANCELLED', ${id}, ${`cancelled by ann: ${canary} asks`})`
}

/** A run of kind erase, as the API writes it. Returns its id. */
export async function enterErasure(
  sql: Sql,
  selection: RunSelection,
  mode: 'contents' | 'rows' = 'contents',
): Promise<string> {
  const id = await insertRun(sql, {
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
    ...{
      retry_all_topic: null,
      target_topic: null,
      patch: null,
      rate_per_second: null,
      max_lag: null,
      staleness: null,
      canary: null,
    },
    ...{ on_refailure: 'continue', max_refailure: 0.05, selection: JSON.stringify(selection) },
  })
  return id!
}

/** Carries the run to its end, or from a step or up to one. `dies`: each chunk is lost once before it is stored. */
export async function carryOut(
  sql: ServiceSql,
  id: string,
  { dies = false, from = '', before = '', chunks = Number.POSITIVE_INFINITY } = {},
) {
  const context = { payload: { run_id: id } } as StepContext<{ run_id: string }>
  const { steps } = workflowOn(sql)
  for (const step of steps.slice(from === '' ? 0 : steps.findIndex(({ name }) => name === from))) {
    if (step.name === before) break
    for (let chunk: Chunk | null = null; !chunk?.isLast && chunks > 0; chunks--) {
      if (dies)
        await sql
          .begin(async (sql) => {
            await step.executeChunk!(sql, context)
            throw new Error('killed')
          })
          .catch(() => {})
      chunk = await sql.begin((sql) => step.executeChunk!(sql, context))
    }
  }
  const [run] = await sql`
    select status, proof::text as proof, selection::text as selection from dlq.dlq_runs where id = ${id}`
  return run as { status: string; proof: string; selection: string }
}

/** As a saga that is cancelled does after its last chunk; `before`: none of this step or of those behind it was executed. */
export async function cancelErasure(sql: ServiceSql, id: string, { before = '' } = {}): Promise<void> {
  const context = { payload: { run_id: id } } as StepContext<{ run_id: string }>
  const { steps } = workflowOn(sql)
  const executed =
    before === ''
      ? steps
      : steps.slice(
          0,
          steps.findIndex(({ name }) => name === before),
        )
  for (const { compensateChunk } of executed.toReversed())
    if (compensateChunk) await sql.begin((sql) => compensateChunk(sql, context))
}

/** Where the canary stands in tables. */
export async function findCanary({ sql }: Database): Promise<string[]> {
  const tables = await sql`
    select oid::regclass::text as name from pg_class
    where relkind = 'r' and relnamespace::regnamespace::text in ('dlq', 'saga', 'graphile_worker')`
  const found: string[] = []
  for (const { name } of tables) {
    const [row] = await sql.unsafe(
      `select count(*)::int as n from ${name} t where t::text like '%${canary}%' or t::text like '%${hex}%'`,
    )
    if (row!.n > 0) found.push(name)
  }
  return found
}

/** Where it stands in the files of tables, TOAST and indexes. */
export async function findInFiles({ sql }: Database): Promise<string[]> {
  const tables = await sql`
    select oid::regclass::text as name from pg_class
    where relkind = 'r' and relnamespace::regnamespace::text in ('dlq', 'saga')`
  for (const { name } of tables) await sql.unsafe(`vacuum full ${name}`)
  await sql`checkpoint`
  const rows = await sql`
    select oid::regclass::text as name from pg_class
    where relkind in ('r', 'i', 't') and pg_relation_filepath(oid) is not null and pg_relation_size(oid) > 0
      and relnamespace::regnamespace::text in ('dlq', 'saga', 'pg_toast')
      and position(${canary}::text::bytea in pg_read_binary_file(pg_relation_filepath(oid))) > 0`
  return rows.map(({ name }) => name)
}
