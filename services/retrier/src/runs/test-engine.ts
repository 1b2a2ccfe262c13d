// Shared by the tests of the engine: runs as the API creates them, their steps chunk by chunk, and a retrier that
// takes every record as published.

import type { RunSelection } from 'dlq-core/domain/message/run.ts'
import type { RunKind } from 'dlq-core/domain/message/run-kinds.ts'
import { deriveAttemptId } from 'dlq-core/domain/record/message-id.ts'
import { defaultRetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { recordFailedAgain } from 'dlq-core/queries/ingest/message-reopen.ts'
import { freezeNow, type HeldRun, holdRun, insertRun, moveRun, type NewRun } from 'dlq-core/queries/runs/runs.ts'
import { createAside, patientBounds } from 'dlq-core/runtime/aside/aside.ts'
import type { Transaction } from 'dlq-core/runtime/database/database.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, type MessageColumns } from 'dlq-testing/rows/message-rows.ts'
import type { Chunk, StepContext } from 'saga-core/workflow.ts'
import { beforeEach } from 'vitest'
import { createSlotWorker } from '../slot/run-slot.ts'
import { pretendingSlotDeps } from '../test-retrier.ts'
import type { ChunkDeps } from './run-chunk.ts'
import { createRunWorkflows } from './run-workflows.ts'

const aside = createAside(patientBounds)
export const chunkDeps: ChunkDeps = { aside, policyOf: () => defaultRetryPolicy, payloads: null, now: () => new Date() }

const greatestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
const allOrders: RunSelection = { filter: { topic: 'orders' } }

type WantedRun = Partial<Omit<NewRun, 'selection' | 'canary' | 'patch'>> & {
  kind?: RunKind
  selection?: RunSelection
  canary?: object
  patch?: readonly object[]
}

/** Call once at the top of a test file. */
export function useEngine() {
  const database = useDatabase()
  const service = useServiceDatabase(database)
  beforeEach(() =>
    emptyTables(
      database.sql,
      ...['dlq.dlq_message_edits', 'dlq.dlq_attempts', 'dlq.dlq_messages', 'dlq.dlq_rate_buckets'],
      ...['dlq.dlq_run_deltas', 'dlq.dlq_run_skipped', 'dlq.dlq_runs'],
    ),
  )

  /** Runs one chunk of the step, or of its compensation, in a separate transaction. */
  async function chunkOf(
    id: string,
    name: string,
    { maxActive = 4, compensate = false }: { maxActive?: number; compensate?: boolean } = {},
  ): Promise<Chunk> {
    const workflows = createRunWorkflows({ ...chunkDeps, sql: service.sql, maxActive, readTimeoutMs: 900_000 })
    const step = workflows.flatMap(({ steps }) => steps).find((step) => step.name === name)!
    const context = { payload: { run_id: id } } as StepContext<{ run_id: string }>
    if (compensate) return service.sql.begin((sql) => step.compensateChunk!(sql, context))
    const prepared = await step.prepareChunk?.(context)
    return service.sql.begin((sql) => step.executeChunk!(sql, context, prepared))
  }

  return {
    database,
    service,
    chunkOf,
    insert: (columns: MessageColumns = {}) => insertMessageRow(database.sql, { original_topic: 'orders', ...columns }),
    insertMany: async (count: number, columns: MessageColumns = {}): Promise<string[]> => {
      const inserting = Array.from({ length: count }, () =>
        insertMessageRow(database.sql, { original_topic: 'orders', ...columns }),
      )
      return (await Promise.all(inserting)).toSorted()
    },
    /** Enters a run of all that is there now. Returns its id. */
    async enter({ selection = allOrders, canary, patch, ...run }: WantedRun = {}): Promise<string> {
      const id = await insertRun(service.sql, {
        ...{
          kind: 'retry',
          is_forced: false,
          actor: 'ann',
          reason: null,
          scope: null,
          until_id: greatestId,
          matched: 0,
          erase_mode: null,
          adopts: false,
        },
        ...{
          matched_relation: 'eq',
          retry_all_topic: null,
          target_topic: null,
          rate_per_second: null,
          max_lag: null,
          staleness: null,
        },
        ...{ on_refailure: 'continue', max_refailure: 0.5, cutoff: await freezeNow(service.sql) },
        ...run,
        selection: JSON.stringify(selection),
        canary: canary === undefined ? null : JSON.stringify(canary),
        patch: patch === undefined ? null : JSON.stringify(patch),
      })
      return id!
    },
    /** Admits the run. Returns its id. */
    async start(entering: Promise<string>): Promise<string> {
      const id = await entering
      await chunkOf(id, 'admit')
      return id
    },
    move: (id: string, from: HeldRun['status'], to: HeldRun['status']) =>
      moveRun(service.sql, { id, from: [from], to, reason: null }),
    /** The run with all that was counted until now. */
    read: (id: string): Promise<HeldRun> => service.sql.begin(async (sql) => (await holdRun(sql, id))!),
    /** Works on the run as a step does: in a transaction that has locked it. */
    hold: <T extends object>(id: string, work: (sql: Transaction, run: HeldRun) => Promise<T>) =>
      service.sql.begin(async (sql) => work(sql, (await holdRun(sql, id))!)),
    /** The ids of messages that the run holds. */
    async heldBy(id: string): Promise<string[]> {
      const rows = await database.sql<{ id: string }[]>`
        select id from dlq.dlq_messages where run_id = ${id} order by id`
      return rows.map((row) => row.id)
    },
    /** One pass of a slot. Returns how many messages it published. */
    async publishOnce(): Promise<number> {
      const worker = createSlotWorker(pretendingSlotDeps(service.sql))
      const before = await countPublished()
      await worker.pass()
      await worker.close()
      return (await countPublished()) - before
    },
    /** Lets messages that the run has sent fail again. */
    async failAgain(ids: readonly string[]): Promise<void> {
      const attempts = ids.map((id, offset) => ({
        ...{ message_id: id, number: 1, attempt_id: deriveAttemptId(id, 1) },
        ...{ cluster: 'c', topic: 'orders.dlq.v1', partition: 0, offset: BigInt(offset) },
        ...{ error_class: null, error_message: 'again', error_changed: false, group_id: null },
      }))
      await service.sql.begin((sql) => recordFailedAgain(sql, attempts))
    },
  }

  async function countPublished(): Promise<number> {
    const [row] = await database.sql<{ n: number }[]>`
      select count(*)::int as n from dlq.dlq_attempts where outcome = 'published'`
    return row!.n
  }
}
