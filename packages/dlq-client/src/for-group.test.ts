// The same table is read by the filter in Java (infra/docs/recipes/spring-boot.md), in for-group.kafka.test.ts.

import { expect, test } from 'vitest'
import { forGroup, isForGroup } from './for-group.ts'
import { forGroupCases } from './test-for-group-cases.ts'

test.each(forGroupCases)(
  'a record of orders with the header $header is handled by billing: $handled',
  async ({ header, handled }) => {
    const headers = header === undefined ? {} : { 'dlq-for-group': header === null ? null : Buffer.from(header) }
    const handledTopics: string[] = []
    await forGroup('billing', async ({ topic }) => {
      handledTopics.push(topic)
    })({ topic: 'orders', message: { headers } })
    expect(handledTopics).toEqual(handled ? ['orders'] : [])
  },
)

test('a header that stands there twice excludes nobody', () => {
  const header = Buffer.from('orders/search')
  expect(isForGroup('orders', { headers: { 'dlq-for-group': [header, header] } }, 'billing')).toBe(true)
  expect(isForGroup('orders', { headers: { 'dlq-for-group': [header] } }, 'billing')).toBe(false)
})

test('a record without headers is handled', () => {
  expect(isForGroup('orders', {}, 'billing')).toBe(true)
})

test('a header that its record inherits, or that has no value, excludes nobody', () => {
  expect(isForGroup('orders', { headers: Object.create({ 'dlq-for-group': 'orders/search' }) }, 'billing')).toBe(true)
  for (const value of [undefined, [undefined], [null], []])
    expect(isForGroup('orders', { headers: { 'dlq-for-group': value as never } }, 'billing')).toBe(true)
})

test('the offset waits for the handler, and its fault is the consumer’s', async () => {
  const failing = forGroup('billing', () => Promise.reject(new Error('not handled')))
  await expect(failing({ topic: 'orders', message: {} })).rejects.toThrow('not handled')
  await expect(failing({ topic: 'orders', message: { headers: { 'dlq-for-group': 'orders/search' } } })).resolves.toBe(
    undefined,
  )
})
