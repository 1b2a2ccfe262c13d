// A walk past a batch that cannot be decoded: a damaged one, or one that unpacks to more than is read.

import { createPartitionScan, keyText } from 'dlq-core/domain/staleness/partition-scan.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { KafkaMessage } from 'kafkajs'
import { expect, test } from 'vitest'
import { createPartitionRead } from './read-on.ts'

const message = (offset: number, more: Partial<KafkaMessage>) =>
  ({
    offset: String(offset),
    key: null,
    value: null,
    timestamp: '1',
    attributes: 0,
    headers: {},
    ...more,
  }) as KafkaMessage

test('whoever waits for what stands behind it is told that it is not known; those after it are fresh', async () => {
  const undecodable = { reason: 'damaged', firstOffset: '3', lastOffset: '5', bytes: 99 }
  const messages = [message(2, { key: Buffer.from('other') }), message(5, { undecodable }), message(6, {})]
  const read = createPartitionRead(
    {
      // Nothing here was sent by us.
      sql: null as unknown as Database,
      reader: {
        fetchRecords: async () => ({ kind: 'records', messages, nextOffset: 7n, highWatermark: 7n, isAborted: false }),
      },
    },
    { topic: 'orders', partition: 0 },
  )
  const open = (id: string, offset: bigint) => ({
    ...{ id, offset, start: offset + 1n, key: keyText(Buffer.from('key')), isTombstone: false },
  })
  const scan = createPartitionScan([open('before', 1n), open('within', 4n), open('after', 6n)], {
    ...{ maxBytes: 1e9, isCompacted: false, isOld: read.isOld },
  })
  await read.step(scan)
  expect(scan.decided().map(({ id, answer, reason }) => [id, answer, reason])).toEqual([
    ['before', 'unknown', 'undecodable'],
    ['within', 'unknown', 'undecodable'],
  ])
  expect(scan.covered().map(({ id }) => id)).toEqual(['after'])
})
