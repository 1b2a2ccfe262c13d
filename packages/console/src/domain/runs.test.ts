import { expect, test } from 'vitest'
import { leftWords, partsOf, progressWords, type RunFacts, runTitle, undoOf, whyNotToggled } from './runs.ts'

const none = { taken: 0, waiting: 0, done: 0, resolved: 0, failed: 0, failed_again: 0, withdrawn: 0, given_back: 0 }
const runOf = (run: Partial<RunFacts>, progress: Partial<RunFacts['progress']>): RunFacts => ({
  ...{ kind: 'dead', status: 'completed', selection: {}, matched: { value: 72, relation: 'eq' }, target_topic: null },
  ...run,
  progress: { ...none, skipped: {}, rate: null, eta_seconds: null, verdicts: null, ...progress },
})
const restOf = (run: RunFacts) => partsOf(run).find(({ id }) => id === 'rest')

test('what matched when a run began and is in none of its counts at its end is said to match no more', () => {
  const run = runOf({}, { done: 59 })
  expect(restOf(run)).toMatchObject({ label: 'matched no more', count: 13, of: 72 })
  expect(leftWords(run)).toMatch(/^13 of the 72 that matched when it began were left alone: when it came to them, /)
  expect(leftWords(runOf({}, { done: 59, skipped: { retrying: 13 } }))).toBeNull()
  expect(leftWords(runOf({ kind: 'retry' }, { taken: 70, resolved: 70, done: 2 }))).toBeNull()
})

test('before its end, and where it was cancelled, the rest was not taken', () => {
  const running = runOf({ status: 'running' }, { done: 59, skipped: { resolved: 3 } })
  expect(restOf(running)).toMatchObject({ label: 'not taken yet', count: 10 })
  expect(restOf(runOf({ status: 'cancelled' }, { done: 59 }))).toMatchObject({ label: 'not taken', count: 13 })
  expect(leftWords(running)).toBeNull()
  expect(leftWords(runOf({ status: 'cancelled' }, { done: 59 }))).toBeNull()
})

test('the parts of a bar are never more than the whole', () => {
  const parts = partsOf(
    runOf({ matched: { value: 10, relation: 'gte' } }, { taken: 8, resolved: 8, done: 3, skipped: { dead: 2 } }),
  )
  expect(parts.reduce((sum, { count }) => sum + count, 0)).toBe(parts[0]!.of)
})

test('a run is said to be so far of what matched, and never further than that', () => {
  expect(progressWords(runOf({}, { done: 59 }))).toBe('completed, 59 of 72 done')
  expect(progressWords(runOf({}, { done: 72 }))).toBe('completed, 72 of 72 done')
  // Messages that were being sent when the matching were counted came back, and were taken too.
  expect(progressWords(runOf({}, { done: 80 }))).toBe('completed, 80 done')
})

test('a run is named by what matched, or by what it took, where that is more', () => {
  expect(runTitle(runOf({}, { done: 59 }))).toBe('give up · 72 messages')
  expect(runTitle(runOf({}, { done: 80 }))).toBe('give up · 80 messages')
  expect(runTitle(runOf({ kind: 'retry', matched: { value: 0, relation: 'eq' } }, { taken: 1 }))).toBe(
    'retry · 1 message',
  )
  expect(runTitle(runOf({ matched: { value: 72, relation: 'gte' } }, { done: 59 }))).toBe('give up · ≥ 72 messages')
})

test('a run is paused and resumed only where the API does so', () => {
  for (const status of ['running', 'paused']) expect(whyNotToggled(status)).toBeNull()
  for (const status of ['queued', 'cancelling']) expect(whyNotToggled(status)).not.toBeNull()
})

test('what an ended run gave up or archived can be taken back', () => {
  expect(undoOf(runOf({}, { done: 59 }))).toBe('revive')
  expect(undoOf(runOf({ kind: 'archive', status: 'cancelled' }, { done: 1 }))).toBe('restore')
  expect(undoOf(runOf({}, { done: 0 }))).toBeNull()
  expect(undoOf(runOf({ status: 'running' }, { done: 59 }))).toBeNull()
  expect(undoOf(runOf({ kind: 'delete' }, { done: 59 }))).toBeNull()
})
