import { parseDuration } from 'dlq-core/domain/retry/duration.ts'
import { expect, test } from 'vitest'
import { durationMs } from './words.ts'

test.each(['90s', '30m', '1h30m', '1d', '500ms', '1d2h3m4s5ms', '0s'])('%s is as long as for the API', (text) => {
  expect(durationMs(text)).toBe(parseDuration(text))
})

// Digits alone are milliseconds for the API, which nobody means on a command line.
test.each(['30', '', '1.5h', '1h 30m', '-1h', '1w', 'h', '40000d'])('"%s" is no length of time', (text) => {
  expect(durationMs(text)).toBeNull()
})
