import { int32, int64 } from 'dlq-testing/rows/big-endian.ts'
import { expect, test } from 'vitest'
import { readable, readableHeaders } from './readable-record.ts'

test.each([
  ['kafka_dlt-original-partition', int32(7), '7', 'number'],
  ['kafka_dlt-original-offset', int64(2n ** 62n), '4611686018427387904', 'number'],
  ['x-original-timestamp', int64(1_795_268_108_781n), '1795268108781', 'number'],
  ['retry_topic-original-timestamp', Buffer.from('01a1fe0c22ed', 'hex'), '1795263570669', 'number'],
  ['kafka_dlt-original-partition', Buffer.from('7'), '7', 'number'],
  ['kafka_dlt-original-partition', Buffer.from('seven'), 'seven', 'text'],
  ['trace-id', Buffer.from('Ünlucky 🚚\n'), 'Ünlucky 🚚\n', 'text'],
  ['trace-id', int32(7), 'AAAABw==', 'base64'],
  ['trace-id', Buffer.from([0xff, 0xfe]), '//4=', 'base64'],
  ['trace-id', Buffer.alloc(0), '', 'text'],
  ['trace-id', null, null, 'text'],
] as const)('the header %s of %j is shown as %s', (name, bytes, value, encoding) => {
  expect(readableHeaders([[name, bytes]])).toEqual([
    { name, value, encoding, ...(encoding === 'number' && { base64: bytes.toString('base64') }) },
  ])
})

test('headers keep their order and repeat', () => {
  const headers = [
    ['a', Buffer.from('1')],
    ['b', null],
    ['a', Buffer.from('2')],
  ] as const
  expect(readableHeaders(headers).map(({ name, value }) => [name, value])).toEqual([
    ['a', '1'],
    ['b', null],
    ['a', '2'],
  ])
})

test('a key is text, or base64', () => {
  expect(readable(Buffer.from('customer-1'))).toEqual({ value: 'customer-1', encoding: 'text' })
  expect(readable(Buffer.from([0, 1]))).toEqual({ value: 'AAE=', encoding: 'base64' })
})
