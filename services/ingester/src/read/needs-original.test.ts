import { readFailure } from 'dlq-core/domain/failure/read-failure.ts'
import { expect, test } from 'vitest'
import { deadLetter } from '../../../../packages/dlq-core/fixtures/dead-letter.ts'
import { needsOriginal } from './needs-original.ts'

type Letter = { topic?: string; partition?: string; offset?: string; key?: Buffer | null; value?: Buffer | null }

function decide({ topic = 'orders', partition = '3', offset = '42', key = null, value = null }: Letter) {
  const record = {
    ...deadLetter([
      ['__dlq.errors.topic', topic],
      ['__dlq.errors.partition', partition],
      ['__dlq.errors.offset', offset],
      ['__dlq.errors.group', 'billing'],
    ]),
    key,
    value,
  }
  return needsOriginal(record, readFailure(record))
}

test('a share group’s dead letter without key and value needs the record at its original coordinates', () => {
  expect(decide({})).toEqual({ topic: 'orders', partition: 3, offset: 42n })
})

test('the original record may be in a topic to which no message may be sent', () => {
  for (const topic of ['orders.dlq', 'orders-retry-0', '__consumer_offsets'])
    expect(decide({ topic })).toMatchObject({ topic })
})

test('no record is fetched where key or value were copied', () => {
  expect(decide({ key: Buffer.alloc(0) })).toBeNull()
  expect(decide({ value: Buffer.alloc(0) })).toBeNull()
})

test.each([
  ['the topic is given by its id', { topic: 'dGhpc0lzQVRvcGljSWQxMg' }],
  ['the topic is given by a UUID', { topic: '0198f3a2-7b1c-7def-8abc-0123456789ab' }],
  ['no topic can have the name', { topic: 'orders/1' }],
  ['the partition is negative', { partition: '-1' }],
  ['the partition is no number', { partition: 'three' }],
  ['the offset is negative', { offset: '-1' }],
  ['the offset is no number', { offset: '' }],
])('no record is fetched where %s', (_what, letter) => {
  expect(decide(letter)).toBeNull()
})

test('no record is fetched for a tombstone of another family', () => {
  const record = {
    ...deadLetter([
      ['__connect.errors.topic', 'orders'],
      ['__connect.errors.partition', '3'],
      ['__connect.errors.offset', '42'],
    ]),
    key: null,
    value: null,
  }
  expect(readFailure(record).context).toMatchObject({ originalTopic: 'orders', originalOffset: 42n })
  expect(needsOriginal(record, readFailure(record))).toBeNull()
})
