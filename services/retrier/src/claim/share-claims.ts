// How a slot's batch is shared among the topics and runs that have something to claim. Pure: plan-claim.ts reads,
// this file decides.
//
// Single messages go first: those that are due by themselves, and those that somebody asked for one by one. A run of
// a million messages gets what is left of a batch, but always some.

import { burstOf, claimCeiling, type RetryPolicy, sharedLimitsOf } from 'dlq-core/domain/retry/retry-policy.ts'
import type { ClaimedMessage, TopicShare } from 'dlq-core/queries/retry/batches.ts'
import { type Grant, runBucket, type TokenRequest } from 'dlq-core/queries/retry/rate-limits.ts'
import type { Claimable } from './due-topics.ts'
import { type Sharer, shareBatch } from './share-batch.ts'

/** A topic, or a run's part of a topic, with the policy in force. */
export type PlannedTopic = {
  due: Claimable
  policy: RetryPolicy
  /** The most that a batch may have of it; absent: any number. */
  most?: number
}

/** How many messages a topic may have of the batch, before its rate limit. */
export type PlannedShare = PlannedTopic & { share: number }

/** The memory of one slot from batch to batch. */
export type ClaimMemory = {
  /** Which topic's single messages come first. */
  turn: number
  /** Which run's topic comes first. */
  runTurn: number
  /** Messages that the next batch may have. */
  batchSize: number
  /** Share key → how many messages it is expected to have. A share that was filled has no entry. */
  appetite: Map<string, number>
  /** Topic → how many claims had too little for both its single messages and its runs. */
  contested: Map<string, number>
}

/** Runs get at least this part of a batch, however much else is due. */
const runsShare = 0.2

/** Shares the batch: by weight, and no more than a topic is expected to have. */
export function shareClaims(
  topics: readonly PlannedTopic[],
  { turn, runTurn, batchSize, appetite }: Readonly<ClaimMemory>,
): PlannedShare[] {
  const planned = new Map(topics.map((topic) => [shareKey(topic.due.original_topic, topic.due.run), topic]))
  const sharersOf = (ofRuns: boolean): Sharer[] =>
    [...planned]
      .filter(([, { due }]) => (due.run !== undefined) === ofRuns)
      .map(([key, { policy, most: allowed = batchSize }]) => {
        // Messages in flight are counted in the claim itself, where no other slot can add to them.
        const most = Math.min(claimCeiling(policy), appetite.get(key) ?? batchSize, allowed)
        return { topic: key, weight: policy.weight, most }
      })
  const runs = sharersOf(true)
  const reserved = runs.length === 0 ? 0 : Math.ceil(batchSize * runsShare)
  const singles = shareBatch(sharersOf(false), { limit: batchSize - reserved, start: turn })
  const used = [...singles.values()].reduce((sum, share) => sum + share, 0)
  const shares = [...singles, ...shareBatch(runs, { limit: batchSize - used, start: runTurn })]
  return shares.map(([key, share]) => ({ ...planned.get(key)!, share }))
}

/**
 * The next batch begins with the topics that this one had no place for. One topic further each time would leave the
 * last of 2,000 without a place for a thousand batches.
 */
export function rememberTurns(
  memory: ClaimMemory,
  { topics, shares }: { topics: readonly PlannedTopic[]; shares: readonly PlannedShare[] },
): void {
  const next = (turn: number, isWanted: (topic: PlannedTopic) => boolean) => {
    const served = shares.filter(isWanted).length
    return turn + (served < topics.filter(isWanted).length ? served : 1)
  }
  memory.turn = next(memory.turn, ({ due }) => due.run === undefined)
  memory.runTurn = next(memory.runTurn, ({ due }) => due.run !== undefined)
}

/** One request for each topic that has limits, and one for each run that has a rate. */
export function tokenRequests(shares: readonly PlannedShare[]): TokenRequest[] {
  const requests = new Map<string, TokenRequest>()
  const ask = (topic: string, wanted: number, limits: Omit<TokenRequest, 'topic' | 'wanted'> | null) => {
    if (limits !== null) requests.set(topic, { ...limits, topic, wanted: wanted + (requests.get(topic)?.wanted ?? 0) })
  }
  for (const { due, policy, share } of shares) {
    ask(due.original_topic, share, sharedLimitsOf(policy))
    const ratePerSecond = due.rate_per_second ?? null
    if (due.run && ratePerSecond !== null)
      ask(runBucket(due.run), share, {
        ...{ ratePerSecond, burst: burstOf(ratePerSecond), runEveryMs: null, runLimit: null },
      })
  }
  return [...requests.values()]
}

/**
 * The shares, cut down to the tokens that were granted; a share that gets none is left out. Runs come last, but where a
 * topic's limits leave too little for both, they come first every fifth time: otherwise its single messages, if there
 * are always some, would leave them nothing.
 */
