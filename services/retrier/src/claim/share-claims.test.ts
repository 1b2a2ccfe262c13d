import { defaultRetryPolicy, type RetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import type { Grant } from 'dlq-core/queries/retry/rate-limits.ts'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  areAllLimited,
  type ClaimMemory,
  countClaimed,
  filledTopics,
  limitShares,
  type PlannedTopic,
  rememberAppetite,
  rememberTurns,
  shareClaims,
  tokenRequests,
  tokensOf,
  unusedTokens,
} from './share-claims.ts'

const run = 'b7b0e0a0-0000-7000-8000-000000000001'

function topic(name: string, policy: Partial<RetryPolicy> = {}, due: Partial<PlannedTopic['due']> = {}): PlannedTopic {
  return { due: { original_topic: name, dlq_topic: null, ...due }, policy: { ...defaultRetryPolicy, ...policy } }
}

const ofRun = (name: string, policy: Partial<RetryPolicy> = {}, rate_per_second: number | null = null) =>
  topic(name, policy, { run, rate_per_second })

const memory = (more: Partial<ClaimMemory> = {}): ClaimMemory => ({
  ...{ turn: 0, runTurn: 0, batchSize: 100, appetite: new Map(), contested: new Map() },
  ...more,
})

const grant = (name: string, granted: number): Grant => ({ topic: name, granted, run_started_at: null })

/** "topic" or "run topic" → its share. */
function sharesOf(topics: readonly PlannedTopic[], more: Partial<ClaimMemory> = {}): Record<string, number> {
  const shares = shareClaims(topics, memory(more))
  return Object.fromEntries(
    shares.map(({ due, share }) => [due.run ? `run ${due.original_topic}` : due.original_topic, share]),
  )
}

/** Topic → quota, with these tokens granted. */
function quotasOf(
  topics: readonly PlannedTopic[],
  grants: readonly Grant[],
  contested: ClaimMemory['contested'] = new Map(),
): [string, number][] {
  const shares = limitShares(shareClaims(topics, memory()), { grants, contested, pausedGroupsOf: () => [] })
  return shares.map(({ topic, run, quota }) => [run ? `run ${topic}` : topic, quota])
}

test('topics share a batch by weight', () => {
  expect(sharesOf([topic('orders'), topic('payments', { weight: 3 })])).toEqual({ orders: 25, payments: 75 })
})

test('a run gets a fifth of a full batch, and all places that single messages leave', () => {
  expect(sharesOf([topic('orders'), ofRun('orders')])).toEqual({ orders: 80, 'run orders': 20 })
  const appetite = new Map([['orders', 5]])
  expect(sharesOf([topic('orders'), ofRun('orders')], { appetite })).toEqual({ orders: 5, 'run orders': 95 })
  expect(sharesOf([ofRun('orders')])).toEqual({ 'run orders': 100 })
})

test('where there are more topics than places, each comes first in its turn', () => {
  const topics = Array.from({ length: 6 }, (_, n) => topic(`t${n}`))
  const chosen = [0, 1, 2, 3, 4, 5].flatMap((turn) => Object.keys(sharesOf(topics, { turn, batchSize: 2 })))
  expect(Map.groupBy(chosen, (name) => name).size).toBe(6)
})

test.each([
  ['single messages', topic],
  ['runs', ofRun],
])('a topic waits for its %s no longer than the topics before it fill batches', (_, of) => {
  const topics = Array.from({ length: 2000 }, (_, n) => of(`t${n}`, n % 7 === 0 ? { paused: true } : {}))
  // Of the other kind there are always some, too.
  topics.push((of === topic ? ofRun : topic)('beside', { maxInFlight: 1 }))
  const remembered = memory({ batchSize: 500 })
  const served = new Set<string>()
  for (let batch = 0; batch < 6; batch += 1) {
    const shares = shareClaims(topics, remembered)
    rememberTurns(remembered, { topics, shares })
    for (const { due } of shares) served.add(due.original_topic)
  }
  expect(served.size).toBe(1 + 2000 - Math.ceil(2000 / 7))
})

