// Tells people why a run does not go on, or goes on slowly.

import type { RunStatus } from 'dlq-core/domain/message/run.ts'
import type { RetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'

export type TopicOfRun = {
  readonly topic: string
  readonly policy: Pick<RetryPolicy, 'paused' | 'ratePerSecond' | 'maxInFlight' | 'ordering' | 'runEveryMs'>
  /** Who has paused it, and why; null where nobody has. */
  readonly paused: string | null
  /** Who is further behind than the run allows; null where nobody is. */
  readonly lagging: { readonly consumer_group: string; readonly lag: number } | null
  /** Why the retriers only probe it; null where they do not. */
  readonly refused: string | null
}

export type RunFacts = {
  readonly status: RunStatus
  readonly statusReason: string | null
  readonly activeRuns: number
  readonly ratePerSecond: number | null
  /** Whether retriers live, and none of them has Kafka. */
  readonly withoutKafka: boolean
  /** Whether no retrier was seen lately. */
  readonly withoutRetriers: boolean
  /** Why no retrier can publish; null where one can. */
  readonly kafkaFault: string | null
  readonly waiting: number
  /** Milliseconds for which the canary still has to be quiet; null where no canary is being watched. */
  readonly quietForMs: number | null
  /** Topics of messages that the run holds. */
  readonly topics: readonly TopicOfRun[]
}

/** Empty where nothing holds the run up. */
export function runHeldUpBy(facts: RunFacts): string[] {
  const { status, statusReason, activeRuns, ratePerSecond, waiting, quietForMs, topics } = facts
  if (status === 'completed' || status === 'cancelled' || status === 'failed') return []
  const reasons: string[] = []
  if (facts.withoutRetriers) reasons.push('no retrier is running')
  if (status === 'queued') reasons.push(`it is queued: ${activeRuns} other runs are active`)
  if (status === 'paused') reasons.push(`it is paused${statusReason === null ? '' : `: ${statusReason}`}`)
  if (status !== 'running') return reasons
  if (facts.withoutKafka && waiting > 0) reasons.push('no retrier has Kafka configured')
  if (facts.kafkaFault !== null && waiting > 0) reasons.push(`no retrier can publish: ${facts.kafkaFault}`)
  if (quietForMs !== null) reasons.push(canaryReason(waiting, quietForMs))
  if (waiting === 0) return reasons
  if (ratePerSecond !== null) reasons.push(`its rate: ${ratePerSecond} a second`)
  return [...reasons, ...topics.flatMap(topicReasons)]
}

function canaryReason(waiting: number, quietForMs: number): string {
  if (waiting > 0) return `its canary waits for the outcome of ${waiting} messages`
  if (quietForMs > 0) return `its canary has to be quiet for ${Math.ceil(quietForMs / 1000)} s more`
  return 'its canary waits until its messages were read, and stayed away'
}

function topicReasons({ topic, policy, paused, lagging, refused }: TopicOfRun): string[] {
  const reasons: string[] = []
  if (paused !== null) reasons.push(`topic ${topic} is paused ${paused}`)
  if (lagging !== null) reasons.push(`lag of ${lagging.consumer_group}: ${lagging.lag} records`)
  if (policy.paused) reasons.push(`the policy pauses topic ${topic}`)
  if (refused !== null) reasons.push(`records for ${topic} are refused, so it is only probed: ${refused}`)
  if (policy.ratePerSecond !== null) reasons.push(`the policy of topic ${topic}: ${policy.ratePerSecond} a second`)
  if (policy.maxInFlight !== null) reasons.push(`the policy of topic ${topic}: ${policy.maxInFlight} in flight at most`)
  if (policy.ordering === 'per-key') reasons.push(`topic ${topic} keeps the order of each key`)
  return reasons
}
