// What the retrier counts.

import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

export type RetrierMetrics = ReturnType<typeof createRetrierMetrics>

export function createRetrierMetrics(registry: Registry) {
  const registers = [registry]
  return {
    attempts: new Counter({
      name: 'dlq_retry_attempts_total',
      help: 'Messages that were claimed, by what became of them: published, refused by Kafka, released because Kafka was away.',
      labelNames: ['outcome'],
      registers,
    }),
    publishSeconds: new Histogram({
      name: 'dlq_retry_publish_seconds',
      help: 'Time to publish one batch.',
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    }),
    recovered: new Counter({
      name: 'dlq_retry_recovered_total',
      help: 'Messages whose retrier had not settled them, by what the ledger said: published, unpublished, unknown (sent again under the same attempt id).',
      labelNames: ['verdict'],
      registers,
    }),
    breakerOpen: new Gauge({
      name: 'dlq_retry_breaker_open',
      help: '1 while this retrier sends nothing because Kafka failed, except for probes; else 0.',
      registers,
    }),
    forgotten: new Counter({
      name: 'dlq_retry_forgotten_batches_total',
      help: 'Batches that Kafka has and the database does not know of, because it was restored from a backup: their messages may be sent again, under the same attempt id.',
      registers,
    }),
    inFlight: new Gauge({
      name: 'dlq_retry_in_flight',
      help: 'Messages that this retrier has claimed and not yet settled.',
      registers,
    }),
  }
}
