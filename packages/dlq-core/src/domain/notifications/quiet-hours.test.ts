import { expect, test } from 'vitest'
import { parseQuietHours, quietUntil } from './quiet-hours.ts'

const night = '22:00-07:00 Europe/Berlin'
const until = (text: string, now: string) => quietUntil(text, new Date(now))?.toISOString() ?? null

test('what comes in quiet hours waits for their end, over midnight too', () => {
  expect(until(night, '2026-01-10T21:00:00Z')).toBe('2026-01-11T06:00:00.000Z')
  expect(until(night, '2026-01-10T03:00:00Z')).toBe('2026-01-10T06:00:00.000Z')
  expect(until(night, '2026-01-10T06:00:00Z')).toBeNull()
  expect(until(night, '2026-01-10T20:59:59Z')).toBeNull()
  expect(until('23:15-22:45 UTC', '2026-01-10T23:15:00Z')).toBe('2026-01-11T22:45:00.000Z')
  expect(until('23:15-22:45 UTC', '2026-01-10T23:00:00Z')).toBeNull()
})

test.each([
  ['08:59:59', false],
  ['09:00:00', true],
  ['17:29:30', true],
  ['17:30:00', false],
])('of quiet hours from 09:00 to 17:30, %s is within: %s', (time, isQuiet) => {
  const end = '2026-01-10T17:30:00.000Z'
  expect(until('09:00-17:30 UTC', `2026-01-10T${time}Z`)).toBe(isQuiet ? end : null)
})

test('the clock on the wall counts, also when it changes', () => {
  // Berlin goes from 02:00 to 03:00 on 29 March 2026, and from 03:00 back to 02:00 on 25 October.
  expect(until(night, '2026-03-28T22:00:00Z')).toBe('2026-03-29T05:00:00.000Z')
  expect(until(night, '2026-10-24T22:00:00Z')).toBe('2026-10-25T06:00:00.000Z')
  // The end is in the hour that is missing, or comes twice: the first minute that is not quiet.
  expect(until('01:00-02:30 Europe/Berlin', '2026-03-29T00:30:00Z')).toBe('2026-03-29T01:00:00.000Z')
  expect(until('01:00-02:30 Europe/Berlin', '2026-10-25T00:10:00Z')).toBe('2026-10-25T00:30:00.000Z')
})

test.each([
  ...['22:00-07:00', '22:00-22:00 UTC', '25:00-07:00 UTC', '22:00-24:00 UTC', '22:00-07:00 Europe/Nowhere', 'always'],
  ...['at 22:00-07:00 UTC', '22:00-07:00 UTC or so'],
])('%s is no quiet hours', (text) => expect(parseQuietHours(text)).toBeNull())
