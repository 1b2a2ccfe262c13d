// Runs whose verdicts are counted in parts, as those of millions are.

import { addVerdicts, noVerdicts } from 'dlq-core/queries/readers/verdicts.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { countRunVerdicts } from 'dlq-testing/rows/run-verdicts.ts'
import { beforeEach, expect, test } from 'vitest'
import { createRunCounter } from './run-counter.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

beforeEach(() =>
  emptyTables(database.sql, 'dlq.dlq_attempts', 'dlq.dlq_messages', 'dlq.dlq_run_verdicts', 'dlq.dlq_runs'),
)

async function addRun(attempts: number): Promise<string> {
  const [run] = await database.sql`
    insert into dlq.dlq_runs (kind, actor, selection, until_id, matched, matched_relation, started_at)
    values ('retry', 'ann', '{}', gen_random_uuid(), ${attempts}, 'eq', now()) returning id`
  for (let n = 0; n < attempts; n += 1) {
    const id = await insertMessageRow(database.sql, { original_topic: 'orders' })
    await database.sql`
      insert into dlq.dlq_attempts ${database.sql({
        ...{ message_id: id, number: 1, attempt_id: crypto.randomUUID(), run_id: run!.id, outcome: 'published' },
        ...{ target_topic: 'orders', target_partition: 0, target_offset: n, settled_at: new Date() },
        failed_again_at: n % 3 === 0 ? new Date() : null,
      })}`
  }
  return run!.id
}

async function stored(): Promise<Record<string, object>> {
  const rows = await database.sql`select run_id, counts from dlq.dlq_run_verdicts`
  return Object.fromEntries(
    rows.map(({ run_id, counts }) => [run_id, typeof counts === 'string' ? JSON.parse(counts) : counts]),
  )
}

test('a large run is counted part by part, over several looks, and holds up no other', async () => {
  const [large, small] = [await addRun(7), await addRun(2)]
  // Time for one part of each look.
  const look = createRunCounter({ sql: service.sql, now: Date.now, partSize: 3, countForMs: -1 })
  for (let looks = 0; looks < 6; looks += 1) await look()
  expect(await stored()).toEqual({
    [large]: addVerdicts(noVerdicts, { came_back: 3, unknown: 4 }),
    [small]: addVerdicts(noVerdicts, { came_back: 1, unknown: 1 }),
  })
  expect(await countRunVerdicts(service.sql, large)).toEqual((await stored())[large])
})

test('killed half-way, beside messages that come back, it ends with the counts of a recount', async () => {
  const run = await addRun(7)
  const start = () => createRunCounter({ sql: service.sql, now: Date.now, partSize: 3, countForMs: -1 })
  const killed = start()
  await killed()
  await killed()
  // Behind and before the place that it had come to.
  await database.sql`update dlq.dlq_attempts set failed_again_at = now() where target_offset in (1, 5)`
  const other = start()
  for (let looks = 0; looks < 3; looks += 1) await other()
  expect(await stored()).toEqual({ [run]: await countRunVerdicts(service.sql, run) })
  expect((await stored())[run]).toMatchObject({ came_back: 5, unknown: 2 })
})

test('a run whose messages go into the archive keeps the counts that it had', async () => {
  const run = await addRun(6)
  const look = createRunCounter({ sql: service.sql, now: Date.now })
  await look()
  const before = await stored()
  expect(before).toEqual({ [run]: addVerdicts(noVerdicts, { came_back: 2, unknown: 4 }) })
  await database.sql`update dlq.dlq_messages set status = 'RESOLVED'`
  await database.sql`select dlq.archive_messages(array(select message_id from dlq.dlq_attempts where target_offset < 4))`
  await look()
  expect(await stored()).toEqual(before)
})
