import { expect, test } from 'vitest'
import { judgeBatch, ledgerOffsets } from './ledger.ts'

const batch = { batch: 7n, token: 'ours' }

test('a batch whose number and token Kafka committed was published', () => {
  expect(judgeBatch(batch, { batchNumber: 7n, token: 'ours' })).toBe('published')
})

test('a batch above the committed number was not published', () => {
  expect(judgeBatch(batch, { batchNumber: 6n, token: 'theirs' })).toBe('unpublished')
})

test('a batch is unknown where Kafka has forgotten the number, or has a higher one, or another batch of this number', () => {
  expect(judgeBatch(batch, { batchNumber: null, token: null })).toBe('unknown')
  expect(judgeBatch(batch, { batchNumber: 8n, token: 'ours' })).toBe('unknown')
  expect(judgeBatch(batch, { batchNumber: 7n, token: 'theirs' })).toBe('unknown')
  expect(judgeBatch({ ...batch, token: null }, { batchNumber: 7n, token: 'theirs' })).toBe('unknown')
})

test('the entry carries the token as metadata', () => {
  expect(ledgerOffsets('ledger', { batchNumber: 7n, token: 'ours' })).toEqual([
    { topic: 'ledger', partitions: [{ partition: 0, offset: '7', metadata: 'ours' }] },
  ])
})
