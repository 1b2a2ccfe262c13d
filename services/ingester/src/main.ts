// The ingester: takes dead letters out of every DLQ topic into PostgreSQL, each exactly once.

import { pingDatabase } from 'dlq-core/queries/ping.ts'
import { policyLayersOf } from 'dlq-core/runtime/config.ts'
import type { KafkaConfig } from 'dlq-core/runtime/config-schema.ts'
import { connectDatabase } from 'dlq-core/runtime/database.ts'
import { connectKafka } from 'dlq-core/runtime/kafka.ts'
import { registerCodecs } from 'dlq-core/runtime/kafka-codecs.ts'
import { listen, operationsRoutes } from 'dlq-core/runtime/operations-server.ts'
import { createPolicySource } from 'dlq-core/runtime/policy-source.ts'
import { createReadiness } from 'dlq-core/runtime/readiness.ts'
import { runService } from 'dlq-core/runtime/run-service.ts'
import { ingest } from './ingest.ts'
import { createIngesterMetrics } from './ingester-metrics.ts'

await runService(
  { name: 'ingester', needs: ['database', 'kafka'] },
  async ({ config, latest, login, stack, signal, log, registry, tracing }) => {
    registerCodecs()
    const kafkaConfig = config.kafka as KafkaConfig
    const kafka = connectKafka(kafkaConfig, log, () => latest().kafka)
    const sql = stack.adopt(
      connectDatabase(config.database, { applicationName: 'dlq-ingester', log, registry, login }),
      (sql) => sql.end({ timeout: 5 }),
    )
    const admin = stack.adopt(kafka.admin(), (admin) => admin.disconnect())
    const readiness = createReadiness({ database: () => pingDatabase(sql), kafka: () => admin.describeCluster() })

    const app = operationsRoutes({ registry, readiness })
    const server = stack.adopt(
      await listen(app, { host: config.server.host, port: config.server.port ?? 8081 }),
      (server) => server.close(),
    )
    log.info({ url: server.url }, 'listening')

    const policies = createPolicySource({ sql, log, configured: policyLayersOf(config) })
    await ingest({
      kafka,
      admin,
      sql,
      log,
      signal,
      metrics: createIngesterMetrics(registry),
      tracing,
      groupId: kafkaConfig.consumer_group,
      patterns: kafkaConfig.dlq_topic_pattern,
      refreshIntervalMs: kafkaConfig.topic_refresh_interval,
      policies,
      settings: {
        policyFor: (topics) => policies.policyFor(topics).policy,
        mappings: kafkaConfig.topics,
        dlqPatterns: kafkaConfig.dlq_topic_pattern,
      },
    })
  },
)
