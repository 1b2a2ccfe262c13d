// What a slot may claim next: which topics have something due, what their policies allow, and how the
// batch is shared among them. The due topics are looked up for all slots of the process together, and
// remembered for a moment, because looking costs more the more topics and partitions there are.
//
// What is due by itself, and what somebody asked for one by one, goes before what runs hold: a run of a million
// messages gets what is left of a batch, but always some.

import type { ClaimedMessage, TopicShare } from 'dlq-core/queries/batches.ts'
import { type DueTopic, listDueTopics } from 'dlq-core/queries/due-topics.ts'
import { type Grant, type TokenRequest, takeTokens } from 'dlq-core/queries/rate-limits.ts'
import { listRunTopics, type RunTopic } from 'dlq-core/queries/run-messages.ts'
import { burstOf, claimCeiling, type RetryPolicy, sharedLimitsOf } from 'dlq-core/retry-policy.ts'
import type { Database } from 'dlq-core/runtime/database.ts'
import type { Cooldown } from './cooldown.ts'
import type { GroupPauses } from './group-pauses.ts'
import { type Sharer, shareBatch } from './share-batch.ts'
import type { TopicOrder } from './topic-order.ts'

/** A topic with messages to claim: those due by themselves, or those that a run holds. */
export type Claimable = Pick<DueTopic, 'original_topic' | 'dlq_topic'> &
  Partial<Pick<RunTopic, 'run' | 'target_topic' | 'rate_per_second'>>

export type DueTopics = {
  current(): Promise<readonly Claimable[]>
  /** The next call looks anew. */
  forget(): void
}

/** The topics are looked up no oftener than this many times the time that it takes, so that it stays a small part of the work. */
const restFactor = 5
const longestRestMs = 2000

