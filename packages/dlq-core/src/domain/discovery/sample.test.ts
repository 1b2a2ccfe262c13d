import { expect, test } from 'vitest'
import { deadLetter } from '../../../fixtures/dead-letter.ts'
import { sampleRecord } from './sample.ts'

test('a sample says where a record is from and how it failed, and nothing of its content', () => {
  const record = deadLetter(
    [
      ['dlq-original-topic', 'orders'],
      ['dlq-original-partition', 3],
      ['dlq-original-offset', 41n],
      ['dlq-consumer-group', 'billing'],
      ['dlq-error-class', 'TypeError'],
      ['dlq-error-message', `a\0b${'😀'.repeat(300)}`],
      ['x', 'secret'],
      ['x', 'secret'],
    ],
    { offset: 7n, key: Buffer.from('secret'), value: Buffer.from('the secret') },
  )
  const sample = sampleRecord(record, [])
  expect(sample).toMatchObject({
    ...{ partition: 0, offset: '7', timestamp: '2026-11-21T13:35:08.781Z', key_bytes: 6, value_bytes: 10 },
    ...{ family: 'dlq-manager', original_topic: 'orders', original_topic_source: 'header' },
    ...{ original_partition: 3, original_offset: '41', consumer_group: 'billing', error_class: 'TypeError' },
  })
  expect(sample.header_names.at(-1)).toBe('x')
  expect(sample.header_names).toHaveLength(7)
  expect(sample.error_message).toBe(`a␀b${'😀'.repeat(248)}\ufffd`)
  expect(JSON.stringify(sample)).not.toContain('secret')
})

test.each([
  [0n, '1970-01-01T00:00:00.000Z'],
  [253_402_300_799_999n, '9999-12-31T23:59:59.999Z'],
  [253_402_300_800_000n, null],
  [-1n, null],
])('the time %s of a record is shown as %s', (timestamp, shown) => {
  expect(sampleRecord(deadLetter([], { timestamp }), []).timestamp).toBe(shown)
})

test('a record with nothing in it, and one with many headers, are sampled', () => {
  expect(sampleRecord(deadLetter([]), [{ dlq: 'orders.dlq.v1', original: 'mapped' }])).toMatchObject({
    ...{ key_bytes: null, value_bytes: null, family: null, original_topic: 'mapped', original_offset: null },
    ...{ consumer_group: null, error_class: null, header_names: [] },
  })
  const many = deadLetter(Array.from({ length: 60 }, (_, n) => [`h${n}`, '']))
  expect(sampleRecord(many, []).header_names).toHaveLength(50)
})
