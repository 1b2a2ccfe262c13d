// The loops of a retrier's publishing half: its slots, the sweep of abandoned slots, and the heartbeat that tells
// others how it publishes.

import { forgetRetrier, noteRetrier, type Publishes } from 'dlq-core/queries/retry/retriers.ts'
import { monotonicNow } from 'dlq-core/runtime/clock/monotonic-now.ts'
import type { Config } from 'dlq-core/runtime/config/config-schema.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import type { PolicySource } from 'dlq-core/runtime/policy-source.ts'
import { createWake, runLoop } from 'dlq-core/runtime/run-loop.ts'
import type { Tracing } from 'dlq-core/runtime/tracing.ts'
import type { Kafka } from 'kafkajs'
import { createClaimTurns } from './claim/claim-turns.ts'
import { createDueTopics } from './claim/due-topics.ts'
import { endTopicPauses } from './claim/end-topic-pauses.ts'
import { createReaderLags } from './claim/reader-lags.ts'
import { sweepExpiredLeases, sweepUnheld } from './claim/sweep-expired-leases.ts'
import { createTopicOrder } from './claim/topic-order.ts'
import { createGroupPauses } from './groups/group-pauses.ts'
import { groupUngrouped } from './groups/group-ungrouped.ts'
import { createRetryCounts } from './groups/retry-counts.ts'
import { listenForDue } from './listen-for-due.ts'
import { createIdempotentProducer } from './publish/idempotent-producer.ts'
import { pretendingProducer, pretendingTargets } from './publish/pretending-producer.ts'
import type { NoteUnanswered } from './publish/slot-producer.ts'
import { createTargetTopics } from './publish/target-topics.ts'
import { createTransactionalProducer } from './publish/transactional-producer.ts'
import type { Refusal } from './refusal.ts'
import type { RetrierMetrics } from './retrier-metrics.ts'
import { type Breaker, createBreaker } from './slot/breaker.ts'
import { createCooldown } from './slot/cooldown.ts'
import type { PassFaultPoint } from './slot/fault-points.ts'
import { createPendingSlots } from './slot/pending-slots.ts'
import { runSlot, type SlotDeps } from './slot/run-slot.ts'
import { sweepSlots } from './slot/sweep-slots.ts'
import type { LastLookDeps } from './staleness/last-look.ts'
import { createTopicHolds } from './targets/topic-holds.ts'

export type RetryForeverDeps = {
  sql: Database
  /** The connections for claims and settlements, few and kept, so that their plans are. */
  slotSql: Database
  /** Null where none is configured. */
  kafka: Kafka | null
  /** Reads original topics, for policies that hold what is not fresh. */
  reader: LastLookDeps['reader']
  policies: PolicySource
  metrics: RetrierMetrics
  breaker: Breaker
  refusal: Refusal
  /** Why nothing can be sent now, by one or the other. */
  fault: () => string | null
  tracing: Tracing
  log: Log
  signal: AbortSignal
  settings: Config['retry']
  /** A larger message is not sent. */
  maxMessageBytes: number
  dlqPatterns: readonly string[]
  /** Globs of the topics that messages may be sent to. */
  allowedTargets: readonly string[]
  dlqTopicsAmong: (topics: readonly string[]) => Promise<ReadonlySet<string>>
  /** Names this process in dlq_slots and dlq_retriers. */
  retrierId: string
  /** By the database's clock. */
  databaseNow: () => Date
  passFaultPoint: PassFaultPoint
}

const sweepIntervalMs = 2000
const leaseSweepIntervalMs = 5000
const unheldSweepIntervalMs = 30_000
const groupIntervalMs = 5000
const noteIntervalMs = 2000
const reviewIntervalMs = 2000
const transactionTimeoutMs = 60_000

/** Retries due messages until the signal aborts. Without Kafka it only tells others that it publishes nothing. */
export async function retryForever(deps: RetryForeverDeps): Promise<void> {
  const { sql, kafka, metrics, fault, log, signal, settings, retrierId } = deps
  const publishMode = publishModeOf(kafka, settings)
  const holds = createTopicHolds({
    now: monotonicNow,
    onChange: (topic, reason) => {
      if (reason === null) log.info({ topic }, 'topic_released')
      else log.warn({ topic, reason }, 'topic_held')
    },
  })
  const cooldown = createCooldown({ now: monotonicNow })
  const note = async () => {
    const held = [...holds.list(), ...cooldown.list()]
    metrics.heldTopics.set(held.length)
    await noteRetrier(sql, { id: retrierId, publishes: publishMode, fault: fault(), held })
    return { more: false }
  }
  log.info({ retrierId, publishes: publishMode }, 'retrier_started')
  try {
    await Promise.all([
      runLoop(note, { name: 'note', intervalMs: noteIntervalMs, signal, log }),
      runLoop(() => sweepExpiredLeases({ sql, log }), {
        name: 'sweep-leases',
        intervalMs: leaseSweepIntervalMs,
        signal,
        log,
      }),
      runLoop(() => sweepUnheld({ sql, log, metrics }), {
        name: 'sweep-unheld',
        intervalMs: unheldSweepIntervalMs,
        signal,
        log,
      }),
      runLoop(() => endTopicPauses({ sql, log }), { name: 'end-pauses', intervalMs: sweepIntervalMs, signal, log }),
      runLoop(() => groupUngrouped({ sql }), { name: 'group', intervalMs: groupIntervalMs, signal, log }),
      ...(publishMode === 'nothing' ? [] : [runSlots(deps, { publishMode, holds, cooldown })]),
    ])
  } finally {
    await forgetRetrier(sql, retrierId).catch((error) => log.debug({ error }, 'forget_retrier_failed'))
  }
}