/** Due topics as they were at most `maxAgeMs` ago; longer where there are so many that looking takes long. */
export function createDueTopics(sql: Database, { maxAgeMs = 150, now = Date.now } = {}): DueTopics {
  let known: { topics: readonly Claimable[]; until: number } | null = null
  let looking: Promise<readonly Claimable[]> | null = null

  async function look(): Promise<readonly Claimable[]> {
    const at = now()
    const [due, ofRuns] = await Promise.all([listDueTopics(sql), listRunTopics(sql)])
    const topics = [...due, ...ofRuns]
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
  /** Topic, or topic of a run → what it is expected to fill; what filled its share has no entry. */
  appetite: Map<string, number>
}

/** A run gets at least this part of a batch, however much is due besides. */
const runsShare = 0.2

type Planned = { due: Claimable; policy: RetryPolicy }

/** The shares of the slot's next batch; tokens for them are taken already, and have to be returned where not used. */
export async function planClaim(deps: PlanDeps, memory: PlanMemory): Promise<ClaimPlan> {
  const planned = new Map<string, Planned>()
  for (const due of await deps.dueTopics.current()) {
    const policy = deps.policyOf(due)
    // Those who handle them by themselves claim them by SQL, unless somebody sends them elsewhere.
    if (policy.delivery === 'pull' && !due.target_topic) continue
    if (deps.cooldown.has(due.target_topic ?? policy.redirectTopic ?? due.original_topic)) continue
    if (policy.ordering !== 'per-key') deps.topicOrder.forget(due.original_topic)
    else if (!deps.topicOrder.isReady(due.original_topic)) continue
    planned.set(shareKey(due.original_topic, due.run), { due, policy })
  }
  const shares = shareAmong(memory, planned)
  const grants = await takeTokens(deps.sql, tokenRequests(shares, planned))
  // What the bucket of a topic, or of a run, still has for the shares that come after.
  const left = new Map(grants.map((grant) => [grant.topic, grant.granted]))
  const capped = new Set<string>()
  return {
    grants,
    shares: [...shares].flatMap(([key, share]) => {
      const { due, policy } = planned.get(key)!
      const buckets = bucketsOf(due).filter((bucket) => left.has(bucket))
      const quota = Math.min(share, ...buckets.map((bucket) => left.get(bucket)!))
      const { original_topic: topic, run } = due
      const { maxInFlight, ordering } = policy
      // What is in flight is counted once per claim, so only one share of such a topic may add to it.
      if (quota === 0 || capped.has(topic)) return []
      if (maxInFlight !== null) capped.add(topic)
      for (const bucket of buckets) left.set(bucket, left.get(bucket)! - quota)
      const pausedGroups = run ? [] : deps.pauses.ofTopic(topic)
      return [{ topic, ...(run && { run }), quota, maxInFlight, ordered: ordering === 'per-key', pausedGroups }]
    }),
  }
}

/** Single messages first. */
function shareAmong(memory: PlanMemory, planned: ReadonlyMap<string, Planned>): Map<string, number> {
  const { batchSize } = memory
  memory.turn += 1
  const sharersOf = (ofRuns: boolean): Sharer[] =>
    [...planned]
      .filter(([, { due }]) => (due.run !== undefined) === ofRuns)
      .map(([key, { policy }]) => {
        const appetite = memory.appetite.get(key) ?? batchSize
        // What is in flight is counted in the claim itself, where no other slot can add to it.
        return { topic: key, weight: policy.weight, most: Math.min(claimCeiling(policy, { inFlight: 0 }), appetite) }
      })
  const runs = sharersOf(true)
  const reserved = runs.length === 0 ? 0 : Math.ceil(batchSize * runsShare)
  const singles = shareBatch(sharersOf(false), { limit: batchSize - reserved, start: memory.turn })
  const used = [...singles.values()].reduce((sum, share) => sum + share, 0)
  return new Map([...singles, ...shareBatch(runs, { limit: batchSize - used, start: memory.turn })])
}

/** Names a share among others. */
export function shareKey(topic: string, run: string | null | undefined): string {
  return run ? `${runBucket(run)} ${topic}` : topic
}

/** No topic has such a name. */
function runBucket(run: string): string {
  return `run:${run}`
}

function bucketsOf({ original_topic, run }: Pick<Claimable, 'original_topic' | 'run'>): string[] {
  return run ? [original_topic, runBucket(run)] : [original_topic]
}

/** One request for each topic that has limits, and for each run that has a rate. */
function tokenRequests(shares: ReadonlyMap<string, number>, planned: ReadonlyMap<string, Planned>): TokenRequest[] {
  const requests = new Map<string, TokenRequest>()
  const ask = (topic: string, wanted: number, limits: Omit<TokenRequest, 'topic' | 'wanted'> | null) => {
    if (limits !== null) requests.set(topic, { ...limits, topic, wanted: wanted + (requests.get(topic)?.wanted ?? 0) })
  }
  for (const [key, share] of shares) {
    const { due, policy } = planned.get(key)!
    ask(due.original_topic, share, sharedLimitsOf(policy))
    const rate = due.rate_per_second ?? null
    const limits = {
      ratePerSecond: rate,
      burst: rate === null ? null : burstOf(rate),
      runEveryMs: null,
      runLimit: null,
    }
    if (due.run && rate !== null) ask(runBucket(due.run), share, limits)
  }
  return [...requests.values()]
}

/** How many of the messages are of each share, and how many draw on each bucket. */
export function countClaimed(
  messages: readonly Pick<ClaimedMessage, 'original_topic' | 'run_id'>[],
): Map<string, number> {
  const counts = new Map<string, number>()
  const add = (key: string) => counts.set(key, (counts.get(key) ?? 0) + 1)
  for (const { original_topic, run_id } of messages) {
    add(`share ${shareKey(original_topic, run_id)}`)
    for (const bucket of bucketsOf({ original_topic, ...(run_id && { run: run_id }) })) add(bucket)
  }
  return counts
}

/** A topic that had little to give is expected to have little again, and leaves its share to the others. */
export function rememberAppetite(
  memory: PlanMemory,
  { shares, claimed }: { shares: readonly TopicShare[]; claimed: ReadonlyMap<string, number> },
): void {
  for (const { topic, run, quota } of shares) {
    const key = shareKey(topic, run)
    const taken = claimed.get(`share ${key}`) ?? 0
    if (taken >= quota) memory.appetite.delete(key)
    else memory.appetite.set(key, Math.max(leastAppetite, taken * 2))
  }
  // A plain bound: what is forgotten is learnt again.
  if (memory.appetite.size > maxRemembered) memory.appetite.clear()
}

const leastAppetite = 4
const maxRemembered = 10_000

/** Whether every share draws on a bucket, so that asking again at once would not get more. */
export function areAllLimited(shares: readonly TopicShare[], grants: readonly Grant[]): boolean {
  const limited = new Set(grants.map(({ topic }) => topic))
  return shares.every(({ topic, run }) =>
    bucketsOf({ original_topic: topic, ...(run && { run }) }).some((bucket) => limited.has(bucket)),
  )
}

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
