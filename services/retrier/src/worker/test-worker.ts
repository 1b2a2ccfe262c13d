// A process that runs nothing but the host of graphile-worker, with jobs that write down when they ran: for
// tests that kill and freeze it. The tables `test_runs` and `test_released` are the test's.

import { setTimeout as sleep } from 'node:timers/promises'
import { connectDatabase } from 'dlq-core/runtime/database/database.ts'
import { runService } from 'dlq-core/runtime/run-service.ts'
import type { TaskList } from 'graphile-worker'
import { runWorker } from './run-worker.ts'
import { createWorkerMetrics } from './worker-metrics.ts'

await runService({ name: 'retrier', needs: ['database'] }, async ({ config, login, stack, signal, log, registry }) => {
  const sql = stack.adopt(connectDatabase(config.database, { applicationName: 'test-worker', log }), (sql) =>
    sql.end({ timeout: 5 }),
  )
  const tasks: TaskList = {
    /** Runs for `ms`, or until its key is released. Asked to stop it fails, to be run again. */
    async note(payload, { abortSignal, job }) {
      const { key, ms } = payload as { key: string; ms: number }
      const [run] = await sql`
        insert into test_runs (key, job, pid) values (${key}, ${job.id}, ${process.pid}) returning id`
      for (const end = Date.now() + ms; Date.now() < end; ) {
        const [released] = await sql`select from test_released where key = ${key}`
        if (released) break
        await sleep(Math.max(0, Math.min(50, end - Date.now())), undefined, { signal: abortSignal })
      }
      await sql`update test_runs set ended_at = clock_timestamp() where id = ${run!.id}`
    },
  }
  await runWorker({
    ...{ sql, log, signal, tasks, login },
    database: config.database,
    settings: config.worker,
    cronItems: () => [],
    retrierId: `test-${process.pid}`,
    metrics: createWorkerMetrics(registry),
  })
})