test('a paused topic gets no place, and one with a cap no more than the cap', () => {
  const topics = [topic('paused', { paused: true }), topic('capped', { maxInFlight: 7 }), topic('orders')]
  expect(sharesOf(topics)).toEqual({ capped: 7, orders: 93 })
})

test('a topic of which a batch may have few gets no more, and the others get the rest', () => {
  expect(sharesOf([{ ...topic('held'), most: 3 }, topic('orders')])).toEqual({ held: 3, orders: 97 })
  expect(sharesOf([{ ...ofRun('held'), most: 1 }])).toEqual({ 'run held': 1 })
})

test('for any due messages, shares never add up to more than the batch, and none exceeds its cap', () => {
  const due = fc.record({
    weight: fc.integer({ min: 1, max: 100 }),
    most: fc.integer({ min: 1, max: 500 }),
    isRun: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(due, { minLength: 1, maxLength: 8 }), fc.nat(100), (dues, turn) => {
      const topics = dues.map(({ weight, most, isRun }, n) =>
        (isRun ? ofRun : topic)(`t${n}`, { weight, maxInFlight: most }),
      )
      const shares = shareClaims(topics, memory({ turn }))
      const sum = shares.reduce((total, { share }) => total + share, 0)
      expect(sum).toBeLessThanOrEqual(100)
      expect(sum).toBeGreaterThan(0)
      for (const { share, policy } of shares) expect(share).toBeLessThanOrEqual(policy.maxInFlight!)
    }),
  )
})

test('tokens are asked for once per limited topic and once per run with a rate', () => {
  const limited = { ratePerSecond: 50 }
  const shares = shareClaims([topic('orders', limited), ofRun('orders', limited, 10), topic('payments')], memory())
  const wanted = new Map(shares.map(({ due, share }) => [due.run ? 'run' : due.original_topic, share]))
  expect(tokenRequests(shares).map(({ topic, wanted, burst }) => ({ topic, wanted, burst }))).toEqual([
    { topic: 'orders', wanted: wanted.get('orders')! + wanted.get('run')!, burst: 50 },
    { topic: `run:${run}`, wanted: wanted.get('run'), burst: 10 },
  ])
})

test('a share is cut to its tokens; a topic and its run draw on one bucket', () => {
  const limited = { ratePerSecond: 50 }
  const topics = [topic('orders', limited), ofRun('orders', limited)]
  expect(quotasOf(topics, [grant('orders', 1000)])).toEqual([
    ['orders', 50],
    ['run orders', 50],
  ])
  expect(quotasOf(topics, [grant('orders', 60)])).toEqual([
    ['orders', 50],
    ['run orders', 10],
  ])
  expect(quotasOf(topics, [grant('orders', 0)])).toEqual([])
})

test('a run with a rate is cut to its own tokens, whatever its topic has left', () => {
  const topics = [ofRun('orders', { ratePerSecond: 50 }, 10)]
  expect(quotasOf(topics, [grant('orders', 50), grant(`run:${run}`, 3)])).toEqual([['run orders', 3]])
})

test('only one share of a topic with a cap is claimed at a time', () => {
  expect(quotasOf([topic('orders', { maxInFlight: 7 }), ofRun('orders', { maxInFlight: 7 })], [])).toEqual([
    ['orders', 7],
  ])
})

test.each([
  ['a rate', { ratePerSecond: 50 }, [grant('orders', 3)]],
  ['a cap', { maxInFlight: 3 }, []],
])('under %s that single messages use up, a run gets every fifth claim', (_, policy, grants) => {
  const contested = new Map<string, number>()
  const topics = [topic('orders', policy), ofRun('orders', policy)]
  const claims = Array.from({ length: 10 }, () => quotasOf(topics, grants, contested))
  const ofSingles = [['orders', 3]]
  const five = [ofSingles, ofSingles, ofSingles, ofSingles, [['run orders', 3]]]
  expect(claims).toEqual([...five, ...five])
  // Without tokens nothing is decided.
  quotasOf(
    [topic('orders', { ratePerSecond: 50 }), ofRun('orders', { ratePerSecond: 50 })],
    [grant('orders', 0)],
    contested,
  )
  expect(contested.get('orders')).toBe(10)
})

