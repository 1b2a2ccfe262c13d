// The ingester: takes dead letters out of every DLQ topic into PostgreSQL, each exactly once.

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { pingForChanges } from 'dlq-core/queries/ping.ts'
import { monotonicNow } from 'dlq-core/runtime/clock/monotonic-now.ts'
import { policyLayersOf } from 'dlq-core/runtime/config/config.ts'
import type { KafkaConfig } from 'dlq-core/runtime/config/config-schema.ts'
import { connectDatabase } from 'dlq-core/runtime/database/database.ts'
import { boundedReader } from 'dlq-core/runtime/fetching/bounded-reader.ts'
import { createDecodePools } from 'dlq-core/runtime/fetching/decode-budget.ts'
import { registerCodecs } from 'dlq-core/runtime/fetching/kafka-codecs.ts'
import { connectKafka } from 'dlq-core/runtime/kafka/kafka.ts'
import { readMessagesLate } from 'dlq-core/runtime/kafka/kafkajs-internals.ts'
import { createTopicReader } from 'dlq-core/runtime/kafka/topic-reader.ts'
import { listen, operationsRoutes } from 'dlq-core/runtime/operations-server.ts'
import { createPolicySource } from 'dlq-core/runtime/policy-source.ts'
import { createReadiness, faultFree } from 'dlq-core/runtime/readiness.ts'
import { runLoop } from 'dlq-core/runtime/run-loop.ts'
import { runService } from 'dlq-core/runtime/run-service.ts'
import { createSchemaFetcher, schemasPollMs } from 'dlq-core/runtime/schemas/fetch-schemas.ts'
import { createPayloadReader } from 'dlq-core/runtime/schemas/payload-reader.ts'
import { ingest } from './ingest.ts'
import { createIngesterMetrics } from './ingester-metrics.ts'
import { createIngesterState } from './watch/ingester-state.ts'

await runService(
  { name: 'ingester', needs: ['database', 'kafka'], heapGrowth: 45 },
  async ({ config, latest, login, stack, signal, log, registry, tracing }) => {
    const { max_value_bytes: maxValueBytes } = config.ingest
    const pools = createDecodePools({ maxValueBytes })
    registerCodecs({ maxBatchBytes: pools.fetches.maxBytes })
    readMessagesLate()
    const kafkaConfig = config.kafka as KafkaConfig
    const kafka = connectKafka(kafkaConfig, log, () => latest().kafka)
    const sql = stack.adopt(
      connectDatabase(config.database, { applicationName: 'dlq-ingester', log, registry, login, genericPlans: true }),
      (sql) => sql.end({ timeout: 5 }),
    )
    const admin = stack.adopt(kafka.admin(), (admin) => admin.disconnect())
    const reader = boundedReader(
      stack.adopt(createTopicReader(kafka), (reader) => reader.disconnect()),
      pools.originals,
    )
    const state = createIngesterState()
    const readiness = createReadiness({
      database: () => pingForChanges(sql),
      kafka: () => admin.describeCluster(),
      ingestion: faultFree(() => state.now().fault),
    })

    const app = operationsRoutes({ registry, readiness })
    const server = stack.adopt(await listen(app, { ...config.server, port: config.server.port ?? 8081 }), (server) =>
      server.close(),
    )
    log.info({ url: server.url }, 'listening')

    const policies = createPolicySource({ sql, log, configured: policyLayersOf(config) })
    const { schemas } = config
    if (schemas) {
      const fetchSchemas = createSchemaFetcher({ sql, schemas, log, now: monotonicNow, env: process.env })
      void runLoop(fetchSchemas, { name: 'schemas', intervalMs: schemasPollMs, signal, log })
    }

    await ingest({
      ingesterId: `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`,
      kafka,
      admin,
      reader,
      sql,
      log,
      signal,
      metrics: createIngesterMetrics(registry),
      state,
      pool: pools.fetches,
      maxValueBytes,
      tracing,
      groupId: kafkaConfig.consumer_group,
      patterns: kafkaConfig.dlq_topic_pattern,
      ledgerTopic: config.retry.ledger_topic,
      refreshIntervalMs: kafkaConfig.topic_refresh_interval,
      policies,
      settings: {
        policyOf: policies.policyOf,
        mappings: kafkaConfig.topics,
        dlqPatterns: kafkaConfig.dlq_topic_pattern,
      },
      routeMode: kafkaConfig.routes,
      payloads: schemas ? createPayloadReader({ sql, schemas, now: Date.now }) : null,
    })
  },
)
