import { expect, test } from 'vitest'
import {
  beyondScope,
  canaryOf,
  canPatch,
  eligibleStatuses,
  ineligibility,
  isAsExpected,
  progressOf,
  refailsTooMuch,
  remedyOf,
  stepSize,
  type TakeStep,
  waitingOf,
  workflowOf,
} from './run.ts'
import { type RunKind, runKinds } from './run-kinds.ts'

const plain = (kind: RunKind) => ({ kind, is_forced: false })
const counts = { taken: 0, done: 0, resolved: 0, failed: 0, failed_again: 0, withdrawn: 0, given_back: 0 }

test('a retry skips messages that are settled, being sent, out of budget or in another run', () => {
  const pending = {
    status: 'PENDING',
    retry_count: 0,
    max_retries: 3,
    run_id: null,
    held_by_route: false,
    origin_state: null,
    is_erased: false,
  } as const
  expect(ineligibility(plain('retry'), pending)).toBeNull()
  expect(ineligibility(plain('retry'), { ...pending, status: 'DEAD' })).toBe('dead')
  expect(ineligibility(plain('retry'), { ...pending, status: 'RESOLVED' })).toBe('resolved')
  expect(ineligibility(plain('retry'), { ...pending, status: 'RETRYING' })).toBe('retrying')
  expect(ineligibility(plain('retry'), { ...pending, retry_count: 3 })).toBe('budget_spent')
  expect(ineligibility(plain('retry'), { ...pending, run_id: 'x' })).toBe('in_another_run')
  expect(ineligibility(plain('retry'), { ...pending, held_by_route: true })).toBe('held_by_route')
  expect(ineligibility(plain('delete'), { ...pending, held_by_route: true })).toBeNull()
  expect(ineligibility(plain('delete'), { ...pending, retry_count: 3 })).toBeNull()
})

test('of an erased message nothing is sent or changed; it can be moved and deleted', () => {
  const dead = { status: 'DEAD', retry_count: 0, max_retries: 3, run_id: null } as const
  const erased = { ...dead, held_by_route: false, origin_state: 15, is_erased: true } as const
  const leaves = (run: Parameters<typeof ineligibility>[0]) => ineligibility(run, erased) === 'erased'
  expect(runKinds.filter((kind) => leaves(plain(kind)))).toEqual([
    'retry',
    'redirect',
    'dead',
    'revive',
    'edit',
    'origin',
  ])
  expect(leaves({ kind: 'retry', is_forced: true })).toBe(true)
  expect(remedyOf(plain('retry'), 'erased', 2)).toBe('2 were erased: nothing of them is left to change or send')
})

test('a forced run takes what is DEAD or has no attempts left, and nothing that another run or a route holds', () => {
  const forced = { kind: 'retry', is_forced: true } as const
  const dead = {
    status: 'DEAD',
    retry_count: 3,
    max_retries: 3,
    run_id: null,
    held_by_route: false,
    origin_state: null,
    is_erased: false,
  } as const
  expect(ineligibility(forced, dead)).toBeNull()
  expect(ineligibility(forced, { ...dead, status: 'PENDING' })).toBeNull()
  expect(ineligibility(forced, { ...dead, status: 'RESOLVED' })).toBe('resolved')
  expect(ineligibility(forced, { ...dead, run_id: 'x' })).toBe('in_another_run')
  expect(ineligibility(forced, { ...dead, held_by_route: true })).toBe('held_by_route')
  expect(eligibleStatuses(forced, {})).toEqual(['PENDING', 'DEAD'])
  expect(remedyOf(forced, 'resolved', 2)).toBe('2 are RESOLVED: retry singly by force')
  expect(remedyOf(plain('retry'), 'dead', 27)).toBe('27 are DEAD: send with force, or revive first')
  // No other kind leaves DEAD messages alone.
  expect(remedyOf(plain('dead'), 'dead', 1)).toBe('1 is DEAD: nothing is left to do')
  expect(remedyOf(plain('archive'), 'resolved', 2)).toBe('2 are RESOLVED: nothing is left to do')
  expect([1, 2].map((count) => remedyOf(plain('retry'), 'budget_spent', count))).toEqual([
    '1 has no attempts left: send with force',
    '2 have no attempts left: send with force',
  ])
})

test('no run changes a message that is being sent', () => {
  // A run that erases waits for it.
  for (const kind of runKinds.filter((kind) => kind !== 'erase'))
    expect(eligibleStatuses(plain(kind), {})).not.toContain('RETRYING')
  expect(eligibleStatuses(plain('delete'), { status: ['DEAD', 'RETRYING'] })).toEqual(['DEAD'])
  expect(eligibleStatuses(plain('retry'), { status: ['DEAD'] })).toEqual([])
  expect(eligibleStatuses(plain('retry'), { status: ['DEAD'], archived: true })).toEqual(['DEAD'])
})

test('a run is carried out by the workflow of its kind, and only a kind that edits or sends has a patch', () => {
  const kindsOf = (workflow: string) => runKinds.filter((kind) => workflowOf(kind) === workflow)
  expect(kindsOf('run.send')).toEqual(['retry', 'redirect'])
  expect(kindsOf('run.erase')).toEqual(['erase'])
  expect(kindsOf('run.compare')).toEqual(['origin'])
  expect(kindsOf('run.touch')).toEqual(['dead', 'revive', 'delete', 'archive', 'restore', 'purge', 'edit'])
  expect(runKinds.filter(canPatch)).toEqual(['retry', 'redirect', 'edit'])
})

