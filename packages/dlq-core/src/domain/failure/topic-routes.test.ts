import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { areOtherGroups, isOpen, isSameFlow, routeStates, stateByConfiguration } from './topic-routes.ts'

const mappings = [
  { dlq: 'error.*.billing', original: '$1' },
  { dlq: 'shared', original: 'billing.*' },
  { dlq: 'shared', original: 'orders' },
]
const stateOf = (dlq_topic: string, original_topic: string, mode: 'ask' | 'trust' = 'ask') =>
  stateByConfiguration({ dlq_topic, original_topic }, { mappings, mode })

describe('a route about which nobody has decided', () => {
  test.each([
    ['orders-dlt', 'orders'],
    ['orders.DLT', 'orders'],
    ['orders.dlq.v1', 'orders'],
    ['dlq.orders', 'orders'],
    ['dead-letter-topic-orders', 'orders'],
    ['error.orders.eu.shop', 'orders.eu'],
    ['orders-dlt', 'orders-retry-0'],
    ['orders-dlt', 'orders-retry-5000-1'],
    ['orders-retry-dlt', 'orders'],
    ['orders.dlq.v1', 'orders.events.v2'],
  ])('is open by name from %s to %s', (dlq, original) => {
    expect(stateOf(dlq, original)).toBe('by_name')
  })

  test.each([
    ['error.orders.billing', 'orders'],
    ['shared', 'billing.invoices'],
    ['shared', 'orders'],
    ['shared', 'orders-retry-0'],
  ])('is open by mapping from %s to %s', (dlq, original) => {
    expect(stateOf(dlq, original)).toBe('by_mapping')
  })

  test.each([
    ['evil.dlq.v1', 'payments'],
    ['evil.dlq.v1', 'evil.payments'],
    ['evil.dlq.v1', 'evil.events.v1.payments'],
    ['evil-payments-dlt', 'payments'],
    ['payments', 'payments.dlq'],
    ['shared', 'payments'],
  ])('waits from %s to %s, unless every route is trusted', (dlq, original) => {
    expect(stateOf(dlq, original)).toBe('waiting')
    expect(isOpen(stateOf(dlq, original, 'trust'))).toBe(true)
  })

  test('is never open by a name that does not hold the original topic’s', () => {
    const name = fc.stringMatching(/^[a-z][a-z.-]{0,12}$/)
    fc.assert(
      fc.property(name, name, (dlq, original) => {
        if (stateOf(dlq, original) === 'by_name')
          expect(dlq).toContain(original.split('.events.v')[0]!.split(/[._-]retry/)[0])
      }),
    )
  })
})

test('a route is open unless it waits or is blocked', () => {
  expect(routeStates.filter(isOpen)).toEqual(['by_name', 'by_mapping', 'approved'])
})

test('a record stands where it was sent, or in a retry topic of that', () => {
  expect(isSameFlow('orders', 'orders')).toBe(true)
  expect(isSameFlow('orders-retry-1000', 'orders')).toBe(true)
  expect(isSameFlow('orders', 'orders-retry-1000')).toBe(false)
  expect(isSameFlow('orders.enriched', 'orders')).toBe(false)
})

test('groups differ where both are known, by more than the suffix of a retry topic', () => {
  expect(areOtherGroups('billing', 'search')).toBe(true)
  expect(areOtherGroups('billing', 'billing-retry-0')).toBe(false)
  expect(areOtherGroups(null, 'billing')).toBe(false)
})
