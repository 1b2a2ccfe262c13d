// The metrics of the ingester.

import { createLabelBound, others, weightiest } from 'dlq-core/runtime/bounded-labels.ts'
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { Batch, StoreOutcome } from './store/store-batch.ts'

export type IngesterMetrics = ReturnType<typeof createIngesterMetrics>

export function createIngesterMetrics(registry: Registry) {
  const registers = [registry]
  const labelOf = createLabelBound()
  const records = new Counter({
    name: 'dlq_ingest_records_total',
    help: 'Records read from DLQ topics, by outcome: stored, reopened (a retry failed again), dropped (read before), reduced (stored in part, and counted as stored too).',
    labelNames: ['topic', 'outcome'],
    registers,
  })
  const bytes = new Counter({
    name: 'dlq_ingest_bytes_total',
    help: 'Bytes of keys and values read from DLQ topics.',
    labelNames: ['topic'],
    registers,
  })
  const rebalances = new Counter({
    name: 'dlq_ingest_rebalances_total',
    help: 'How often this ingester was given its partitions.',
    registers,
  })
  const crashes = new Counter({
    name: 'dlq_ingest_consumer_crashes_total',
    help: 'How often a fault ended the consumer; the ingester then starts it again.',
    registers,
  })
  const topics = new Gauge({
    name: 'dlq_ingest_topics',
    help: 'DLQ topics that this ingester subscribes to.',
    registers,
  })
  const seconds = new Histogram({
    name: 'dlq_ingest_batch_seconds',
    help: 'Time to store one batch of one partition.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers,
  })
  const recreated = new Counter({
    name: 'dlq_ingest_topics_recreated_total',
    help: 'Partitions that were started over because their topic was deleted and created again.',
    labelNames: ['topic'],
    registers,
  })
  const cut = new Counter({
    name: 'dlq_ingest_logs_cut_total',
    help: 'Partitions whose log Kafka has cut below what was stored: an election has lost records.',
    labelNames: ['topic'],
    registers,
  })
  const lag = new Gauge({
    name: 'dlq_ingest_lag_records',
    help: 'The lag of a DLQ topic at the last look: offsets that Kafka holds and that are not stored. Every ingester shows the same: take the maximum, not the sum.',
    labelNames: ['topic'],
    registers,
  })
  const lost = new Counter({
    name: 'dlq_ingest_records_lost_total',
    help: 'Offsets of a DLQ topic that retention deleted before they were stored.',
    labelNames: ['topic'],
    registers,
  })
  return {
    topics,
    /** Given its partitions. What an alert watches begins at 0: to increase(), a counter's first value is no increase. */
    assigned(topicNames: readonly string[]) {
      rebalances.inc()
      for (const topic of topicNames.map(labelOf)) {
        lost.inc({ topic }, 0)
        records.inc({ topic, outcome: 'reduced' }, 0)
      }
    },
    crashes,
    lost: (topic: string, records: number) => lost.inc({ topic: labelOf(topic) }, records),
    /** Sets the lag of every topic in the list, and removes the metrics of other topics. */
    lag(lags: readonly { topic: string; lag: bigint }[]) {
      lag.reset()
      for (const [{ topic, lag: records }, isNamed] of weightiest(lags, (line) => Number(line.lag)))
        lag.inc({ topic: isNamed ? topic : others }, Number(records))
    },
    recreated: (topic: string) => recreated.inc({ topic: labelOf(topic) }),
    cut: (topic: string) => cut.inc({ topic: labelOf(topic) }),
    seconds,
    stored(
      { topic: name }: Pick<Batch, 'topic'>,
      { stored, reopened, dropped, reduced, bytes: read }: StoreOutcome & { kind: 'stored' },
    ) {
      const topic = labelOf(name)
      bytes.inc({ topic }, read)
      for (const [outcome, count] of Object.entries({ stored, reopened, dropped, reduced })) {
        if (count > 0) records.inc({ topic, outcome }, count)
      }
    },
  }
}
