// What the scheduled job "purge" deletes beside partitions: each thing after its own time, and nothing before.

import { loadConfig, policyLayersOf } from 'dlq-core/runtime/config/config.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { createPolicySource } from 'dlq-core/runtime/policy-source.ts'
import { emptyTables } from 'dlq-testing/postgres/empty-tables.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { expect, test } from 'vitest'
import { upkeepJobs } from './upkeep-jobs.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const log = createLog({ service: 'test', level: 'silent' })

function purge(): Promise<object> {
  const { config } = loadConfig({ env: {}, yaml: 'archive: { audit_retention: 30d }', needs: [] })
  const jobs = upkeepJobs({
    ...{ sql: service.sql, log, payloads: null, dlqPatterns: [], schedules: config.cron, retentions: config.archive },
    policies: createPolicySource({ sql: service.sql, log, configured: policyLayersOf(config) }),
    ...{ now: Date.now, databaseNow: () => new Date() },
  })
  return jobs.find(({ name }) => name === 'purge')!.run({ now: new Date(), signal: new AbortController().signal })
}

/** One of each, so many days old. */
async function addThings(days: number): Promise<void> {
  const { sql } = database
  const at = sql`now() - ${days}::int * interval '1 day'`
  const id = crypto.randomUUID()
  await sql`insert into dlq.dlq_reads (at, actor, request_id, action) values (${at}, 'ann', 'r', 'GET')`
  await sql`
    insert into dlq.dlq_idempotency_keys (actor, key, request, message_id, created_at)
    values ('ann', ${id}, '', ${id}, ${at})`
  await sql`
    insert into dlq.dlq_runs (id, kind, status, actor, selection, until_id, matched, matched_relation, created_at, ended_at)
    values (${id}, 'retry', 'completed', 'ann', '{}', ${id}, 1, 'eq', ${at}, ${at})`
  await sql`insert into dlq.dlq_run_deltas (run_id, outcome, n) values (${id}, 'failed_again', 1)`
  await sql`
    insert into saga.saga_states (workflow_name, status, created_at, updated_at) values ('run', 'COMPLETED', ${at}, ${at})`
  await sql`
    insert into dlq.dlq_cron_runs (job, tick, finished_at, outcome) values ('fold', ${at}, ${at}, 'done')`
  await sql`select graphile_worker.add_job(${`spent-${days}`}, max_attempts => 1)`
  await sql`
    update graphile_worker._private_jobs j set attempts = 1, updated_at = ${at}
    from graphile_worker._private_tasks t where t.id = j.task_id and t.identifier = ${`spent-${days}`}`
}

test('purge deletes what is older than its time, and adds late failures to runs that stay', async () => {
  await emptyTables(database.sql, 'dlq.dlq_runs', 'dlq.dlq_run_deltas', 'dlq.dlq_cron_runs', 'saga.saga_states')
  for (const days of [31, 6]) await addThings(days)
  expect(await purge()).toMatchObject({
    ...{ reads: 1, idempotency_keys: 1, runs: 1, runs_folded: 1, sagas: 1, cron_runs: 1, failed_jobs: 1 },
  })
  expect(await purge()).toMatchObject({
    ...{ reads: 0, idempotency_keys: 0, runs: 0, runs_folded: 0, sagas: 0, cron_runs: 0, failed_jobs: 0 },
  })
  expect(await database.sql`select failed_again::int from dlq.dlq_runs`).toEqual([{ failed_again: 1 }])
  expect(await database.sql`select from dlq.dlq_run_deltas`).toHaveLength(0)
})
