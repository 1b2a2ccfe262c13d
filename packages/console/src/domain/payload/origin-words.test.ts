import { expect, test } from 'vitest'
import { canAdopt, foundWords, originStateWords, originWords, whyNotCompared } from './origin-words.ts'

const facts = { differs: [], problem: null }
const message = {
  ...{ status: 'PENDING', edits: 0, archived_at: null, record_source: 'dlq' as const },
  ...{ dlq: {}, origin_state: null },
}

test('each state is told from the others, with what differs', () => {
  const states = ['same', 'different', 'mismatch', 'unproved', 'gone', 'unreachable'] as const
  expect(new Set(states.map((state) => originWords({ ...facts, state }))).size).toBe(states.length)
  expect(originWords({ ...facts, state: 'different', differs: ['value', 'headers'] })).toBe(
    'The copy differs from the record that failed in its value and headers.',
  )
  expect(originWords({ ...facts, state: 'unreachable', problem: 'missing: Read on Topic orders' })).toBe(
    'The record that failed could not be read: missing: Read on Topic orders.',
  )
  expect(originStateWords('value_lost')).toContain('lost its value')
  expect(originStateWords('same')).toBeNull()
})

test('why nothing is compared is said as the API would', () => {
  expect(whyNotCompared(message)).toBeNull()
  expect(whyNotCompared({ ...message, dlq: null })).toContain('no original')
  expect(whyNotCompared({ ...message, archived_at: '2026-01-01' })).toContain('archived')
  expect(whyNotCompared({ ...message, edits: 1 })).toContain('edited')
  expect(whyNotCompared({ ...message, edits: 1, record_source: 'origin' })).toContain('taken its original')
  expect(whyNotCompared({ ...message, status: 'RETRYING' })).toContain('being sent')
})

test('only a record that was found and differs can take the place of a copy that was not sent', () => {
  expect(canAdopt({ ...facts, state: 'different' }, message)).toBe(true)
  expect(canAdopt({ ...facts, state: 'unproved' }, { ...message, status: 'DEAD' })).toBe(true)
  for (const state of ['same', 'mismatch', 'gone', 'unreachable'] as const)
    expect(canAdopt({ ...facts, state }, message), state).toBe(false)
  expect(canAdopt({ ...facts, state: 'different' }, { ...message, status: 'RESOLVED' })).toBe(false)
})

test('what a run found is told with what matters most first', () => {
  expect(foundWords({ same: 1300, different: 40, gone: 1 })).toBe(
    'Of 1,341 compared, 40 differ, 1,300 are the same and 1 is gone from Kafka.',
  )
  expect(foundWords({ value_lost: 1 })).toBe('Of 1 compared, 1 has lost its value.')
  expect([foundWords({}), foundWords(null)]).toEqual([null, null])
})
