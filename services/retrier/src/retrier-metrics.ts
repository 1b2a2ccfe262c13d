// The metrics of the retrier's publishing half.

import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { countFromZero } from './count-from-zero.ts'

export type RetrierMetrics = ReturnType<typeof createRetrierMetrics>

export function createRetrierMetrics(registry: Registry) {
  const registers = [registry]
  return {
    attempts: countFromZero(
      new Counter({
        name: 'dlq_retry_attempts_total',
        help: 'Claimed messages by outcome: published, refused by Kafka, released because Kafka did not answer, held because they are not known to be fresh.',
        labelNames: ['outcome'],
        registers,
      }),
      'outcome',
      ['published', 'refused', 'released', 'held'],
    ),
    publishSeconds: new Histogram({
      name: 'dlq_retry_publish_seconds',
      help: 'Time to publish one batch.',
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers,
    }),
    recovered: countFromZero(
      new Counter({
        name: 'dlq_retry_recovered_total',
        help: 'Recovered messages by verdict: published, unpublished, unknown (sent again under the same attempt id).',
        labelNames: ['verdict'],
        registers,
      }),
      'verdict',
      ['published', 'unpublished', 'unknown'],
    ),
    breakerOpen: new Gauge({
      name: 'dlq_retry_breaker_open',
      help: '1 while the breaker is open: Kafka fails, and this retrier sends only probes. Otherwise 0.',
      registers,
    }),
    forgotten: new Counter({
      name: 'dlq_retry_forgotten_batches_total',
      help: 'Batches that only Kafka knows, because the database was restored from a backup. Their messages may be sent again, under the same attempt id.',
      registers,
    }),
    heldTopics: new Gauge({
      name: 'dlq_retry_held_topics',
      help: 'Topics that this retrier only probes, because their records were refused in a row, or Kafka cannot take them now.',
      registers,
    }),
    unheld: countFromZero(
      new Counter({
        name: 'dlq_retry_unheld_total',
        help: 'RETRYING messages that nobody held, by what they became: PENDING, or DEAD where the budget was spent.',
        labelNames: ['status'],
        registers,
      }),
      'status',
      ['PENDING', 'DEAD'],
    ),
    inFlight: new Gauge({
      name: 'dlq_retry_in_flight',
      help: 'Messages that this retrier has claimed and not yet settled.',
      registers,
    }),
  }
}
