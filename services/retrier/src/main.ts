// The retrier: republishes what is due to the topic it came from. The only part that writes to Kafka.

import { retryPolicyOf } from 'dlq-core/runtime/config.ts'
import type { KafkaConfig } from 'dlq-core/runtime/config-schema.ts'
import { connectDatabase } from 'dlq-core/runtime/database.ts'
import { connectKafka } from 'dlq-core/runtime/kafka.ts'
import { listen, operationsRoutes } from 'dlq-core/runtime/operations-server.ts'
import { createReadiness } from 'dlq-core/runtime/readiness.ts'
import { createWake, runLoop } from 'dlq-core/runtime/run-loop.ts'
import { runService } from 'dlq-core/runtime/run-service.ts'
import { listenForDue } from './listen-for-due.ts'
import { createPublisher } from './publisher.ts'
import { createRetrierMetrics } from './retrier-metrics.ts'
import { retryDue } from './retry-due.ts'
import { sweepExpiredLeases } from './sweep-expired-leases.ts'

const sweepIntervalMs = 5000

await runService({ name: 'retrier', needs: ['database', 'kafka'] }, async ({ config, stack, signal, log, registry }) => {
  const kafka = connectKafka(config.kafka as KafkaConfig, log)
  const sql = stack.adopt(connectDatabase(config.database, { applicationName: 'dlq-retrier', log }), (sql) => sql.end({ timeout: 5 }))
  const admin = stack.adopt(kafka.admin(), (admin) => admin.disconnect())
  const publisher = stack.adopt(createPublisher({ kafka, admin, log }), (publisher) => publisher.close())
  const metrics = createRetrierMetrics(registry)
  const readiness = createReadiness({ database: () => sql`select 1`, kafka: () => admin.describeCluster() })

  const app = operationsRoutes({ registry, readiness })
  const server = stack.adopt(await listen(app, { host: config.server.host, port: config.server.port ?? 8082 }), (server) => server.close())
  log.info({ url: server.url }, 'listening')

  const wake = createWake()
  const deps = {
    sql,
    publisher,
    metrics,
    log,
    policy: retryPolicyOf(config.retry),
    batchSize: config.retry.batch_size,
    leaseMs: config.retry.lease,
    now: () => new Date(),
    random: Math.random,
  }
  await Promise.all([
    runLoop(() => retryDue(deps), { name: 'retry', intervalMs: config.retry.poll_interval, signal, log, wake }),
    runLoop(() => sweepExpiredLeases(deps), { name: 'sweep', intervalMs: sweepIntervalMs, signal, log }),
    listenForDue({ sql, wake, signal, log }),
  ])
})
