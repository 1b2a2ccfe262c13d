import { describe, expect, test } from 'vitest'
import { candidateNames } from './candidate-name.ts'

const confidenceOf = (topic: string, beside: string[] = []) =>
  candidateNames([topic, ...beside]).find((of) => of.topic === topic)?.confidence ?? null

describe('the default name of each framework is a candidate', () => {
  test.each([
    ['Spring since 3.3', 'orders-dlt'],
    ['Spring before', 'orders.DLT'],
    ['@RetryableTopic', 'orders-eu-dlt'],
    ['Spring Cloud Stream', 'error.orders.eu.billing'],
    ['SmallRye', 'dead-letter-topic-orders-in'],
    ['share groups', 'dlq.orders'],
    ['our own', 'orders.dlq.v1'],
    ['a habit', 'orders-deadletter'],
    ['a habit', 'orders_dlq'],
    ['a habit', 'dead-letters'],
  ])('%s: %s', (_, topic) => expect(confidenceOf(topic)).toBe('name'))

  test.each([
    ['Connect has none; its manual writes', 'dlq-file-sink'],
    ['Karafka has none; its manual writes', 'dead_messages'],
    ['ksqlDB', 'default_ksql_processing_log'],
    ['a habit', 'orders_error'],
    ['a habit', 'orders.poison'],
    ['a habit', 'orders-parking-lot'],
    ['a habit', 'orders.failed'],
    ['a habit', 'orders-failure'],
    ['a habit', 'Orders_PoisonPill.v12'],
    ['a habit', 'dead.message'],
  ])('weakly, %s: %s', (_, topic) => expect(confidenceOf(topic)).toBe('weak'))
})

test.each([
  ...[
    'orders',
    'orders-retry-0',
    'orders-dlt-retry',
    'dlq-orders-retry-0',
    'orders-dlq-audit',
    'errors-seen',
    'terror',
  ],
  ...['__consumer_offsets', '_schemas', '__orders-dlt'],
])('%s is none', (topic) => expect(confidenceOf(topic)).toBeNull())

test('a topic whose own DLQ topic exists is where records come from', () => {
  expect(confidenceOf('form_errors', ['form_errors-dlt'])).toBeNull()
  expect(confidenceOf('error.events.v1', ['error.events.v1.dlq'])).toBeNull()
  expect(confidenceOf('dlq.orders', ['dlq.orders-dlt'])).toBeNull()
})

test.each(['orders.DLQ', 'orders.dlq.v12', 'orders-dead.letter', 'orders_deadletters', 'dead-letter-topic-orders'])(
  '%s, whose name cannot mean where records come from, stays one beside its own DLQ topic',
  (topic) => expect(confidenceOf(topic, [`${topic}-dlt`])).toBe('name'),
)

test('a DLQ topic stays one when its handler has a DLQ topic of its own', () => {
  expect(candidateNames(['orders', 'orders-dlt', 'orders-dlt-dlt']).map(({ topic }) => topic)).toEqual([
    'orders-dlt',
    'orders-dlt-dlt',
  ])
})
