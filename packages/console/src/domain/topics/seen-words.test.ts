import { expect, test } from 'vitest'
import { noneSeenWords } from './seen-words.ts'

test('who sees some topics alone is not told that there are none', () => {
  expect(noneSeenWords(['orders.*', 'stock'], 'dlq')).toBe(
    'Your token sees the topics orders.* and stock alone, and no DLQ topic of these is known yet.',
  )
  expect(noneSeenWords(null, 'original')).toBeNull()
})
