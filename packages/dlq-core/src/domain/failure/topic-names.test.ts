import fc from 'fast-check'
import { expect, test } from 'vitest'
import { captureGlob, matchesTopicGlobs } from './topic-globs.ts'
import { guessOriginalTopic, replayHazard, resolveOriginalTopic } from './topic-names.ts'

test.each([
  ['*.dlq.v1', 'orders.dlq.v1', true],
  ['*.dlq.v1', 'orders.dlq.v10', false],
  ['*.dlq.v?', 'a.b.dlq.v2', true],
  ['dlq.*', 'orders.dlq.x', false],
  ['orders', 'orders', true],
  ['orders', 'orders2', false],
  ['*', '', true],
  ['?', '', false],
  ['', '', false],
  ['a.c', 'abc', false],
  ['*-DLT', 'orders-dlt', false],
  ['*-dlt, *.DLT', 'orders.DLT', true],
  [['*-dlt', 'dead-letter-topic-*'], 'dead-letter-topic-orders', true],
  [[], 'orders', false],
])('glob %o and topic %o match: %o', (globs, topic, matches) => {
  expect(matchesTopicGlobs(globs, topic)).toBe(matches)
})

test('a glob matches as the regular expression that means the same', () => {
  const meaning = new Map([
    ['*', '.*'],
    ['?', '.'],
    ['.', '\\.'],
  ])
  const piece = fc.constantFrom('a', 'b', '.', '*', '?')
  const topic = fc.array(fc.constantFrom('a', 'b', '.'), { maxLength: 12 })
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), topic, (pieces, letters) => {
      const pattern = pieces.map((piece) => meaning.get(piece) ?? piece).join('')
      const captures = captureGlob(pieces.join(''), letters.join(''))
      expect(captures !== null).toBe(new RegExp(`^${pattern}$`).test(letters.join('')))
      if (captures === null || pieces.includes('?')) return
      let star = 0
      expect(pieces.map((piece) => (piece === '*' ? captures[star++] : piece)).join('')).toBe(letters.join(''))
    }),
    { numRuns: 5_000 },
  )
})

test('a glob that makes backtracking matchers explode is matched quickly', () => {
  expect(captureGlob(`${'*a'.repeat(100)}b`, 'a'.repeat(249))).toBeNull()
})

test.each([
  ['orders-dlt', 'orders'],
  ['orders.DLT', 'orders'],
  ['orders.eu.dlq.v1', 'orders.eu'],
  ['orders.dlq', 'orders'],
  ['orders-dlq', 'orders'],
  ['orders_dlq', 'orders'],
  ['dead-letter-topic-orders', 'orders'],
  ['dlq.orders', 'orders'],
  ['error.orders.billing', 'orders'],
  ['error.orders.eu.billing', 'orders.eu'],
  ['error.orders', null],
  ['error..billing', null],
  ['dlq.', null],
  ['.dlq', null],
  ['orders', null],
  ['ordersdlq', null],
  ['dlq', null],
  ['', null],
  [`${'a'.repeat(249)}-dlt`, null],
])('the original topic of %o is guessed to be %o', (dlqTopic, original) => {
  expect(guessOriginalTopic(dlqTopic)).toBe(original)
})

test('the header wins over a mapping, a mapping over a guess, and without them the DLQ topic is used', () => {
  const mappings = [
    { dlq: 'parked.*.*', original: '$2.$1' },
    { dlq: '*-dlt', original: '$1.v1' },
    { dlq: 'broken.*', original: '$2' },
  ]
  const resolve = (dlqTopic: string, originalTopic: string | null = null) =>
    resolveOriginalTopic({ originalTopic }, dlqTopic, mappings)
  expect(resolve('orders-dlt', 'orders')).toEqual({ topic: 'orders', source: 'header' })
  expect(resolve('orders-dlt')).toEqual({ topic: 'orders.v1', source: 'mapping' })
  expect(resolve('parked.eu.orders')).toEqual({ topic: 'orders.eu', source: 'mapping' })
  expect(resolve('orders.dlq')).toEqual({ topic: 'orders', source: 'guessed' })
  expect(resolve('parking-lot')).toEqual({ topic: 'parking-lot', source: null })
  expect(resolve('broken.orders')).toEqual({ topic: 'broken.orders', source: null })
  expect(resolve('parking-lot', '')).toEqual({ topic: 'parking-lot', source: null })
})

const about = { source: 'header', dlqPatterns: 'parked.*', partition: 0 } as const

test.each(['orders', 'orders.v1', 'retry', 'orders-retry-policy', 'connect', 'orders-status', '_orders', 'dlqueue'])(
  'messages may be sent to %o by themselves',
  (topic) => {
    expect(replayHazard(topic, about)).toBeNull()
    expect(replayHazard(topic, { ...about, source: 'caller', partition: null })).toBeNull()
  },
)

test.each([
  ['__consumer_offsets', 'internal'],
  ['_schemas', 'internal'],
  ['_confluent-metrics', 'internal'],
  ['app-KSTREAM-REDUCE-STATE-STORE-0000000001-repartition', 'internal'],
  ['app-store-changelog', 'internal'],
  ['app-KTABLE-FK-JOIN-SUBSCRIPTION-RESPONSE-0000000014-topic', 'internal'],
  ['connect-offsets', 'internal'],
  ['docker-connect-configs', 'internal'],
  ['_connect_status', 'internal'],
  ['mm2-offset-syncs.b.internal', 'internal'],
  ['parked.orders', 'dlq-topic'],
  ['orders.dlq.v1', 'dlq-topic'],
  ['orders-dead-letters', 'dlq-topic'],
  ['dead_letter_queue', 'dlq-topic'],
  ['orders-retry', 'retry-topic'],
  ['orders-retry-0', 'retry-topic'],
  ['orders-retry-5000', 'retry-topic'],
  ['orders-retry-5000-1', 'retry-topic'],
  ['orders_retry_10000', 'retry-topic'],
  ['019c7a99-6840-77a8-86ab-fbe1ca316b73', 'uuid'],
  ['', 'unknown'],
  ['..', 'unknown'],
  ['no such topic', 'unknown'],
  ['a'.repeat(250), 'unknown'],
])('%o is never sent to by itself: %s', (topic, hazard) => {
  expect(replayHazard(topic, about)).toBe(hazard)
})

test('the origin of the topic, the partition and the family may forbid it as well', () => {
  expect(replayHazard('orders', { ...about, source: 'guessed' })).toBe('guessed')
  expect(replayHazard('orders', { ...about, source: null })).toBe('unknown')
  expect(replayHazard('orders', { ...about, partition: -1 })).toBe('negative-partition')
  expect(replayHazard('orders', { ...about, family: 'ksqldb' })).toBe('not-replayable')
})

test('a share group’s topic id is told from a topic name of the same length', () => {
  const shareGroup = { ...about, family: 'share-group' } as const
  expect(replayHazard('5L6g3nShTkeMCtK--X86sw', shareGroup)).toBe('uuid')
  expect(replayHazard('customer-orders-events', shareGroup)).toBeNull()
  expect(replayHazard('5L6g3nShTkeMCtK--X86sw', about)).toBeNull()
})
