// Shared by the retrier's tests: its parts, put together as in main.ts, on a test database and broker.

import { defaultRetryPolicy, type RetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { dlqTopicsAmong } from 'dlq-core/queries/ingest/topics.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { noTracing } from 'dlq-core/runtime/tracing.ts'
import type { Kafka } from 'kafkajs'
import { Registry } from 'prom-client'
import { createClaimTurns } from './claim/claim-turns.ts'
import { createDueTopics } from './claim/due-topics.ts'
import { createReaderLags } from './claim/reader-lags.ts'
import { createTopicOrder } from './claim/topic-order.ts'
import { createRetryCounts } from './groups/retry-counts.ts'
import { pretendingProducer, pretendingTargets } from './publish/pretending-producer.ts'
import type { NoteUnanswered, SlotProducer } from './publish/slot-producer.ts'
import { createTargetTopics } from './publish/target-topics.ts'
import { createTransactionalProducer } from './publish/transactional-producer.ts'
import { createRefusal } from './refusal.ts'
import { createRetrierMetrics } from './retrier-metrics.ts'
import { createBreaker } from './slot/breaker.ts'
import { createCooldown } from './slot/cooldown.ts'
import type { PassFaultPoint } from './slot/fault-points.ts'
import { createPendingSlots } from './slot/pending-slots.ts'
import { createSlotWorker, type SlotDeps } from './slot/run-slot.ts'
import { createTopicHolds } from './targets/topic-holds.ts'

export type TestRetrierOptions = {
  sql: Database
  kafka: Kafka
  /** A prefix for the transactional ids that no other test uses. */
  prefix: string
  ledgerTopic?: string
  policies?: Record<string, Partial<RetryPolicy>>
  clockAheadMs?: () => number
  dlqPatterns?: readonly string[]
  allowedTargets?: readonly string[]
  batchSize?: number
}

const log = createLog({ service: 'retrier', level: 'silent' })

/** The dependencies of a slot; close `targets` at the end. */
export function testSlotDeps(options: TestRetrierOptions, more: Partial<SlotDeps> = {}): SlotDeps {
  const { sql, kafka, policies = {}, dlqPatterns = ['*.dlq.v1'], allowedTargets = ['*'], batchSize = 1000 } = options
  return pretendingSlotDeps(sql, {
    batchSize,
    targets: createTargetTopics({
      kafka,
      dlqPatterns,
      allowedTargets,
      ledgerTopic: 'dlq-manager.ledger',
      dlqTopicsAmong: (topics) => dlqTopicsAmong(sql, topics),
    }),
    createProducer: (slot, noteUnanswered) => testProducer(options, slot, { noteUnanswered }),
    policyOf: ({ original_topic }) => ({ ...defaultRetryPolicy, ...policies[original_topic] }),
    ...more,
  })
}

/** The dependencies of a slot without Kafka: every record counts as published. Also for the tests of the API. */
export function pretendingSlotDeps(sql: Database, more: Partial<SlotDeps> = {}): SlotDeps {
  return {
    ...{ sql, log, batchSize: 1000 },
    signal: new AbortController().signal,
    metrics: createRetrierMetrics(new Registry()),
    tracing: noTracing,
    breaker: createBreaker({ now: Date.now, random: () => 0, firstMs: 1, maxMs: 1 }),
    refusal: createRefusal(),
    cooldown: createCooldown({ now: Date.now }),
    pendingSlots: createPendingSlots({ now: Date.now }),
    holds: createTopicHolds({ now: Date.now }),
    targets: pretendingTargets,
    dueTopics: createDueTopics(sql, { maxAgeMs: 0 }),
    turns: createClaimTurns(),
    topicOrder: createTopicOrder(sql),
    lags: createReaderLags(sql),
    reader: null,
    pauses: { ofTopic: () => [] },
    retryCounts: createRetryCounts(),
    createProducer: () => pretendingProducer,
    loadPolicies: async () => {},
    policyOf: () => defaultRetryPolicy,
    retrierId: 'test',
    leaseMs: 60_000,
    pollMs: 100,
    maxBatchBytes: 100_000_000,
    maxMessageBytes: 100_000_000,
    batchMs: 60_000,
    now: () => new Date(),
    random: () => 0,
    ...more,
  }
}

/** Retries all due messages with a new slot, and closes the `targets`. */
export async function retryAll(deps: SlotDeps): Promise<void> {
  const worker = createSlotWorker(deps)
  try {
    while ((await worker.pass()).more);
  } finally {
    await worker.close()
    await deps.targets.close()
  }
}

export function testProducer(
  { kafka, prefix, ledgerTopic = 'dlq-manager.ledger', clockAheadMs = () => 0 }: TestRetrierOptions,
  slot: number,
  {
    passFaultPoint = () => {},
    noteUnanswered = async () => {},
  }: { passFaultPoint?: PassFaultPoint; noteUnanswered?: NoteUnanswered } = {},
): SlotProducer {
  const timeout = { transactionTimeoutMs: 30_000 }
  return createTransactionalProducer({
    ...{ kafka, log, slot, prefix, ledgerTopic, passFaultPoint, noteUnanswered, clockAheadMs, ...timeout },
  })
}
