// What a slot may claim next: which topics have something due, what their policies allow, and how the
// batch is shared among them. The due topics are looked up for all slots of the process together, and
// remembered for a moment, because looking costs more the more topics and partitions there are.

import type { TopicShare } from 'dlq-core/queries/batches.ts'
import { type DueTopic, listDueTopics } from 'dlq-core/queries/due-topics.ts'
import { type Grant, type TokenRequest, takeTokens } from 'dlq-core/queries/rate-limits.ts'
import { claimCeiling, type RetryPolicy, sharedLimitsOf } from 'dlq-core/retry-policy.ts'
import type { Database } from 'dlq-core/runtime/database.ts'
import type { Cooldown } from './cooldown.ts'
import type { GroupPauses } from './group-pauses.ts'
import { type Sharer, shareBatch } from './share-batch.ts'
import type { TopicOrder } from './topic-order.ts'

export type DueTopics = {
  current(): Promise<readonly DueTopic[]>
  /** The next call looks anew. */
  forget(): void
}

/** The topics are looked up no oftener than this many times the time that it takes, so that it stays a small part of the work. */
const restFactor = 5
const longestRestMs = 2000

/** Due topics as they were at most `maxAgeMs` ago; longer where there are so many that looking takes long. */
export function createDueTopics(sql: Database, { maxAgeMs = 150, now = Date.now } = {}): DueTopics {
  let known: { topics: readonly DueTopic[]; until: number } | null = null
  let looking: Promise<readonly DueTopic[]> | null = null

  async function look(): Promise<readonly DueTopic[]> {
    const at = now()
    const topics = await listDueTopics(sql)
    const restMs = Math.max(maxAgeMs, Math.min((now() - at) * restFactor, longestRestMs))
    known = { topics, until: maxAgeMs === 0 ? 0 : at + restMs }
    return topics
  }

  return {
    async current() {
      if (known !== null && now() < known.until) return known.topics
      looking ??= look().finally(() => {
        looking = null
      })
      return looking
    },
    forget() {
      known = null
    },
  }
}

export type PlanDeps = {
  sql: Database
  dueTopics: DueTopics
  cooldown: Cooldown
  pauses: Pick<GroupPauses, 'ofTopic'>
  topicOrder: Pick<TopicOrder, 'isReady' | 'forget'>
  policyOf: (message: { original_topic: string; dlq_topic: string | null }) => RetryPolicy
}

export type ClaimPlan = { shares: TopicShare[]; grants: Grant[] }

/** What one slot remembers from batch to batch. */
export type PlanMemory = {
  turn: number
  /** Messages that the next batch may have. */
  batchSize: number
  /** Topic → what it is expected to fill; topics that filled their share have no entry. */
  appetite: Map<string, number>
}

/** The shares of the slot's next batch; tokens for them are taken already, and have to be returned where not used. */
export async function planClaim(
  { sql, dueTopics, cooldown, pauses, topicOrder, policyOf }: PlanDeps,
  memory: PlanMemory,
): Promise<ClaimPlan> {
  const { batchSize } = memory
  const policies = new Map<string, RetryPolicy>()
  const sharers: Sharer[] = []
  for (const due of await dueTopics.current()) {
    const policy = policyOf(due)
    if (policy.delivery === 'pull') continue
    if (cooldown.has(policy.redirectTopic ?? due.original_topic)) continue
    if (policy.ordering !== 'per-key') topicOrder.forget(due.original_topic)
    else if (!topicOrder.isReady(due.original_topic)) continue
    policies.set(due.original_topic, policy)
    const appetite = memory.appetite.get(due.original_topic) ?? batchSize
    // What is in flight is counted in the claim itself, where no other slot can add to it.
    const most = Math.min(claimCeiling(policy, { inFlight: 0 }), appetite)
    sharers.push({ topic: due.original_topic, weight: policy.weight, most })
  }
  memory.turn += 1
  const shares = shareBatch(sharers, { limit: batchSize, start: memory.turn })
  const grants = await takeTokens(sql, tokenRequests(shares, policies))
  const granted = new Map(grants.map((grant) => [grant.topic, grant.granted]))
  return {
    grants,
    shares: [...shares].flatMap(([topic, share]) => {
      const quota = granted.get(topic) ?? share
      const { maxInFlight, ordering } = policies.get(topic)!
      return quota === 0
        ? []
        : [{ topic, quota, maxInFlight, ordered: ordering === 'per-key', pausedGroups: pauses.ofTopic(topic) }]
    }),
  }
}

function tokenRequests(
  shares: ReadonlyMap<string, number>,
  policies: ReadonlyMap<string, RetryPolicy>,
): TokenRequest[] {
  return [...shares].flatMap(([topic, wanted]) => {
    const limits = sharedLimitsOf(policies.get(topic)!)
    return limits === null ? [] : [{ ...limits, topic, wanted }]
  })
}

/** A topic that had little to give is expected to have little again, and leaves its share to the others. */
export function rememberAppetite(
  memory: PlanMemory,
  { shares, claimed }: { shares: readonly TopicShare[]; claimed: ReadonlyMap<string, number> },
): void {
  for (const { topic, quota } of shares) {
    const taken = claimed.get(topic) ?? 0
    if (taken >= quota) memory.appetite.delete(topic)
    else memory.appetite.set(topic, Math.max(leastAppetite, taken * 2))
  }
  // A plain bound: what is forgotten is learnt again.
  if (memory.appetite.size > maxRemembered) memory.appetite.clear()
}

const leastAppetite = 4
const maxRemembered = 10_000

/** The tokens that were taken and not used. */
export function unusedTokens(grants: readonly Grant[], claimed: ReadonlyMap<string, number>): Grant[] {
  return grants.flatMap((grant) => {
    const unused = grant.granted - (claimed.get(grant.topic) ?? 0)
    return unused > 0 ? [{ ...grant, granted: unused }] : []
  })
}

/** The tokens of so many messages, where their topic takes any. */
export function tokensOf(grants: readonly Grant[], messages: ReadonlyMap<string, number>): Grant[] {
  return grants.flatMap((grant) => {
    const count = messages.get(grant.topic) ?? 0
    return count > 0 ? [{ ...grant, granted: count }] : []
  })
}
