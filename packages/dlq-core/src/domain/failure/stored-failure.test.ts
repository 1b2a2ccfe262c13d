import { expect, test } from 'vitest'
import { failureOf, storedFailure } from './stored-failure.ts'

const unknown = { errorClass: null, errorStacktrace: null, consumerGroup: null }

test('each text of a failure is cut to its own limit, in bytes', () => {
  const long = 'é'.repeat(2_000_000)
  const stored = storedFailure({ errorMessage: long, errorClass: long, errorStacktrace: long, consumerGroup: long })
  const bytes = Object.fromEntries(Object.entries(stored).map(([column, text]) => [column, Buffer.byteLength(text!)]))
  expect(bytes).toEqual({ error_message: 65_536, error_class: 512, error_stacktrace: 1_048_576, consumer_group: 512 })
})

test('a text within its limit stays unchanged, and an unknown one stays unknown', () => {
  expect(storedFailure({ ...unknown, errorMessage: 'no stock' })).toEqual({
    ...{ error_message: 'no stock', error_class: null, error_stacktrace: null, consumer_group: null },
  })
})

test('every text becomes one that PostgreSQL can hold', () => {
  const stored = storedFailure({ errorMessage: 'a\0', errorClass: 'b\0', errorStacktrace: 'c\0', consumerGroup: 'd\0' })
  expect(Object.values(stored)).toEqual(['a\ufffd', 'b\ufffd', 'c\ufffd', 'd\ufffd'])
})

test('the failure can be read back from the columns', () => {
  const failure = { errorMessage: 'no stock', errorClass: 'OutOfStock', errorStacktrace: 'at a' }
  expect(failureOf(storedFailure({ ...failure, consumerGroup: 'billing' }))).toEqual(failure)
})
