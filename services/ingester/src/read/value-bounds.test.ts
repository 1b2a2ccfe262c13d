import { readDeadLetter } from 'dlq-core/domain/message/new-message.ts'
import { writtenText } from 'dlq-core/domain/record/header-json.ts'
import { defaultRetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { expect, test } from 'vitest'
import { recordAt } from '../store/test-batch.ts'
import { withinBounds } from './value-bounds.ts'

const settings = { policyOf: () => defaultRetryPolicy, mappings: [], dlqPatterns: ['*.dlq.v1'] }
const read = (record: ReturnType<typeof recordAt>) => readDeadLetter(record, settings, new Date(), 0.5).message

test('a value of the greatest size is stored', () => {
  const record = recordAt(1, { value: 'x'.repeat(100) })
  expect(withinBounds(record, 100)).toBe(record)
  expect(read(record)).toMatchObject({ unstored_value_bytes: null, next_retry_at: expect.any(Date) })
})

test('a larger value is left out: its message says how large it is, and is not sent by itself', () => {
  const message = read(withinBounds(recordAt(1, { key: Buffer.from('k'), value: 'x'.repeat(101) }), 100))
  expect(message).toMatchObject({
    record_key: Buffer.from('k'),
    record_value: null,
    payload: null,
    unstored_value_bytes: 101n,
    next_retry_at: null,
    original_topic: 'orders.events.v1',
    dlq_offset: 1n,
    error_message: 'no stock 1 (its value of 101 bytes is too large to be stored)',
  })
})

test('of a record with megabytes of headers the coordinates are stored', () => {
  const message = read(withinBounds(recordAt(1, { headers: { big: Buffer.alloc(5 * 1024 * 1024) } }), 100))
  expect(message).toMatchObject({
    dlq_offset: 1n,
    error_class: 'UndecodableBatch',
    next_retry_at: null,
  })
  expect(writtenText(message.record_headers!)).toBe('[]')
  expect(message.error_message).toMatch(/key and headers of 52\d+ bytes are too large to be stored/)
})
