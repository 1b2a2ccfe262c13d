import { expect, test } from 'vitest'
import { verdictWords } from './message-words.ts'
import { readWords } from './run-verdict.ts'

test('a published record is never said to have succeeded', () => {
  const words = (verdict: string | null, judged_by: string | null = 'billing') => verdictWords({ verdict, judged_by })
  expect(words('sent')).toBe('not read by billing yet')
  expect(words('passed')).toBe('read by billing, not back so far')
  expect(words('consumed')).toBe('read by billing, nothing came back')
  expect(words('confirmed')).toBe('done, says its application')
  expect(words('skipped', null)).toBe('not read: its consumer has jumped over it')
  expect(words('unknown')).toBe('has not come back; whether it was read cannot be told')
})

test('a run says how much of what it sent was read', () => {
  const none = { sent: 0, passed: 0, consumed: 0, confirmed: 0, came_back: 0, skipped: 0, expired: 0, unknown: 0 }
  expect(readWords(null)).toBeNull()
  expect(readWords({ ...none, unknown: 9 })).toBeNull()
  expect(readWords({ ...none, passed: 2, consumed: 609, confirmed: 1, sent: 31 })).toBe(
    '612 were read; 31 nobody has read yet.',
  )
  expect(readWords({ ...none, consumed: 1, skipped: 1, expired: 1, unknown: 4 })).toBe(
    '1 was read; 2 were jumped over or deleted unread; of 4 nobody can tell.',
  )
})
