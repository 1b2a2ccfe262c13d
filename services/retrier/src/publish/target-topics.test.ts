import { expect, test } from 'vitest'
import { refusalByName } from './target-topics.ts'

const settings = {
  dlqPatterns: ['*.dlq.v1'],
  allowedTargets: ['*'],
  ledgerTopic: 'dlq-manager.ledger',
  dlqTopics: new Set<string>(),
}

test.each([
  '__consumer_offsets',
  '__transaction_state',
  '_schemas',
  '_confluent-metrics',
  'connect-configs',
  'connect-offsets',
  'prod.connect-status',
  'app-store-changelog',
  'app-store-repartition',
  'dlq-manager.ledger',
])('nothing is sent to %s, which is internal, even where its name is allowed', (topic) => {
  expect(refusalByName(topic, settings)).toContain('internal topic')
  expect(refusalByName(topic, { ...settings, allowedTargets: [topic] })).toContain('internal topic')
})

test('nothing is sent to a topic outside the allowed targets', () => {
  const limited = { ...settings, allowedTargets: ['orders*', 'refunds'] }
  expect(refusalByName('orders.events.v1', limited)).toBeNull()
  expect(refusalByName('refunds', limited)).toBeNull()
  expect(refusalByName('payments', limited)).toContain('kafka.allowed_targets')
  expect(refusalByName('payments', settings)).toBeNull()
})