export function limitShares(
  shares: readonly PlannedShare[],
  {
    grants,
    contested,
    pausedGroupsOf,
  }: Pick<ClaimMemory, 'contested'> & {
    grants: readonly Grant[]
    pausedGroupsOf: (topic: string) => readonly string[]
  },
): TopicShare[] {
  // Bucket → tokens that are left for the shares that follow.
  const left = new Map(grants.map((grant) => [grant.topic, grant.granted]))
  const capped = new Set<string>()
  const runsTurn = new Set(contestedTopics(shares, left).filter((topic) => countContest(contested, topic)))
  const isFirst = ({ due: { run, original_topic } }: PlannedShare) => run !== undefined && runsTurn.has(original_topic)
  const inOrder = [...shares.filter(isFirst), ...shares.filter((share) => !isFirst(share))]
  return inOrder.flatMap(({ due, policy, share }) => {
    const buckets = bucketsOf(due).filter((bucket) => left.has(bucket))
    const quota = Math.min(share, ...buckets.map((bucket) => left.get(bucket)!))
    const { original_topic: topic, run } = due
    const { maxInFlight, ordering } = policy
    // Messages in flight are counted once per claim, so only one share of such a topic may add to them.
    if (quota === 0 || capped.has(topic)) return []
    if (maxInFlight !== null) capped.add(topic)
    for (const bucket of buckets) left.set(bucket, left.get(bucket)! - quota)
    // Somebody asked for what a run holds: pauses do not apply to it.
    const pausedGroups = run ? [] : pausedGroupsOf(topic)
    return [{ topic, ...(run && { run }), quota, maxInFlight, ordered: ordering === 'per-key', pausedGroups }]
  })
}

/** The topics that have both single messages and runs to send, and limits that may leave too little for both. */
function contestedTopics(shares: readonly PlannedShare[], granted: ReadonlyMap<string, number>): string[] {
  return [...Map.groupBy(shares, ({ due }) => due.original_topic)].flatMap(([topic, of]) => {
    const hasBoth = new Set(of.map(({ due }) => due.run === undefined)).size === 2
    const wanted = of.reduce((sum, { share }) => sum + share, 0)
    const most = granted.get(topic) ?? wanted
    const isScarce = most > 0 && (most < wanted || of[0]!.policy.maxInFlight !== null)
    return hasBoth && isScarce ? [topic] : []
  })
}

/** Counts one more contest of the topic. Whether it is the runs’ turn. */
function countContest(contested: ClaimMemory['contested'], topic: string): boolean {
  const count = (contested.get(topic) ?? 0) + 1
  if (contested.size > maxRemembered) contested.clear()
  contested.set(topic, count)
  return count % (1 / runsShare) === 0
}

/** Names a share among others. */
function shareKey(topic: string, run: string | null | undefined): string {
  return run ? `${runBucket(run)} ${topic}` : topic
}

/** The rate-limit buckets that a share draws on. */
function bucketsOf({ original_topic, run }: Pick<Claimable, 'original_topic' | 'run'>): string[] {
  return run ? [original_topic, runBucket(run)] : [original_topic]
}

/** How many of the messages belong to each share, and how many draw on each bucket. */
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

/** Nothing smaller is remembered: a topic that was empty once is still asked for a few messages. */
const leastAppetite = 4
const maxRemembered = 10_000

/** A topic that did not fill its share is expected to have little again, and leaves the rest to the others. */
export function rememberAppetite(
  { appetite }: ClaimMemory,
  { shares, claimed }: { shares: readonly TopicShare[]; claimed: ReadonlyMap<string, number> },
): void {
  for (const share of shares) {
    const key = shareKey(share.topic, share.run)
    const taken = takenOf(share, claimed)
    if (taken >= share.quota) appetite.delete(key)
    else appetite.set(key, Math.max(leastAppetite, taken * 2))
  }
  // A plain bound: a forgotten appetite is learnt again.
  if (appetite.size > maxRemembered) appetite.clear()
}

/** Topic → whether a claim got all that it asked of its single messages. */
export function filledTopics(
  shares: readonly TopicShare[],
  claimed: ReadonlyMap<string, number>,
): ReadonlyMap<string, boolean> {
  const singles = shares.filter(({ run }) => run === undefined)
  return new Map(singles.map((share) => [share.topic, takenOf(share, claimed) >= share.quota]))
}

/** How many messages of the share were claimed, by `countClaimed`. */
function takenOf({ topic, run }: TopicShare, claimed: ReadonlyMap<string, number>): number {
  return claimed.get(`share ${shareKey(topic, run)}`) ?? 0
}

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

/** The tokens that these messages took. */
export function tokensOf(grants: readonly Grant[], messages: ReadonlyMap<string, number>): Grant[] {
  return grants.flatMap((grant) => {
    const count = messages.get(grant.topic) ?? 0
    return count > 0 ? [{ ...grant, granted: count }] : []
  })
}
