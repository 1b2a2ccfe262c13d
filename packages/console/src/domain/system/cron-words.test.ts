import { expect, test } from 'vitest'
import { cronWords, isJustOver, nextTickWords } from './cron-words.ts'

test('the schedules that people write are words', () => {
  expect(cronWords('0 3 * * *')).toBe('every day at 03:00 UTC')
  expect(cronWords('*/5 * * * *')).toBe('every 5 minutes')
  expect(cronWords('* * * * *')).toBe('every minute')
  expect(cronWords('15 * * * *')).toBe('every hour at minute 15')
  expect(cronWords('0 */6 * * *')).toBe('every 6 hours at minute 0')
  expect(cronWords('30 4 * * 0')).toBe('every Sunday at 04:30 UTC')
  expect(cronWords('0 5 1 * *')).toBe('on day 1 of every month at 05:00 UTC')
  expect(cronWords(null)).toBe('off: only when somebody asks')
})

test('any other schedule stays as it is written', () => {
  for (const schedule of ['0 3 1-7 * 1', '0 3 * 2 *', '0,30 * * * *', '@daily', '0 3 * * * *'])
    expect(cronWords(schedule)).toBe(schedule)
})

test('a tick is just over for a minute; one that nobody has replaced since then is overdue', () => {
  const tick = '2026-03-01T03:00:00.000Z'
  const at = (seconds: number) => isJustOver(tick, Date.parse(tick) + seconds * 1000)
  expect([-1, 0, 59, 60].map(at)).toEqual([false, true, true, false])
  const words = (seconds: number) => nextTickWords(tick, Date.parse(tick) + seconds * 1000)
  expect([-90, 0, 10_800].map(words)).toEqual([
    'the next time in 1 m 30 s',
    'the next time about now',
    'it has been due for 3 h, and no retrier has begun it',
  ])
})
