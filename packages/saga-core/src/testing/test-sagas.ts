// Sagas in tests: steps that note their calls, and the job queue of the file's database.
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { runMigrations } from 'graphile-worker'
import { beforeAll, beforeEach } from 'vitest'
import { startSaga } from '../start-saga.ts'
import { getSaga } from '../store/saga-list.ts'
import type { defineWorkflow, Json, Step } from '../workflow.ts'

export const once = { timeoutMs: 5000, retry: { maxAttempts: 1, delayMs: 0 } }

/** A step that notes its calls, and answers with its name. */
export function noting(calls: string[], name: string, rest: Partial<Step> = {}): Step {
  return {
    name,
    ...once,
    async execute() {
      calls.push(`execute ${name}`)
      return name
    },
    async compensate() {
      calls.push(`compensate ${name}`)
      return undefined
    },
    ...rest,
  }
}

/** A point that a step reaches, and a gate that lets it go on. */
export function createGate() {
  const reached = Promise.withResolvers<void>()
  const opened = Promise.withResolvers<void>()
  return {
    reached: reached.promise,
    open: opened.resolve,
    async pass() {
      reached.resolve()
      await opened.promise
    },
  }
}

/** A database with a job queue, which is empty before each test. */
export function useSagas() {
  const database = useDatabase()
  beforeAll(() => runMigrations({ connectionString: database.url }))
  beforeEach(() =>
    emptyTables(database.sql, 'saga.saga_step_logs', 'graphile_worker._private_jobs', 'saga.saga_states'),
  )

  async function start(workflow: ReturnType<typeof defineWorkflow>, payload: Json = null): Promise<string> {
    const { id } = await database.sql.begin((sql) => startSaga(sql, workflow, { payload, initiatedBy: 'test' }))
    return id
  }

  function workerOf(workflow: ReturnType<typeof defineWorkflow>) {
    return { sql: database.sql, pool: database.sql, workflow }
  }

  async function readSaga(id: string) {
    const saga = await getSaga(database.sql, id)
    return { ...saga!, log: saga!.steps.map(({ step_name, action, status }) => `${step_name} ${action} ${status}`) }
  }

  return { database, start, workerOf, readSaga }
}