test('a paused error group holds back messages that are due by themselves, not those of a run', () => {
  const shares = shareClaims([topic('orders'), ofRun('orders'), topic('payments')], memory())
  const pausedGroupsOf = (name: string) => (name === 'orders' ? ['group'] : [])
  const limited = limitShares(shares, { grants: [], contested: new Map(), pausedGroupsOf })
  expect(limited.map(({ topic, run, pausedGroups }) => [topic, run !== undefined, pausedGroups])).toEqual([
    ['orders', false, ['group']],
    ['payments', false, []],
    ['orders', true, []],
  ])
})

const claimedOf = (topics: Record<string, number>, run_id: string | null = null) =>
  Object.entries(topics).flatMap(([original_topic, count]) =>
    Array.from({ length: count }, () => ({ original_topic, run_id })),
  )

test('a topic that does not fill its share is expected to have at most twice as many messages, one that fills it any number', () => {
  const remembered = memory()
  const share = (name: string, quota: number) => ({
    ...{ topic: name, quota, maxInFlight: null, ordered: false, pausedGroups: [] },
  })
  const shares = [share('empty', 50), share('some', 50), share('full', 50)]
  rememberAppetite(remembered, { shares, claimed: countClaimed(claimedOf({ some: 10, full: 50 })) })
  expect(remembered.appetite).toEqual(new Map([...Object.entries({ empty: 4, some: 20 })]))
  rememberAppetite(remembered, { shares: [share('some', 20)], claimed: countClaimed(claimedOf({ some: 20 })) })
  expect(remembered.appetite.has('some')).toBe(false)
})

test('a topic is filled where a claim got all that it asked of its single messages, whatever its runs gave', () => {
  const run = '5f0c2d3e-7a51-4e64-9d0a-2f8f2b9a3c11'
  const share = { topic: 'full', quota: 2, maxInFlight: null, ordered: false, pausedGroups: [] }
  const shares = [
    share,
    { ...share, topic: 'some' },
    { ...share, topic: 'some', run },
    { ...share, topic: 'other', run },
  ]
  const claimed = countClaimed([...claimedOf({ full: 2, some: 1 }), ...claimedOf({ some: 2, other: 2 }, run)])
  expect(filledTopics(shares, claimed)).toEqual(new Map(Object.entries({ full: true, some: false })))
})

test('the memory of ten thousand topics is cleared, not kept for ever', () => {
  const remembered = memory({ appetite: new Map(Array.from({ length: 10_000 }, (_, n) => [`t${n}`, 4])) })
  const share = { topic: 'one more', quota: 50, maxInFlight: null, ordered: false, pausedGroups: [] }
  rememberAppetite(remembered, { shares: [share], claimed: new Map() })
  expect(remembered.appetite.size).toBe(0)
})

test('unused tokens go back to the topic’s bucket and to the run’s', () => {
  const grants = [grant('orders', 30), grant(`run:${run}`, 10), grant('payments', 5)]
  const claimed = countClaimed([...claimedOf({ orders: 20, payments: 5 }), ...claimedOf({ orders: 4 }, run)])
  expect(unusedTokens(grants, claimed)).toEqual([grant('orders', 6), grant(`run:${run}`, 6)])
  expect(tokensOf(grants, countClaimed(claimedOf({ orders: 2, unlimited: 9 }, run)))).toEqual([
    grant('orders', 2),
    grant(`run:${run}`, 11),
  ])
})

test('the next batch need not wait where some topic has no limit', () => {
  const [limited, free] = [topic('orders', { ratePerSecond: 50 }), topic('payments')]
  const grants = [grant('orders', 50)]
  const contested = new Map()
  const claimed = (topics: PlannedTopic[]) =>
    limitShares(shareClaims(topics, memory()), { grants, contested, pausedGroupsOf: () => [] })
  expect(areAllLimited(claimed([limited]), grants)).toBe(true)
  expect(areAllLimited(claimed([limited, free]), grants)).toBe(false)
  const shares = claimed([ofRun('payments')])
  expect([areAllLimited(shares, [grant(`run:${run}`, 50)]), areAllLimited(shares, grants)]).toEqual([true, false])
})
