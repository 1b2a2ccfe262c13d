// The retrier: republishes due messages to the topic that they came from, and runs the scheduled jobs. No other service
// writes to Kafka.

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { maxKeyAndHeaderBytes } from 'dlq-core/domain/record/record.ts'
import { dlqTopicsAmong } from 'dlq-core/queries/ingest/topics.ts'
import { deliverTask } from 'dlq-core/queries/notifications/deliveries.ts'
import { pingForChanges } from 'dlq-core/queries/ping.ts'
import { countJobDeaths } from 'dlq-core/queries/upkeep/workers.ts'
import { createAside, patientBounds } from 'dlq-core/runtime/aside/aside.ts'
import { createDatabaseClock, measureClockMs } from 'dlq-core/runtime/clock/database-clock.ts'
import { monotonicNow } from 'dlq-core/runtime/clock/monotonic-now.ts'
import { policyLayersOf } from 'dlq-core/runtime/config/config.ts'
import type { Config, KafkaConfig } from 'dlq-core/runtime/config/config-schema.ts'
import { connectDatabase } from 'dlq-core/runtime/database/database.ts'
import { type BoundedReader, boundedReader } from 'dlq-core/runtime/fetching/bounded-reader.ts'
import { createDecodePools } from 'dlq-core/runtime/fetching/decode-budget.ts'
import { registerCodecs } from 'dlq-core/runtime/fetching/kafka-codecs.ts'
import { createGroupReader } from 'dlq-core/runtime/kafka/groups/group-reader.ts'
import { connectKafka } from 'dlq-core/runtime/kafka/kafka.ts'
import { createTopicReader, type TopicReader } from 'dlq-core/runtime/kafka/topic-reader.ts'
import { listen, operationsRoutes } from 'dlq-core/runtime/operations-server.ts'
import { createPolicySource, policyPollMs } from 'dlq-core/runtime/policy-source.ts'
import { createReadiness, faultFree } from 'dlq-core/runtime/readiness.ts'
import { runLoop } from 'dlq-core/runtime/run-loop.ts'
import { runService } from 'dlq-core/runtime/run-service.ts'
import { createSchemaFetcher, schemasPollMs } from 'dlq-core/runtime/schemas/fetch-schemas.ts'
import { createPayloadReader } from 'dlq-core/runtime/schemas/payload-reader.ts'
import { sagaTasks } from 'saga-core/saga-tasks.ts'
import { toCronItem } from './cron/cron-job.ts'
import { cronTasks } from './cron/cron-tasks.ts'
import { upkeepJobs } from './cron/upkeep-jobs.ts'
import { createClockMetrics, createClockWatch } from './cron/watch-clock.ts'
import { createUpkeepMetrics, createUpkeepWatch } from './cron/watch-upkeep.ts'
import { createDeliver } from './notifications/deliver.ts'
import { createHeartbeatCall, heartbeatMs } from './notifications/heartbeat.ts'
import { createNotificationMetrics } from './notifications/notification-metrics.ts'
import { createEventWatch } from './notifications/watch-events.ts'
import { type OriginDeps, originJob, originTasks } from './origins/origin-jobs.ts'
import { createReaderWatch } from './readers/reader-watch.ts'
import { createVerdictMetrics } from './readers/verdict-counter.ts'
import { createRefusal } from './refusal.ts'
import { createRetrierMetrics } from './retrier-metrics.ts'
import { createReportedBreaker, retryForever } from './retry-forever.ts'
import { recoverRuns, recoveryJob } from './runs/recover-runs.ts'
import { createRunMetrics, gaugeRuns } from './runs/run-metrics.ts'
import { createRunWorkflows } from './runs/run-workflows.ts'
import { connectSlots } from './slot/connect-slots.ts'
import { createFaultPoints } from './slot/fault-points.ts'
import { createStalenessScan } from './staleness/scan-staleness.ts'
import { createStalenessMetrics } from './staleness/staleness-metrics.ts'
import { connectJobs } from './worker/connect-jobs.ts'
import { runWorker } from './worker/run-worker.ts'
import { createWorkerMetrics } from './worker/worker-metrics.ts'

