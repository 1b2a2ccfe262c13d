import { expect, test } from 'vitest'
import { amountWords, busyWords, holdsStale, reachWords, readerWords, staleWords } from './blast-words.ts'

const reader = {
  ...{ role: 'failed' as const, state: 'Stable', members: 3, lag: 12, per_second: 40.8, best_per_second: 310 },
  ...{ minutes: 0.2, catches_up: true, seen_before: null },
}

test('an amount says whether it was counted or estimated, and what else is written there', () => {
  const eq = (value: number) => ({ value, relation: 'eq' as const })
  expect(amountWords(eq(1), eq(20), null)).toBe('1 message, 20 B')
  expect(amountWords(eq(2), null, null)).toBe('2 messages')
  expect(amountWords({ value: 3000, relation: 'about' }, eq(3_720_000), 41.2)).toBe(
    'about 3,000 messages, 3.5 MiB; others write 41 a second there',
  )
})

test('a reader says what is known of it, and nothing of what is not', () => {
  expect(readerWords(reader)).toBe('Stable, 3 members, 12 unread, reads 41 a second')
  const unknown = { ...reader, state: 'Empty', members: null, lag: null, per_second: null }
  expect(readerWords({ ...unknown, seen_before: 3000 })).toBe('Empty; has read 3,000 of these before')
})

test('the time is in the unit that fits; a reader that falls behind says so', () => {
  expect(busyWords(reader)).toBe('about 12 s')
  expect(busyWords({ minutes: 0, catches_up: true })).toBe('about 1 s')
  expect(busyWords({ minutes: 4.4, catches_up: true })).toBe('about 4 m')
  expect(busyWords({ minutes: 300, catches_up: true })).toBe('about 5 h')
  expect(busyWords({ minutes: null, catches_up: null })).toBe('time not known')
  expect(busyWords({ minutes: null, catches_up: false })).toBe('would not catch up')
})

test('groups that are gone are only counted', () => {
  expect(reachWords(1)).toBe('1 group has had no members for a day.')
  expect(reachWords(2)).toBe('2 groups have had no members for a day.')
})

test('what would come after something newer is counted; where nothing newer is known, nothing is said', () => {
  expect(staleWords({ superseded: 0, waiting: 0, unknown: 0, examined: 200 })).toBeNull()
  expect(staleWords({ superseded: 12, waiting: 1, unknown: 0, examined: 200 })).toBe(
    'Of the first 200 messages, 12 are older than records of the same key sent or read since; of 1 a newer dead letter of the key waits or was given up.',
  )
  expect(staleWords({ superseded: 1, waiting: 0, unknown: 0, examined: 1 })).toBe(
    'Of the first 1 message, 1 is older than a record of the same key sent or read since.',
  )
})

test('held is what a policy holds and something newer is known of, or may be', () => {
  const target = (held: boolean, superseded: number, unknown: number) => ({
    staleness: { held, superseded, waiting: 3, unknown, examined: 10 },
  })
  expect(holdsStale([target(true, 0, 0), target(false, 2, 2)])).toBe(false)
  expect(holdsStale([target(false, 0, 0), target(true, 1, 0)])).toBe(true)
  expect(holdsStale([target(true, 0, 1)])).toBe(true)
})
