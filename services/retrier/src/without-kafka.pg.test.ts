// A retrier without Kafka.

import { eventually } from 'dlq-testing/eventually.ts'
import { useLogFolder } from 'dlq-testing/fleet/log-folder.ts'
import { startService } from 'dlq-testing/fleet/service-process.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { createReaper } from 'dlq-testing/process/reaper.ts'
import { insertDueRows } from 'dlq-testing/rows/due-rows.ts'
import { afterAll, beforeEach, expect, test } from 'vitest'

const database = useDatabase()
const logs = useLogFolder()
const reaper = createReaper()
afterAll(() => reaper.close())

beforeEach(async () => {
  await emptyTables(database.sql, 'dlq.dlq_attempts', 'dlq.dlq_messages', 'dlq.dlq_slots')
  await insertDueRows(database.sql, { count: 30, topics: ['orders', 'payments'] })
})

/** Starts one and waits until it is ready. */
async function startRetrier(env: NodeJS.ProcessEnv = {}) {
  const logFile = `${logs.path}/retrier.log`
  const service = await startService({
    ...{ name: 'retrier', databaseUrl: database.url, kafkaBrokers: [], reaper, logFile },
    env: { DLQ_RETRY_POLL_INTERVAL: '100ms', DLQ_APP_SHUTDOWN_TIMEOUT: '60s', ...env },
  })
  await service.ready()
  return { [Symbol.asyncDispose]: () => service.stop('SIGTERM', 60_000) }
}

const states = () => database.sql`select status, retry_count, count(*)::int from dlq.dlq_messages group by 1, 2`
const publishes = async () =>
  (await database.sql<{ publishes: string }[]>`select publishes from dlq.dlq_retriers`).map(
    ({ publishes }) => publishes,
  )

test('runs, reports that it cannot publish, leaves due messages alone, and removes its row at its end', async () => {
  {
    await using _ = await startRetrier()
    await eventually(async () => expect(await publishes()).toEqual(['nothing']))
    expect([...(await states())]).toEqual([{ status: 'PENDING', retry_count: 0, count: 30 }])
  }
  expect(await publishes()).toEqual([])
})

test('counts every message as published where the configuration says so, for development', async () => {
  await using _ = await startRetrier({ DLQ_RETRY_WITHOUT_KAFKA: 'resolve' })
  const done = [{ status: 'RESOLVED', retry_count: 1, count: 30 }]
  await eventually(async () => expect([...(await states())]).toEqual(done))
  expect(await publishes()).toEqual(['resolve'])
  const attempts = await database.sql`
    select distinct outcome, target_topic, target_offset from dlq.dlq_attempts order by target_topic`
  expect([...attempts]).toEqual([
    { outcome: 'published', target_topic: 'orders', target_offset: null },
    { outcome: 'published', target_topic: 'payments', target_offset: null },
  ])
})