/** Says once that Kafka is away, again where the reason is another, and once that it is back. */
export function createReportedBreaker({ metrics, log }: Pick<RetryForeverDeps, 'metrics' | 'log'>): Breaker {
  let faults = 0
  let said: string | null = null
  const onChange = (reason: string | null): void => {
    metrics.breakerOpen.set(reason === null ? 0 : 1)
    if (reason === null) log.info({ faults }, 'kafka_back')
    else log[reason === said ? 'debug' : 'warn']({ reason }, 'kafka_away')
    faults = reason === null ? 0 : faults + 1
    said = reason
  }
  return createBreaker({ now: monotonicNow, random: Math.random, onChange })
}

function publishModeOf(kafka: Kafka | null, settings: Config['retry']): Publishes {
  if (kafka === null) return settings.without_kafka === 'resolve' ? 'resolve' : 'nothing'
  // One mode for the whole cluster, because a slot either has a transactional id or not.
  return settings.delivery
}

type Publishing = { publishMode: Publishes } & Pick<SlotDeps, 'holds' | 'cooldown'>

async function runSlots(deps: RetryForeverDeps, { publishMode, holds, cooldown }: Publishing): Promise<void> {
  const { sql, slotSql, kafka, policies, metrics, breaker, log, signal, settings } = deps
  const { dlqPatterns, allowedTargets, dlqTopicsAmong } = deps
  const ledgerTopic = settings.ledger_topic
  const targets =
    kafka === null
      ? pretendingTargets
      : createTargetTopics({ kafka, dlqPatterns, allowedTargets, ledgerTopic, dlqTopicsAmong })
  const dueTopics = createDueTopics(sql)
  const turns = createClaimTurns()
  const topicOrder = createTopicOrder(sql)
  const lags = createReaderLags(sql)
  const { policyOf } = policies
  const retryCounts = createRetryCounts()
  const pauses = createGroupPauses({
    sql,
    log,
    policyOf,
    loadPolicies: policies.load,
    retryCounts,
    now: deps.databaseNow,
  })
  const slotDeps: SlotDeps = {
    ...{ sql, reader: deps.reader, metrics, tracing: deps.tracing, log, signal },
    ...{ breaker, refusal: deps.refusal, holds, cooldown },
    ...{ targets, dueTopics, turns, topicOrder, lags, policyOf, pauses, retryCounts },
    retrierId: deps.retrierId,
    createProducer: (slot, noteUnanswered) => createProducer(deps, { publishMode, slot, noteUnanswered }),
    loadPolicies: policies.load,
    pendingSlots: createPendingSlots({ now: monotonicNow }),
    leaseMs: settings.lease,
    pollMs: settings.poll_interval,
    batchSize: settings.batch_size,
    batchMs: settings.batch_time,
    maxBatchBytes: settings.batch_bytes,
    maxMessageBytes: deps.maxMessageBytes,
    now: deps.databaseNow,
    random: Math.random,
  }
  const wakes = Array.from({ length: settings.slots }, createWake)
  const wakeAll = () => {
    dueTopics.forget()
    for (const wake of wakes) wake.notify()
  }
  try {
    await Promise.all([
      ...wakes.map((wake, at) => runSlot({ ...slotDeps, sql: slotSql }, { name: `slot-${at + 1}`, wake })),
      runLoop(() => sweepSlots(slotDeps), { name: 'sweep-slots', intervalMs: sweepIntervalMs, signal, log }),
      runLoop(pauses.review, { name: 'review-groups', intervalMs: reviewIntervalMs, signal, log }),
      runLoop(topicOrder.pass, { name: 'order-topics', intervalMs: 200, signal, log }),
      listenForDue({ sql, wake: { notify: wakeAll }, signal, log }),
    ])
  } finally {
    await targets.close()
  }
}

type OfSlot = { publishMode: Publishes; slot: number; noteUnanswered: NoteUnanswered }

function createProducer(deps: RetryForeverDeps, { publishMode, slot, noteUnanswered }: OfSlot) {
  const { kafka, log, settings, passFaultPoint } = deps
  const clockAheadMs = () => Date.now() - deps.databaseNow().getTime()
  if (kafka === null) return pretendingProducer
  if (publishMode === 'at-least-once') return createIdempotentProducer({ kafka, log, passFaultPoint, clockAheadMs })
  return createTransactionalProducer({
    ...{ kafka, log, slot, passFaultPoint, noteUnanswered, transactionTimeoutMs, clockAheadMs },
    prefix: settings.transactional_id_prefix,
    ledgerTopic: settings.ledger_topic,
  })
}
