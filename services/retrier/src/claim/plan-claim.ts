// Plans a slot's next claim: the topics with due messages, within the limits of their policies. This file reads
// and takes tokens; share-claims.ts decides.

import { laggingGroup } from 'dlq-core/domain/message/max-lag.ts'
import type { PolicyOf } from 'dlq-core/domain/retry/effective-policy.ts'
import { targetOf } from 'dlq-core/domain/retry/fill-target.ts'
import type { TopicShare } from 'dlq-core/queries/retry/batches.ts'
import { type Grant, takeTokens } from 'dlq-core/queries/retry/rate-limits.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { GroupPauses } from '../groups/group-pauses.ts'
import type { Cooldown } from '../slot/cooldown.ts'
import type { TopicHolds } from '../targets/topic-holds.ts'
import type { Claimable, DueTopics } from './due-topics.ts'
import type { ReaderLags } from './reader-lags.ts'
import { type ClaimMemory, limitShares, rememberTurns, shareClaims, tokenRequests } from './share-claims.ts'
import type { TopicOrder } from './topic-order.ts'

export type PlanDeps = {
  sql: Database
  dueTopics: DueTopics
  cooldown: Cooldown
  holds: Pick<TopicHolds, 'mostOf'>
  pauses: Pick<GroupPauses, 'ofTopic'>
  topicOrder: Pick<TopicOrder, 'isReady' | 'forget'>
  lags: ReaderLags
  policyOf: PolicyOf
}

export type ClaimPlan = { shares: TopicShare[]; grants: Grant[] }

/** The shares of the slot's next batch. Their tokens are taken already; the caller returns the unused ones. */
export async function planClaim(deps: PlanDeps, memory: ClaimMemory): Promise<ClaimPlan> {
  const due = await deps.dueTopics.current()
  const planned = due.map((topic) => toPlanned(deps, topic, memory))
  forgetOrders(deps, planned)
  const claimable = planned.filter((topic) => isClaimable(deps, topic))
  const topics = await withoutLagging(deps, claimable)
  const shares = shareClaims(topics, memory)
  rememberTurns(memory, { topics, shares })
  const grants = await takeTokens(deps.sql, tokenRequests(shares))
  return { grants, shares: limitShares(shares, { ...memory, grants, pausedGroupsOf: deps.pauses.ofTopic }) }
}

function toPlanned({ policyOf, holds }: PlanDeps, due: Claimable, { batchSize }: ClaimMemory) {
  const policy = policyOf(due)
  // One target for messages of several groups: what is said of a topic that they name is said of none.
  const target = targetOf({ target_topic: null, consumer_group: null, ...due }, policy)
  return { due, policy, target, most: holds.mostOf(target, batchSize) }
}

type Planned = ReturnType<typeof toPlanned>

/** Without the topics of runs that wait until those who read their targets have caught up. */
async function withoutLagging({ lags }: PlanDeps, planned: readonly Planned[]): Promise<Planned[]> {
  const bounded = planned.filter(({ due }) => typeof due.max_lag === 'number')
  if (bounded.length === 0) return [...planned]
  const known = await lags.of([...new Set(bounded.map(({ target }) => target))].sort())
  return planned.filter(
    ({ due: { max_lag: maxLag = null }, target }) =>
      maxLag === null || laggingGroup(known, { topic: target, maxLag }) === null,
  )
}

/** Of topics whose order nobody asks for any more. Another DLQ topic of the original topic, or of a run, may have another policy. */
function forgetOrders({ topicOrder }: PlanDeps, planned: readonly Planned[]): void {
  const isOrdered = ({ policy }: Planned) => policy.ordering === 'per-key'
  const ordered = new Set(planned.filter(isOrdered).map(({ due }) => due.original_topic))
  for (const { due } of planned) if (!ordered.has(due.original_topic)) topicOrder.forget(due.original_topic)
}

function isClaimable({ cooldown, topicOrder }: PlanDeps, { due, policy, target, most }: Planned): boolean {
  const { original_topic, target_topic } = due
  // Applications that pull claim their messages by SQL, unless somebody sends them elsewhere.
  if (policy.delivery === 'pull' && !target_topic) return false
  if (most === 0 || cooldown.has(target)) return false
  return policy.ordering !== 'per-key' || topicOrder.isReady(original_topic)
}
