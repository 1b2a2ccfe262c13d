// The API: what operators and programs see and do. It reads and marks; it never talks to Kafka.

import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { pingDatabase } from 'dlq-core/queries/ping.ts'
import { policyLayersOf } from 'dlq-core/runtime/config.ts'
import { connectDatabase } from 'dlq-core/runtime/database.ts'
import { listen } from 'dlq-core/runtime/operations-server.ts'
import { createPolicySource } from 'dlq-core/runtime/policy-source.ts'
import { createReadiness } from 'dlq-core/runtime/readiness.ts'
import { runService } from 'dlq-core/runtime/run-service.ts'
import { createApp } from './app.ts'
import { createAuthenticate } from './authenticate.ts'
import { createBrokerTokens } from './broker-tokens.ts'
import { connectReplica } from './connect-replica.ts'
import { createWakeRetriers } from './wake-retriers.ts'

await runService(
  { name: 'api', needs: ['database', 'auth-beyond-loopback'] },
  async ({ config, login, stack, signal, log, registry, tracing }) => {
    const { request_timeout, drain_delay } = config.server
    // Nobody waits for a statement's answer longer than for the request's.
    const statement_timeout = Math.min(config.database.statement_timeout, request_timeout)
    const sql = stack.adopt(
      connectDatabase(
        { ...config.database, statement_timeout },
        { applicationName: 'dlq-api', log, registry, login, silenceMs: request_timeout + 5000, genericPlans: true },
      ),
      (sql) => sql.end({ timeout: 5 }),
    )
    const replica = connectReplica(config.database, { log, login, statement_timeout, request_timeout })
    if (replica) stack.defer(() => replica.end({ timeout: 5 }))
    const readiness = createReadiness({ database: () => pingDatabase(sql) })
    const policyLayers = policyLayersOf(config)
    const app = createApp({
      sql,
      replica,
      log,
      registry,
      tracing,
      readiness,
      policies: createPolicySource({ sql, log, configured: policyLayers }),
      policyLayers,
      wakeRetriers: createWakeRetriers(sql),
      dlqPatterns: config.kafka.dlq_topic_pattern,
      retryWaitMs: config.retry.wait,
      stopping: signal,
      version: config.app.version,
      authenticate: createAuthenticate(config.auth),
      brokerTokens: createBrokerTokens(config.auth),
      rateLimit: config.auth.rate_limit,
      requestTimeoutMs: request_timeout,
      slowRequestMs: config.server.slow_request,
      corsOrigins: config.server.cors_origins ?? [],
    })

    const server = stack.adopt(
      await listen(app, { host: config.server.host, port: config.server.port ?? 8080 }),
      (server) => server.close(),
    )
    log.info({ url: server.url }, 'listening')

    // It may have been asked to stop while it started.
    if (!signal.aborted) await once(signal, 'abort')
    readiness.drain()
    // Requests are still answered; what keeps sending them to us has time to see that it should not.
    await sleep(drain_delay)
  },
)
