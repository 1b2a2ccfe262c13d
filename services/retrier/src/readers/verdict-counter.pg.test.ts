// Several retriers count what came back, each in its own metric.

import { noteLook, takeLook } from 'dlq-core/queries/readers/reader-watch.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { createVerdictCounter, createVerdictMetrics } from './verdict-counter.ts'

const database = useDatabase()
const service = useServiceDatabase(database)

function createRetrier() {
  const { verdicts } = createVerdictMetrics(new Registry())
  const log = createLog({ service: 'test', level: 'silent' })
  const counter = createVerdictCounter({ sql: service.sql, log, metrics: { verdicts }, now: Date.now })
  return {
    async look() {
      await database.sql`update dlq.dlq_reader_watch set look_due_at = now()`
      const until = (await takeLook(service.sql, { everyMs: 1000 }))!
      const { before } = (await noteLook(service.sql, { began_at: until }))!
      await counter.count({ after: before, until })
    },
    cameBack: async () => (await verdicts.get()).values.find(({ labels }) => labels.verdict === 'came_back')!.value,
  }
}

test('what came back is counted by one of the retriers that look in turn', async () => {
  const retriers = [createRetrier(), createRetrier()]
  for (let n = 1; n <= 6; n += 1) {
    await retriers[n % 2]!.look()
    await database.sql`
      insert into dlq.dlq_attempts (message_id, number, attempt_id, outcome, settled_at, failed_again_at)
      values (gen_random_uuid(), 1, gen_random_uuid(), 'published', now(), clock_timestamp())`
  }
  for (const retrier of retriers) await retrier.look()
  const counts = await Promise.all(retriers.map((retrier) => retrier.cameBack()))
  expect(counts.reduce((sum, count) => sum + count)).toBe(6)
})
