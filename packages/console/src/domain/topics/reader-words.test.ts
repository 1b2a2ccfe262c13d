import { expect, test } from 'vitest'
import { readerWords } from './reader-words.ts'

test('the states of Kafka are words, and a state that is new stays as Kafka says it', () => {
  const words = (state: string, members: number | null) => readerWords({ state, members })
  expect(words('Stable', 3)).toBe('reads, 3 members')
  expect(words('Stable', null)).toBe('reads')
  expect(words('Empty', 0)).toBe('nobody reads')
  expect(words('PreparingRebalance', 1)).toBe('is being divided, 1 member')
  expect(words('Dead', null)).toBe('gone')
  expect(words('not_allowed', null)).toBe('Kafka does not tell the retrier')
  expect(words('Assigning', 2)).toBe('Assigning, 2 members')
})
