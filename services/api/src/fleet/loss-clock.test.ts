import { expect, test } from 'vitest'
import { lossInWords } from './loss-clock.ts'

const now = new Date('2026-02-20T10:30:00Z')
const minuteMs = 60_000

test.each([
  ['41,200 records, first expires in 3 h 10 m', 41_200n, 0n, 190],
  ['1 record, first expires in 2 d 0 h', 1n, 0n, 2 * 1440 + 59],
  ['3 records, first expires in 59 m', 3n, 0n, 59],
  ['3 records, first expires in less than 1 m', 3n, 0n, 0.5],
  ['3 records, first may be gone already; 12 records lost', 3n, 12n, -1],
  ['3 records', 3n, 0n, null],
  ['12 records lost', 0n, 12n, null],
  [null, 0n, 0n, null],
])('the loss clock says %j', (words, lag, lost, minutes) => {
  const expiresAt = minutes === null ? null : new Date(now.getTime() + minutes * minuteMs)
  expect(lossInWords({ lag, lost, expires_at: expiresAt }, now)).toBe(words)
})
