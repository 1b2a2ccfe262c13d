import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
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

test('class and message keep no stack trace in memory that they are a part of', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const read = (at: number) => {
    const errorStacktrace = Buffer.from(`com.example.OutOfStock: no stock of ${at}, ${'x'.repeat(20_000)}`).toString()
    const [errorClass, errorMessage] = [errorStacktrace.slice(0, 22), errorStacktrace.slice(24, 39)]
    const { error_class, error_message } = storedFailure({ ...unknown, errorClass, errorMessage, errorStacktrace })
    return { error_class, error_message }
  }
  expect(read(1)).toEqual({ error_class: 'com.example.OutOfStock', error_message: 'no stock of 1, ' })
  collect()
  const before = process.memoryUsage().heapUsed
  const kept = Array.from({ length: 1000 }, (_, at) => read(at))
  collect()
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(5_000_000)
  expect(kept).toHaveLength(1000)
})

test('the failure can be read back from the columns', () => {
  const failure = { errorMessage: 'no stock', errorClass: 'OutOfStock', errorStacktrace: 'at a' }
  expect(failureOf(storedFailure({ ...failure, consumerGroup: 'billing' }))).toEqual(failure)
})
