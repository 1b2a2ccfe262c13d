import { expect, test } from 'vitest'
import { filterFromText } from './filter-text.ts'

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
