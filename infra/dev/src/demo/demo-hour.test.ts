// An hour of the demo, without servers: its orders, the outcomes of its consumer, and the decisions of the retrier about
// error groups. What can be resolved is resolved, and the waiting ends.

import { nextState } from 'dlq-core/domain/retry/message-state.ts'
import { nextRetryAt, type RetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import type { ProbeState } from 'dlq-core/queries/groups/group-pauses.ts'
import { expect, test } from 'vitest'
import {
  judgeProbes,
  postponeMs,
  probeAfterMs,
  probesAtOnce,
  quietMs,
  whyPause,
} from '../../../../services/retrier/src/groups/judge-group.ts'
import { demoPolicy } from './demo-policy.ts'
import { makeOrder, type Order, orderIntervalMs, takePayment } from './take-payment.ts'

type Message = {
  order: Order
  state: NonNullable<ReturnType<typeof nextState>>
  /** When its last attempt failed again; null where it did not. */
  refailedAt: number | null
  publishedAt: number
}
type Pause = { probeAt: number; failedProbes: number; probes: Message[] }
type Group = {
  messages: Message[]
  unsettled: Set<Message>
  published: number[]
  refailed: number[]
  resumedAt: number
  pause: Pause | null
  mostWaiting: number
}

const hourMs = 3_600_000
/** From the publishing of a retry to its dead letter. */
const refailsAfterMs = 200
const reviewEveryMs = 2000
const tickMs = 100

test('all that the card network’s outages left behind is resolved, and none of it waits for ever', () => {
  const groups = playHour(demoPolicy, seededRandom(1))
  const counts = (name: string) => {
    const messages = groups.get(name)!.messages
    const of = (status: string) => messages.filter(({ state }) => state.status === status).length
    return { all: messages.length, resolved: of('RESOLVED'), waiting: of('PENDING'), dead: of('DEAD') }
  }
  const card = counts('CardNetworkException')
  expect(card.all).toBeGreaterThan(900)
  expect(card.waiting).toBe(0)
  // Those of one outage, and those that a pause has put off.
  expect(groups.get('CardNetworkException')!.mostWaiting).toBeLessThan(100)
  expect(card.resolved / card.all).toBeGreaterThan(0.99)
  expect(counts('InvalidAmountException').resolved).toBe(0)
})

test('a group of which nothing is ever mended is paused all the same, and probed less and less', () => {
  const groups = playHour({ ...demoPolicy, maxRetries: 1000, maxDelayMs: 4000 }, seededRandom(4), { drainMs: 0 })
  const group = groups.get('InvalidAmountException')!
  expect(group.pause?.failedProbes).toBeGreaterThan(2)
  // Without a pause, every message would have been retried every four seconds at least.
  expect(group.published.length).toBeLessThan(hourMs / 4000)
})

/** Plays an hour of orders, and half an hour without new ones, by the tick. Returns the error groups. */
function playHour(policy: RetryPolicy, random: () => number, { drainMs = hourMs / 2 } = {}): Map<string, Group> {
  const groups = new Map<string, Group>()
  let orders = 0
  for (let now = 0; now <= hourMs + drainMs; now += tickMs) {
    if (now < hourMs && now % orderIntervalMs === 0) {
      orders += 1
      const order = makeOrder(orders, new Date(now))
      const group = failureOf(order, now)
      if (group !== null) storeFirst({ groups, policy, random }, { order, group, now })
    }
    for (const group of groups.values()) {
      for (const message of group.unsettled) step(group, message, { policy, random, now })
      if (now % reviewEveryMs === 0) review(group, { policy, random, now })
    }
  }
  return groups
}

/** The error group of the order's failure; null where the payment is taken. */
function failureOf(order: Order, now: number): string | null {
  try {
    takePayment(order, now)
    return null
  } catch (error) {
    return (error as Error).name.split('.').at(-1)!
  }
}

type Playing = { policy: RetryPolicy; random: () => number }
type Now = Playing & { now: number }

function storeFirst(
  { groups, policy, random }: Playing & { groups: Map<string, Group> },
  { order, group, now }: { order: Order; group: string; now: number },
): void {
  if (!groups.has(group))
    groups.set(group, {
      messages: [],
      unsettled: new Set(),
      published: [],
      refailed: [],
      resumedAt: 0,
      pause: null,
      mostWaiting: 0,
    })
  const next_retry_at = nextRetryAt(policy, 0, new Date(now), random())
  const state = { status: 'PENDING', retry_count: 0, max_retries: policy.maxRetries, next_retry_at } as const
  const message: Message = { order, state, refailedAt: null, publishedAt: 0 }
  const { messages, unsettled } = groups.get(group)!
  messages.push(message)
  unsettled.add(message)
}

/** Sends the message where it is due, and takes its dead letter where it fails again. */
function step(group: Group, message: Message, { policy, random, now }: Now): void {
  const deciding = () => ({ policy, now: new Date(now), random: random() })
  const { status, retry_count, next_retry_at } = message.state
  if (status === 'RESOLVED') {
    if (message.publishedAt + refailsAfterMs > now) return
    if (failureOf(message.order, message.publishedAt) !== null) {
      message.state = nextState(message.state, { type: 'failed_again', attempt: retry_count }, deciding())!
      message.refailedAt = now
      group.refailed.push(now)
    }
    if (message.state.status !== 'PENDING') group.unsettled.delete(message)
    return
  }
  if (status !== 'PENDING' || next_retry_at === null || next_retry_at.getTime() > now) return
  if (group.pause !== null && !group.pause.probes.includes(message)) {
    const untilAnswerMs = group.pause.probeAt - now + quietMs(policy, refailsAfterMs)
    const forMs = postponeMs(policy, { untilAnswerMs, puttingOffMs: 0 }) * (1 + random() / 2)
    message.state = { ...message.state, next_retry_at: new Date(now + forMs) }
    return
  }
  const claimed = nextState(message.state, { type: 'claimed' }, deciding())!
  message.state = nextState(claimed, { type: 'published' }, deciding())!
  Object.assign(message, { publishedAt: now, refailedAt: null })
  group.published.push(now)
}

/** What group-pauses.ts does with the database. */
function review(group: Group, { policy, now }: Now): void {
  const { pause } = group
  group.mostWaiting = Math.max(group.mostWaiting, group.unsettled.size)
  if (pause === null) {
    const since = Math.max(now - policy.refailureWindowMs, group.resumedAt)
    const within = (times: readonly number[]) => times.filter((time) => time > since).length
    const figures = { refailures: within(group.refailed), retries: within(group.published) }
    if (whyPause(figures, policy) !== null)
      group.pause = { probeAt: now + probeAfterMs(policy, 0), failedProbes: 0, probes: [] }
    return
  }
  if (pause.probes.length === 0) {
    if (pause.probeAt > now) return
    const waiting = [...group.unsettled].filter(
      ({ state }) => state.status === 'PENDING' && state.next_retry_at !== null,
    )
    pause.probes = waiting
      .toSorted((a, b) => a.state.next_retry_at!.getTime() - b.state.next_retry_at!.getTime())
      .slice(0, probesAtOnce)
    for (const probe of pause.probes) probe.state = { ...probe.state, next_retry_at: new Date(now) }
    pause.probeAt = now
    if (pause.probes.length === 0) Object.assign(group, { pause: null, resumedAt: now })
    return
  }
  const stateOf = ({ refailedAt, publishedAt }: Message): ProbeState => {
    if (publishedAt < pause.probeAt) return 'waiting'
    if (refailedAt !== null) return 'failed_again'
    return publishedAt < now - quietMs(policy, refailsAfterMs) ? 'published' : 'waiting'
  }
  const verdict = judgeProbes(pause.probes.map(stateOf), policy)
  if (verdict === 'resume') Object.assign(group, { pause: null, resumedAt: now })
  if (verdict !== 'failed') return
  pause.failedProbes += 1
  Object.assign(pause, { probes: [], probeAt: now + probeAfterMs(policy, pause.failedProbes) })
}

/** Mulberry32, so that a failure can be seen again. */
function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
