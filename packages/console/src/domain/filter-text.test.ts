import fc from 'fast-check'
import { expect, test } from 'vitest'
import { filterNames } from './addresses.ts'
import { beginsWithFilter, filterFromText, textOfFilter } from './filter-text.ts'

test('names with values become filters, and the rest is text of the error', () => {
  expect(filterFromText('status:DEAD,PENDING topic:orders.* did not answer')).toEqual({
    status: 'DEAD,PENDING',
    topic: 'orders.*',
    q: 'did not answer',
  })
})

test('values with spaces stand in quotation marks, and JSON needs none', () => {
  expect(filterFromText('key:"a \\"b\\" c" payload:{"order_id": "4711"}')).toEqual({
    key: 'a "b" c',
    payload: '{"order_id": "4711"}',
  })
})

test('short names are those that people type', () => {
  expect(filterFromText('since:-24h class:TimeoutError')).toEqual({ from: '-24h', error_class: 'TimeoutError' })
})

test('a name that no filter has is text, and nothing is nothing', () => {
  expect(filterFromText('error:42')).toEqual({ q: 'error:42' })
  expect(filterFromText('  ')).toBeNull()
})

test('a chip that is changed by hand begins with the filter that it is', () => {
  expect(textOfFilter('q', 'did not answer')).toBe('q:"did not answer"')
  expect(textOfFilter('payload', '{"order_id": "4711"}')).toBe('payload:{"order_id": "4711"}')
  expect(textOfFilter('topic', 'orders.*')).toBe('topic:orders.*')
  const name = fc.constantFrom(...filterNames.filter((one) => one !== 'status'))
  fc.assert(
    fc.property(name, fc.string({ minLength: 1, unit: 'grapheme' }), (name, value) => {
      expect(filterFromText(textOfFilter(name, value))).toEqual({ [name]: value })
    }),
  )
})

test('a search is a filter where it begins with one', () => {
  for (const text of ['status:dead topic:orders', 'since:-24h', 'key:{"json":7}'])
    expect(beginsWithFilter(text)).toBe(true)
  for (const text of ['4711', 'error:42', 'key: not found', 'no answer status:DEAD', 'payload.id:7'])
    expect(beginsWithFilter(text)).toBe(false)
})

test('words behind q: belong to it, and a state may be typed in small letters', () => {
  expect(filterFromText('q:did not answer topic:orders')).toEqual({ q: 'did not answer', topic: 'orders' })
  expect(filterFromText('status:dead,pending')).toEqual({ status: 'DEAD,PENDING' })
})
