import { expect, test } from 'vitest'
import { sampleTopics } from './sample-topic.ts'

const topics = [
  { topic: 'invoices', counterparts: ['invoices.dlq.v1'] },
  { topic: 'orders', counterparts: ['orders.dlq.v1', 'orders.old.dlq'] },
]

test('the sample is a known topic, by either of its names', () => {
  expect(sampleTopics('ord*', topics)).toEqual({ original_topic: 'orders', dlq_topic: 'orders.dlq.v1' })
  expect(sampleTopics('orders.old.dlq', topics)).toEqual({ original_topic: 'orders', dlq_topic: 'orders.old.dlq' })
  expect(sampleTopics('*', topics).original_topic).toBe('invoices')
})

test('a pattern that matches nothing yet has a name of its own', () => {
  expect(sampleTopics('pay*.v?', topics)).toEqual({ original_topic: 'payx.vx', dlq_topic: null })
})