test('a token for some topics reaches neither the archive of all nor a topic that is none of them', () => {
  const faults = (scope: readonly string[] | null) =>
    runKinds.filter((kind) => beyondScope({ kind, target_topic: null }, scope) !== null)
  expect([faults(null), faults(['orders*'])]).toEqual([[], ['archive', 'purge', 'erase']])
  const redirect = (target_topic: string) => beyondScope({ kind: 'redirect', target_topic }, ['orders*'])
  expect(['orders.retry', '{topic}.retry'].map(redirect)).toEqual([null, null])
  expect(redirect('payments')).toBe('this token may not write to payments')
})

test('a canary is some messages, then its share of all rounded up, and then the rest', () => {
  const size = (step: TakeStep, canary: { first: number; share: number } | null) =>
    stepSize(step, { matched: 101, canary })
  const canary = { first: 5, share: 0.1 }
  expect([size('first', canary), size('share', canary), size('all', canary)]).toEqual([5, 11, null])
  expect([size('first', null), size('share', null), size('all', null)]).toEqual([0, 0, null])
  const whole = { ...canary, waitMs: 1, maxRefailure: 0 }
  expect([canaryOf({ canary: JSON.stringify(whole) }), canaryOf({ canary: null })]).toEqual([whole, null])
})

test('a count is as expected within the tolerance, and never where counting ended early', () => {
  const is = (value: number, expected: number, tolerance: number, relation: 'eq' | 'gte' = 'eq') =>
    isAsExpected({ value, relation }, { expected, tolerance })
  expect(is(100, 100, 0)).toBe(true)
  expect(is(101, 100, 0)).toBe(false)
  expect(is(110, 100, 0.1)).toBe(true)
  expect(is(90, 100, 0.1)).toBe(true)
  expect(is(89, 100, 0.1)).toBe(false)
  expect(is(100, 100, 0.1, 'gte')).toBe(false)
})

test('a message is waiting from the time it was taken until it has an outcome', () => {
  expect(
    waitingOf({ ...counts, taken: 10, resolved: 3, failed: 1, failed_again: 2, withdrawn: 1, given_back: 1 }),
  ).toBe(2)
})

test('re-failures are judged by their share of the sent messages, once enough were sent', () => {
  expect(refailsTooMuch({ resolved: 9, failed_again: 10 }, { maxRefailure: 0.05 })).toBe(false)
  expect(refailsTooMuch({ resolved: 19, failed_again: 1 }, { maxRefailure: 0.05 })).toBe(false)
  expect(refailsTooMuch({ resolved: 18, failed_again: 2 }, { maxRefailure: 0.05 })).toBe(true)
  expect(refailsTooMuch({ resolved: 0, failed_again: 1 }, { maxRefailure: 0.05, sample: 1 })).toBe(true)
  expect(refailsTooMuch({ resolved: 100, failed_again: 0 }, { maxRefailure: 0 })).toBe(false)
})

test('progress is a rate since the start, and how long the rest takes at that rate', () => {
  const at = (seconds: number) => new Date(seconds * 1000)
  const matched = { value: 100, relation: 'eq' } as const
  const times = { matched, skipped: 0, step: 'all', startedAt: at(0), endedAt: null, now: at(10) }
  expect(progressOf({ ...counts, taken: 100, resolved: 20 }, times)).toEqual({ rate: 2, etaSeconds: 40 })
  expect(progressOf(counts, times)).toEqual({ rate: null, etaSeconds: null })
  expect(progressOf({ ...counts, done: 100 }, { ...times, endedAt: at(5) })).toEqual({ rate: 20, etaSeconds: null })
})

test('nothing is left to do with what a run has skipped, given back or lost, nor with more than it took', () => {
  const at = (seconds: number) => new Date(seconds * 1000)
  const matched = { value: 100, relation: 'eq' } as const
  const times = { matched, skipped: 60, step: 'all', startedAt: at(0), endedAt: null, now: at(10) }
  const some = { ...counts, taken: 30, resolved: 10, withdrawn: 5 }
  expect(progressOf(some, times).etaSeconds).toBe(25)
  expect(progressOf(some, { ...times, skipped: 0, step: 'settle' }).etaSeconds).toBe(15)
  // Counting stopped at a hundred: there may be any number of others.
  const many = { ...times, matched: { value: 100, relation: 'gte' } as const }
  expect(progressOf(some, many)).toEqual({ rate: 1, etaSeconds: null })
  expect(progressOf(some, { ...many, step: 'settle' }).etaSeconds).toBe(15)
})

test('while a canary is looked at, its pace says nothing of the rest', () => {
  const at = (seconds: number) => new Date(seconds * 1000)
  const matched = { value: 100, relation: 'eq' } as const
  const times = { matched, skipped: 0, startedAt: at(0), endedAt: null, now: at(10) }
  const sent = { ...counts, taken: 1, resolved: 1 }
  for (const step of ['first', 'share'])
    expect(progressOf(sent, { ...times, step })).toEqual({ rate: 0.1, etaSeconds: null })
  expect(progressOf(sent, { ...times, step: null })).toEqual({ rate: 0.1, etaSeconds: 990 })
})
