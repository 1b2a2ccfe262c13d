// What the retrier's tests share: its parts, put together as main.ts does, on a test database and broker.

import { dlqTopicsAmong } from 'dlq-core/queries/topics.ts'
import { defaultRetryPolicy, type RetryPolicy } from 'dlq-core/retry-policy.ts'
import type { Database } from 'dlq-core/runtime/database.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { noTracing } from 'dlq-core/runtime/tracing.ts'
import type { Kafka } from 'kafkajs'
import { Registry } from 'prom-client'
import { createBreaker } from './breaker.ts'
import { createCooldown } from './cooldown.ts'
import type { PassFaultPoint } from './fault-points.ts'
import { createDueTopics } from './plan-claim.ts'
import { createRetrierMetrics } from './retrier-metrics.ts'
import type { SlotDeps } from './run-slot.ts'
import type { SlotProducer } from './slot-producer.ts'
import { createTargetTopics } from './target-topics.ts'
import { createTopicOrder } from './topic-order.ts'
import { createTransactionalProducer } from './transactional-producer.ts'

export type TestRetrierOptions = {
  sql: Database
  kafka: Kafka
  /** Of the transactional ids: nobody else's. */
  prefix: string
  ledgerTopic?: string
  policies?: Record<string, Partial<RetryPolicy>>
  dlqPatterns?: readonly string[]
  batchSize?: number
}

const log = createLog({ service: 'retrier', level: 'silent' })

/** The dependencies of a slot; close `targets` at the end. */
export function testSlotDeps(options: TestRetrierOptions, more: Partial<SlotDeps> = {}): SlotDeps {
  const { sql, kafka, policies = {}, dlqPatterns = ['*.dlq.v1'], batchSize = 1000 } = options
  return {
    ...{ sql, log, batchSize },
    signal: new AbortController().signal,
    metrics: createRetrierMetrics(new Registry()),
    tracing: noTracing,
    breaker: createBreaker({ now: Date.now, random: () => 0, firstMs: 1, maxMs: 1 }),
    cooldown: createCooldown({ now: Date.now }),
    targets: createTargetTopics({ kafka, dlqPatterns, dlqTopicsAmong: (topics) => dlqTopicsAmong(sql, topics) }),
    dueTopics: createDueTopics(sql, { maxAgeMs: 0 }),
    topicOrder: createTopicOrder(sql),
    pauses: { ofTopic: () => [] },
    createProducer: (slot) => testProducer(options, slot),
    loadPolicies: async () => {},
    policyOf: ({ original_topic }) => ({ ...defaultRetryPolicy, ...policies[original_topic] }),
    retrierId: 'test',
    leaseMs: 60_000,
    pollMs: 100,
    maxBatchBytes: 100_000_000,
    batchMs: 60_000,
    now: () => new Date(),
    random: () => 0,
    ...more,
  }
}

export function testProducer(
  { kafka, prefix, ledgerTopic = 'dlq-manager.ledger' }: TestRetrierOptions,
  slot: number,
  passFaultPoint: PassFaultPoint = () => {},
): SlotProducer {
  const timeout = { transactionTimeoutMs: 30_000 }
  return createTransactionalProducer({ kafka, log, slot, prefix, ledgerTopic, passFaultPoint, ...timeout })
}
