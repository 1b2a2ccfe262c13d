// The loops of a retrier's publishing half: its slots, the sweep of slots that nobody owns, and the
// word to others that it lives.

import { forgetRetrier, noteRetrier, type Publishes } from 'dlq-core/queries/retriers.ts'
import type { Config } from 'dlq-core/runtime/config-schema.ts'
import type { Database } from 'dlq-core/runtime/database.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import type { PolicySource } from 'dlq-core/runtime/policy-source.ts'
import { createWake, runLoop } from 'dlq-core/runtime/run-loop.ts'
import type { Tracing } from 'dlq-core/runtime/tracing.ts'
import type { Kafka } from 'kafkajs'
import { createBreaker } from './breaker.ts'
import { createCooldown } from './cooldown.ts'
import type { PassFaultPoint } from './fault-points.ts'
import { createGroupPauses } from './group-pauses.ts'
import { groupUngrouped } from './group-ungrouped.ts'
import { createIdempotentProducer } from './idempotent-producer.ts'
import { listenForDue } from './listen-for-due.ts'
import { createDueTopics } from './plan-claim.ts'
import { pretendingProducer, pretendingTargets } from './pretending-producer.ts'
import type { RetrierMetrics } from './retrier-metrics.ts'
import { runSlot, type SlotDeps } from './run-slot.ts'
import { sweepExpiredLeases } from './sweep-expired-leases.ts'
import { sweepSlots } from './sweep-slots.ts'
import { createTargetTopics } from './target-topics.ts'
import { createTopicOrder } from './topic-order.ts'
import { createTransactionalProducer } from './transactional-producer.ts'

export type RetryForeverDeps = {
  sql: Database
  /** Null where none is configured. */
  kafka: Kafka | null
  policies: PolicySource
  metrics: RetrierMetrics
  tracing: Tracing
  log: Log
  signal: AbortSignal
  settings: Config['retry']
  dlqPatterns: readonly string[]
  dlqTopicsAmong: (topics: readonly string[]) => Promise<ReadonlySet<string>>
  /** Names this process in dlq_slots and dlq_retriers. */
  retrierId: string
  passFaultPoint: PassFaultPoint
}

const sweepIntervalMs = 2000
const leaseSweepIntervalMs = 5000
const groupIntervalMs = 5000
const noteIntervalMs = 2000
const reviewIntervalMs = 2000
const transactionTimeoutMs = 60_000

/** Retries what is due until the signal aborts. Without a Kafka it only says that it has none. */
export async function retryForever(deps: RetryForeverDeps): Promise<void> {
  const { sql, kafka, metrics, log, signal, settings, retrierId } = deps
  const publishes = howItPublishes(kafka, settings)
  const breaker = createBreaker({
    now: Date.now,
    random: Math.random,
    onChange: (reason) => {
      metrics.breakerOpen.set(reason === null ? 0 : 1)
      if (reason === null) log.info('kafka_back')
      else log.warn({ reason }, 'kafka_away')
    },
  })
  const note = async () => {
    await noteRetrier(sql, { id: retrierId, publishes, fault: breaker.fault() })
    return { more: false }
  }
  log.info({ retrierId, publishes }, 'retrier_started')
  try {
    await Promise.all([
      runLoop(note, { name: 'note', intervalMs: noteIntervalMs, signal, log }),
      runLoop(() => sweepExpiredLeases({ sql, log }), {
        name: 'sweep-leases',
        intervalMs: leaseSweepIntervalMs,
        signal,
        log,
      }),
      runLoop(() => groupUngrouped({ sql }), { name: 'group', intervalMs: groupIntervalMs, signal, log }),
      ...(publishes === 'nothing' ? [] : [runSlots(deps, { publishes, breaker })]),
    ])
  } finally {
    await forgetRetrier(sql, retrierId).catch((error) => log.debug({ error }, 'forget_retrier_failed'))
  }
}

function howItPublishes(kafka: Kafka | null, settings: Config['retry']): Publishes {
  if (kafka === null) return settings.without_kafka === 'resolve' ? 'resolve' : 'nothing'
  // Of the cluster as a whole: a slot either has a transactional id or not.
  return settings.delivery
}

type Publishing = { publishes: Publishes; breaker: SlotDeps['breaker'] }

async function runSlots(deps: RetryForeverDeps, { publishes, breaker }: Publishing): Promise<void> {
  const { sql, kafka, policies, metrics, log, signal, settings, dlqPatterns, dlqTopicsAmong } = deps
  const targets = kafka === null ? pretendingTargets : createTargetTopics({ kafka, dlqPatterns, dlqTopicsAmong })
  const dueTopics = createDueTopics(sql)
  const topicOrder = createTopicOrder(sql)
  const policyOf: SlotDeps['policyOf'] = ({ original_topic, dlq_topic }) =>
    policies.policyFor({ originalTopic: original_topic, dlqTopic: dlq_topic }).policy
  const pauses = createGroupPauses({ sql, log, policyOf, loadPolicies: policies.load })
  const slotDeps: SlotDeps = {
    ...{ sql, metrics, tracing: deps.tracing, log, signal, breaker, targets, dueTopics, topicOrder, policyOf, pauses },
    retrierId: deps.retrierId,
    createProducer: (slot) => createProducer(deps, { publishes, slot }),
    loadPolicies: policies.load,
    cooldown: createCooldown({ now: Date.now }),
    leaseMs: settings.lease,
    pollMs: settings.poll_interval,
    batchSize: settings.batch_size,
    batchMs: settings.batch_time,
    maxBatchBytes: settings.batch_bytes,
    now: () => new Date(),
    random: Math.random,
  }
  const wakes = Array.from({ length: settings.slots }, createWake)
  const wakeAll = () => {
    dueTopics.forget()
    for (const wake of wakes) wake.notify()
  }
  try {
    await Promise.all([
      ...wakes.map((wake, at) => runSlot(slotDeps, { name: `slot-${at + 1}`, wake })),
      runLoop(() => sweepSlots(slotDeps), { name: 'sweep-slots', intervalMs: sweepIntervalMs, signal, log }),
      runLoop(pauses.review, { name: 'review-groups', intervalMs: reviewIntervalMs, signal, log }),
      runLoop(topicOrder.pass, { name: 'order-topics', intervalMs: 200, signal, log }),
      listenForDue({ sql, wake: { notify: wakeAll }, signal, log }),
    ])
  } finally {
    await targets.close()
  }
}

function createProducer(deps: RetryForeverDeps, { publishes, slot }: { publishes: Publishes; slot: number }) {
  const { kafka, log, settings, passFaultPoint } = deps
  if (kafka === null) return pretendingProducer
  if (publishes === 'at-least-once') return createIdempotentProducer({ kafka, log, passFaultPoint })
  return createTransactionalProducer({
    ...{ kafka, log, slot, passFaultPoint, transactionTimeoutMs },
    prefix: settings.transactional_id_prefix,
    ledgerTopic: settings.ledger_topic,
  })
}