/** How often a retrier asks whether a look for events is due. */
const eventsPollMs = 2000
/** How often a retrier asks whether a look at the consumer groups is due. */
const readersPollMs = 1000
/** How often a retrier asks whether a look for newer records is due. */
const stalenessPollMs = 1000

await runService(
  { name: 'retrier', needs: ['database', 'kafka-if-set'], heapGrowth: 120 },
  async ({ config, latest, login, stack, signal, log, registry, tracing }) => {
    const sql = stack.adopt(
      connectDatabase(config.database, { applicationName: 'dlq-retrier', log, registry, login }),
      (sql) => sql.end({ timeout: 5 }),
    )
    const clock = createDatabaseClock(sql)
    const slotSql = stack.adopt(connectSlots(config, { log, login }), (sql) => sql.end({ timeout: 5 }))
    const jobSql = stack.adopt(connectJobs(config, { log, login }), (sql) => sql.end({ timeout: 5 }))
    const kafka = config.kafka.brokers ? connectKafka(config.kafka as KafkaConfig, log, () => latest().kafka) : null
    const admin = kafka && stack.adopt(kafka.admin(), (admin) => admin.disconnect())
    const metrics = createRetrierMetrics(registry)
    const breaker = createReportedBreaker({ metrics, log })
    const refusal = createRefusal()
    const fault = () => breaker.fault() ?? refusal.fault()
    const readiness = createReadiness({
      database: () => pingForChanges(sql),
      ...(admin && {
        kafka: () => admin.connect().then(() => admin.describeCluster()),
        publishing: faultFree(fault),
      }),
    })
    const policies = createPolicySource({ sql, log, configured: policyLayersOf(config) })
    const lookAtReaders =
      kafka &&
      admin &&
      createReaderWatch({
        ...{ admin, sql, log, policies, now: monotonicNow },
        reader: stack.adopt(createTopicReader(kafka), (reader) => reader.disconnect()),
        groups: stack.adopt(createGroupReader(kafka), (groups) => groups.disconnect()),
        metrics: createVerdictMetrics(registry),
        ownGroup: config.kafka.consumer_group,
        everyMs: config.verdicts.look_interval,
        horizonMs: config.verdicts.horizon === 'auto' ? null : config.verdicts.horizon,
        archiveRetentionMs: config.archive.retention,
      })
    // One for all that read original records, because its bounds are for the process.
    const originalReader =
      kafka &&
      originalReaderOf(
        stack.adopt(createTopicReader(kafka), (reader) => reader.disconnect()),
        config,
      )
    const scanStaleness =
      originalReader &&
      admin &&
      createStalenessScan({
        ...{ admin, sql, log, policies, signal, now: monotonicNow, reader: originalReader },
        metrics: createStalenessMetrics(registry),
        maxBytes: config.staleness.max_bytes,
        ratePerSecond: config.staleness.rate,
      })
    const app = operationsRoutes({ registry, readiness })
    const server = stack.adopt(await listen(app, { ...config.server, port: config.server.port ?? 8082 }), (server) =>
      server.close(),
    )
    log.info({ url: server.url }, 'listening')

    const retrierId = `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`
    const { schemas } = config
    const payloads = schemas ? createPayloadReader({ sql, schemas, now: Date.now }) : null
    const fetchSchemas = schemas && createSchemaFetcher({ sql, schemas, log, now: monotonicNow, env: process.env })
    const originals: OriginDeps | null = originalReader && {
      ...{ policies, payloads, log, now: clock.now, maxValueBytes: config.ingest.max_value_bytes },
      ...{ sql: jobSql, reader: originalReader },
    }
    const workflows = createRunWorkflows({
      ...{ sql: jobSql, aside: createAside(patientBounds) },
      maxActive: config.worker.max_active_runs,
      readTimeoutMs: config.verdicts.read_timeout,
      policyOf: policies.policyOf,
      payloads,
      originals,
      now: clock.now,
    })
    const jobs = [
      ...upkeepJobs({
        ...{
          sql: jobSql,
          log,
          policies,
          payloads,
          dlqPatterns: config.kafka.dlq_topic_pattern,
          databaseNow: clock.now,
        },
        schedules: config.cron,
        retentions: config.archive,
        now: Date.now,
      }),
      recoveryJob({ sql: jobSql, log, workflows, schedule: config.cron.sagas }),
      ...(originals ? [originJob({ ...originals, schedule: config.cron.origin })] : []),
    ]
    const watchUpkeep = createUpkeepWatch({
      ...{ sql, log, jobs },
      metrics: createUpkeepMetrics(registry),
      now: () => new Date(),
    })
    const watchClock = createClockWatch({
      ...{ sql, log, now: Date.now, leaseMs: config.retry.lease, lookMs: config.verdicts.look_interval },
      ahead: createClockMetrics(registry),
    })
    const runMetrics = createRunMetrics(registry)
    // A scheduled job does the same later. At start this loop repeats until the database has answered once.
    const startedSagas = async () => {
      await recoverRuns({ sql: jobSql, log, workflows })
      return { more: false }
    }
    const notificationMetrics = createNotificationMetrics(registry)
    const settings = () => latest().notifications
    const watchEvents = createEventWatch({ sql, settings, now: clock.now })
    const callHeartbeat = createHeartbeatCall({ settings, log, metrics: notificationMetrics })
    await Promise.all([
      runLoop(startedSagas, { name: 'recover-sagas', intervalMs: 86_400_000, signal, log }),
      runLoop(() => gaugeRuns({ sql, metrics: runMetrics }), { name: 'gauge-runs', intervalMs: 15_000, signal, log }),
      runLoop(watchUpkeep, { name: 'watch-upkeep', intervalMs: 30_000, signal, log }),
      runLoop(clock.measure, { name: 'database-clock', intervalMs: measureClockMs, signal, log }),
      runLoop(watchClock, { name: 'watch-clock', intervalMs: 30_000, signal, log }),
      runLoop(watchEvents, { name: 'events', intervalMs: eventsPollMs, signal, log }),
      runLoop(callHeartbeat, { name: 'heartbeat', intervalMs: heartbeatMs, signal, log }),
      runLoop(policies.refresh, { name: 'policies', intervalMs: policyPollMs, signal, log }),
      ...(fetchSchemas ? [runLoop(fetchSchemas, { name: 'schemas', intervalMs: schemasPollMs, signal, log })] : []),
      ...(lookAtReaders ? [runLoop(lookAtReaders, { name: 'readers', intervalMs: readersPollMs, signal, log })] : []),
      ...(scanStaleness
        ? [runLoop(scanStaleness, { name: 'staleness', intervalMs: stalenessPollMs, signal, log })]
        : []),
      retryForever({
        sql,
        slotSql,
        kafka,
        reader: originalReader,
        policies,
        metrics,
        breaker,
        refusal,
        fault,
        tracing,
        log,
        signal,
        settings: config.retry,
        maxMessageBytes: config.ingest.max_value_bytes + maxKeyAndHeaderBytes,
        dlqPatterns: config.kafka.dlq_topic_pattern,
        allowedTargets: config.kafka.allowed_targets,
        dlqTopicsAmong: (topics) => dlqTopicsAmong(sql, topics),
        retrierId,
        databaseNow: clock.now,
        passFaultPoint: createFaultPoints(process.env),
      }),
      runWorker({
        ...{ sql, log, signal, retrierId, login },
        database: config.database,
        settings: config.worker,
        tasks: {
          [deliverTask]: createDeliver({
            ...{ sql, log, source: config.app.name, now: clock.now, metrics: notificationMetrics },
            ...{ settings, consoleUrl: config.server.public_url?.replace(/\/$/, '') ?? null },
          }),
          ...(originals && originTasks(originals)),
          ...cronTasks(jobs, { sql: jobSql, log, retrierId }),
          ...sagaTasks({ sql: jobSql, workflows, countDeaths: (jobId) => countJobDeaths(sql, jobId) }),
        },
        cronItems: () => jobs.flatMap((job) => toCronItem(job, new Date()) ?? []),
        metrics: createWorkerMetrics(registry),
      }),
    ])
  },
)

/** Reads records in any compression, and within the same bounds as an ingester. */
function originalReaderOf(reader: TopicReader, { ingest }: Config): BoundedReader {
  const pools = createDecodePools({ maxValueBytes: ingest.max_value_bytes })
  registerCodecs({ maxBatchBytes: pools.fetches.maxBytes })
  return boundedReader(reader, pools.originals)
}
