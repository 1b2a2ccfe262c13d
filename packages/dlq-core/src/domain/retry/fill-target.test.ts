import { expect, test } from 'vitest'
import { fillTarget, targetOf, targetTemplate } from './fill-target.ts'

const message = { original_topic: 'orders', consumer_group: 'billing', target_topic: null }

test('a template names the topic and the group of each message', () => {
  expect(fillTarget('{topic}.{group}.retry', message)).toBe('orders.billing.retry')
  expect(fillTarget('plain', message)).toBe('plain')
  expect(fillTarget('{group}-{group}', message)).toBe('billing-billing')
})

test('a group of a retry topic is the group that reads the topic itself', () => {
  expect(fillTarget('{topic}.{group}', { ...message, consumer_group: 'billing-retry-0' })).toBe('orders.billing')
})

test('a group that is not known, or that is no part of a name, leaves no topic’s name', () => {
  const legal = /^[\w.-]{1,249}$/
  expect(fillTarget('{topic}.{group}', { ...message, consumer_group: null })).not.toMatch(legal)
  expect(fillTarget('{topic}.{group}', { ...message, consumer_group: 'a b' })).not.toMatch(legal)
  // A text that looks like a placeholder is not filled again, and $& stands for nothing.
  expect(fillTarget('{topic}.{group}', { original_topic: '{group}', consumer_group: '$&' })).toBe('{group}.$&')
})

test('a message’s own target comes before the policy’s, and that before its original topic', () => {
  const policy = { redirectTopic: '{topic}.{group}.retry' }
  expect(targetOf({ ...message, target_topic: 'mended' }, policy)).toBe('mended')
  expect(targetOf(message, policy)).toBe('orders.billing.retry')
  expect(targetOf(message, { redirectTopic: null })).toBe('orders')
})

test.each([
  ['{topic}.{group}.retry', true],
  ['orders', true],
  ['', true],
  ['{Topic}', false],
  ['{topic', false],
  ['..', false],
  ['a b', false],
])('%j is a template: %s', (text, is) => expect(targetTemplate.test(text)).toBe(is))
