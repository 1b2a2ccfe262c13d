// Shared by the tests of runs: messages of one topic, and requests for runs over them.
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow, type MessageColumns } from 'dlq-testing/rows/message-rows.ts'
import { beforeEach, expect } from 'vitest'
import { answerOf, lazyTestApp } from '../test-app.ts'
import type { RunJson } from './run-json.ts'

/** Selects all that `insert` stores. */
export const orders = { filter: { topic: 'orders' } }

/** A canary's share, as people write it; nobody awaits it. */
export const thenShare = (share: string | number) => Object.fromEntries([['then', share]])

/** Call once at the top of a test file. */
export function useRuns() {
  const database = useDatabase()
  const service = useServiceDatabase(database)
  const request = lazyTestApp(service)

  beforeEach(() =>
    emptyTables(
      database.sql,
      ...['dlq.dlq_message_edits', 'dlq.dlq_attempts', 'dlq.dlq_messages'],
      ...['dlq.dlq_attempts_archive', 'dlq.dlq_messages_archive'],
      ...['dlq.dlq_readers', 'dlq.dlq_reader_partitions'],
      ...['dlq.dlq_run_deltas', 'dlq.dlq_run_skipped', 'dlq.dlq_runs'],
      ...['saga.saga_step_logs', 'graphile_worker._private_jobs', 'saga.saga_states'],
    ),
  )

  const insert = (columns: MessageColumns = {}) =>
    insertMessageRow(database.sql, { original_topic: 'orders', ...columns })
  const ask = async (body: object): Promise<{ status: number; body: never }> => {
    const init = { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
    return (await answerOf(request('POST /api/v1/runs', init))) as never
  }
  return {
    database,
    service,
    request,
    insert,
    insertMany: (count: number): Promise<string[]> => Promise.all(Array.from({ length: count }, () => insert())),
    ask,
    /** Asks for a retry of all orders, or what `body` says. Returns the run's id. */
    async begin(body: object): Promise<string> {
      const { status, body: run } = await ask({ kind: 'retry', selection: orders, ...body })
      expect(status, JSON.stringify(run)).toBe(202)
      return (run as RunJson).id
    },
  }
}
