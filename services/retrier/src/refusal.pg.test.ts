// A slot on a schema that lacks what this version asks for.

import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertDueRows } from 'dlq-testing/rows/due-rows.ts'
import { beforeEach, expect, test } from 'vitest'
import { createSlotWorker } from './slot/run-slot.ts'
import { pretendingSlotDeps } from './test-retrier.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

beforeEach(() => emptyTables(database.sql, 'dlq.dlq_messages', 'dlq.dlq_slots'))

test('a retrier says that its schema is older until a slot has worked again; another fault takes nothing back', async () => {
  await insertDueRows(database.sql, { count: 1, topics: ['orders'] })
  const faults = [new Error('no connection to the database')]
  const deps = pretendingSlotDeps(service.sql)
  const worker = createSlotWorker({
    ...deps,
    loadPolicies: async () => {
      const fault = faults.pop()
      if (fault) throw fault
    },
  })
  await expect(worker.pass()).rejects.toThrow('no connection')
  expect(deps.refusal.fault()).toBeNull()

  await database.sql`alter table dlq.dlq_slots rename column unanswered to later`
  await expect(worker.pass()).rejects.toThrow('does not exist')
  faults.push(new Error('no connection to the database'))
  await expect(worker.pass()).rejects.toThrow('no connection')
  expect(deps.refusal.fault()).toMatch(/^cannot publish: .*does not exist: the database lacks .*: run its migrations/)

  await database.sql`alter table dlq.dlq_slots rename column later to unanswered`
  await worker.pass()
  expect(deps.refusal.fault()).toBeNull()
  await worker.close()
})
