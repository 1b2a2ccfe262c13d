// A retrier that dies by SIGKILL in the middle of each phase of a run that erases, while the phase's transaction is open:
// the next one goes on, nothing of the key is left, and nothing is counted twice.

import { openProof } from 'dlq-core/domain/erase/erase-proof.ts'
import { runPriority, runWorkflows } from 'dlq-core/domain/message/run.ts'
import { foldSummary, reconcileSummary } from 'dlq-core/queries/reading/summary.ts'
import { eventually } from 'dlq-testing/eventually.ts'
import { useLogFolder } from 'dlq-testing/fleet/log-folder.ts'
import { startService } from 'dlq-testing/fleet/service-process.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { endWorkerLeases, killInTransaction } from 'dlq-testing/process/kill-in-transaction.ts'
import { createReaper } from 'dlq-testing/process/reaper.ts'
import { insertMessageRow } from 'dlq-testing/rows/message-rows.ts'
import { startSaga } from 'saga-core/start-saga.ts'
import { afterAll, expect, test } from 'vitest'
import { canary, canaryKey, enterErasure, findCanary, plant, plantRun } from './test-canary.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const logs = useLogFolder()
const reaper = createReaper()
afterAll(() => reaper.close())

/** More than one piece of the step that erases. */
const messages = 250

/** After which change of which step a retrier dies. `passed`: so many of these changes go through before. */
const deaths: readonly { step: string; table: string; passed?: number }[] = [
  { step: 'admit', table: 'dlq_runs' },
  { step: 'begin', table: 'dlq_erasures' },
  { step: 'find', table: 'dlq_erase_items' },
  { step: 'archive', table: 'dlq_erase_items' },
  { step: 'erase', table: 'dlq_messages' },
  // The second piece.
  { step: 'erase', table: 'dlq_erase_items', passed: 1 },
  { step: 'traces', table: 'dlq_groups' },
  { step: 'verify', table: 'dlq_runs' },
  // The last change of all.
  { step: 'prove', table: 'dlq_runs', passed: 3 },
]

async function startRetrier() {
  const logFile = `${logs.path}/retrier.log`
  return startService({ name: 'retrier', databaseUrl: database.url, kafkaBrokers: [], reaper, logFile })
}

async function dieAt({ step, table, passed = 0 }: (typeof deaths)[number]): Promise<void> {
  const where = `exists (
    select from dlq.dlq_runs where kind = 'erase' and status <> 'queued' and coalesce(step, 'admit') = '${step}')`
  await killInTransaction(database, { table, where, passed }, startRetrier)
  await endWorkerLeases(database)
}

const drift = () =>
  service.sql.begin(async (sql) => {
    await foldSummary(sql, { limit: 100_000 })
    return reconcileSummary(sql)
  })

test('killed in the middle of every phase, it completes, and its counts are exact', async () => {
  await plant(database, { archived: true })
  await plant(database)
  await plantRun(database)
  const rows = { record_key: Buffer.from(canary), record_value: Buffer.from(canary), error_message: canary }
  for (let n = 1; n < messages; n += 1) await insertMessageRow(database.sql, rows)
  await insertMessageRow(database.sql, { record_key: Buffer.from('another'), payload: { a: 1 } })
  const id = await enterErasure(service.sql, { keys: [canaryKey] })
  await service.sql.begin((sql) =>
    startSaga(
      sql,
      { name: runWorkflows.erasing, priority: runPriority },
      { payload: { run_id: id }, correlationId: id, initiatedBy: 'ann' },
    ),
  )
  for (const death of deaths) await dieAt(death)
  const last = await startRetrier()
  const read = async () => {
    const [run] =
      await database.sql`select status, done::int as done, proof::text as proof from dlq.dlq_runs where id = ${id}`
    return run!
  }
  await eventually(async () => expect(await read()).toMatchObject({ status: 'completed' }))
  await last.stop('SIGTERM', 60_000)

  const { proof, done } = await read()
  expect(done).toBe(messages + 1)
  expect(openProof(proof)).toMatchObject({
    remaining: 0,
    counts: {
      ...{ dlq_messages: messages, dlq_messages_archive: 1, dlq_message_edits: 2, dlq_message_origins: 2 },
      // Two of each planted message, and the retrier has put the messages without a group into another one.
      ...{ dlq_attempts: 1, dlq_attempts_archive: 1, dlq_idempotency_keys: 2, dlq_groups: 5, dlq_runs: 1 },
    },
  })
  expect(new Set(openProof(proof).ids).size).toBe(messages + 1)
  expect(await findCanary(database)).toEqual([])
  expect(await drift()).toBe(0)
  const [counted] = await database.sql`
    select count(*) filter (where erased_at is not null)::int as erased, count(*)::int as rows from dlq.dlq_messages`
  expect(counted).toEqual({ erased: messages, rows: messages + 1 })
})
