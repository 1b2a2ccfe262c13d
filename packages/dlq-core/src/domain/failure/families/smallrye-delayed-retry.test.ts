import { expect, test } from 'vitest'
import { deadLetter } from '../../../../fixtures/dead-letter.ts'
import { readFailure } from '../read-failure.ts'

const set = (topic: string, offset: string, reason: string, cause: string | null = null) =>
  [
    ['delayed-retry-exception-class-name', 'app.OrderRejected'],
    ['delayed-retry-reason', reason],
    ...(cause === null ? [] : [['delayed-retry-cause', cause] as const]),
    ['delayed-retry-topic', topic],
    ['delayed-retry-partition', '1'],
    ['delayed-retry-offset', offset],
  ] as const
const chain = [
  ...set('orders_retry_50000', '5', 'fourth'),
  ...set('orders_retry_20000', '6', 'third'),
  ...set('orders_retry_10000', '7', 'second'),
  ...set('orders', '41', 'first'),
]
const counters = [
  ['delayed-retry-original-timestamp', '1795260903741'],
  ['delayed-retry-first-processing-timestamp', '1795260904000'],
  ['delayed-retry-count', '3'],
] as const

test('the coordinate is the main topic’s, which stands last, the error the newest, which stands first', () => {
  expect(readFailure(deadLetter([...chain, ['x-app', 'a'], ...counters]))).toMatchObject({
    family: 'smallrye-delayed-retry',
    context: {
      originalTopic: 'orders',
      originalPartition: 1,
      originalOffset: 41n,
      originalTimestamp: 1_795_260_903_741n,
      consumerGroup: null,
      errorClass: 'app.OrderRejected',
      errorMessage: 'fourth',
      attempts: 4,
    },
  })
})

test('after a republish with its headers the first set is the new failure and the last one is stale', () => {
  const record = deadLetter([...set('orders', '99', 'again'), ...chain, ...counters])
  expect(readFailure(record).context).toMatchObject({
    originalTopic: 'orders',
    originalOffset: 99n,
    originalTimestamp: null,
    errorMessage: 'again',
    attempts: 1,
  })
})

test('after a republish without its counter the newest chain is told from the stale one', () => {
  const again = [...set('orders_retry_10000', '70', 'again'), ...set('orders', '99', 'new')]
  expect(readFailure(deadLetter([...again, ...chain, ...counters])).context).toMatchObject({
    originalOffset: 99n,
    errorMessage: 'again',
    attempts: 2,
  })
})

test('a republish into another main topic is told by that topic not being a retry topic', () => {
  expect(readFailure(deadLetter([...set('orders-v2', '3', 'again'), ...chain])).context).toMatchObject({
    originalTopic: 'orders-v2',
    originalOffset: 3n,
    attempts: 1,
  })
})

test('a main topic whose name ends as a retry topic’s does is found all the same', () => {
  const headers = [...set('orders_retry_10000', '7', 'second'), ...set('orders_2024', '41', 'first')]
  expect(readFailure(deadLetter(headers)).context).toMatchObject({ originalTopic: 'orders_2024', originalOffset: 41n })
})

test('coordinates that are incomplete are not borrowed from another set', () => {
  const headers = [...set('orders_retry_10000', '7', 'second'), ...set('orders', '41', 'first')]
  const without = (offset: string) => readFailure(deadLetter(headers.filter(([, value]) => value !== offset))).context
  expect(without('41')).toMatchObject({ originalTopic: 'orders', originalPartition: 1, originalOffset: null })
  expect(without('7')).toMatchObject({ originalTopic: 'orders', originalPartition: 1, originalOffset: 41n })
  const again = [...set('orders', '99', 'again').filter(([, value]) => value !== '99'), ...headers]
  expect(readFailure(deadLetter(again)).context).toMatchObject({ originalTopic: 'orders', originalOffset: null })
})

test('where no set names a main topic, the counter tells the attempts', () => {
  const headers = [...set('orders_retry_10000', '7', 'second'), ...set('', '41', 'first')]
  const read = (more: readonly (readonly [string, string])[]) => readFailure(deadLetter([...headers, ...more])).context
  expect(read(counters)).toMatchObject({ originalTopic: null, originalTimestamp: 1_795_260_903_741n, attempts: 4 })
  expect(read([])).toMatchObject({ originalTopic: null, originalOffset: null, attempts: null })
})

test('sets that a tool has regrouped by name are put together again', () => {
  const headers = [...set('orders_retry_10000', '7', 'second'), ...set('orders', '41', 'first')]
  const regrouped = headers.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  expect(readFailure(deadLetter(regrouped)).context).toMatchObject({ originalTopic: 'orders', originalOffset: 41n })
})
