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

const [ours, older, later, elsewhere, gone] = ['1', '2', '3', '4', '5'].map(
  (digit) => `0199${digit}111-0000-7000-8000-000000000000`,
) as [string, string, string, string, string]

test('a record that we sent for this message or an older one of its partition is not newer, whoever copied the mark', async () => {
  const origin = (id: string, offset: bigint | null, more = {}) => ({
    ...{ id, original_topic: 'orders', original_partition: 0, original_offset: offset },
    ...more,
  })
  const asked: string[][] = []
  const sql = Object.assign(
    async (_: unknown, ids: string[]) => {
      asked.push(ids)
      const places = [origin(older, 2n), origin(later, 3n), origin(elsewhere, 1n, { original_topic: 'payments' })]
      return places.filter(({ id }) => ids.includes(id))
    },
    { array: (ids: string[]) => ids },
  ) as unknown as Database
  const marked = (offset: number, mark: string, key = 'key') =>
    message(offset, { key: Buffer.from(key), headers: { 'dlq-message-id': Buffer.from(mark) } })
  const fetches = [
    [marked(3, ours.toUpperCase()), marked(4, older), marked(5, 'no id'), marked(6, later, 'other')],
    [marked(7, older), marked(8, later), marked(9, elsewhere), marked(10, gone)],
  ]
  const read = createPartitionRead(
    {
      sql,
      reader: {
        fetchRecords: async ({ offset }) => {
          const messages = fetches.shift()!
          return { kind: 'records', messages, nextOffset: offset + 4n, highWatermark: 99n, isAborted: false }
        },
      },
    },
    { topic: 'orders', partition: 0 },
  )
  const isOld = (republished: string | null) =>
    read.isOld(
      { offset: 9n, key: null, timestamp: 1, republished },
      { id: ours, offset: 2n, start: 3n, key: '', isTombstone: false },
    )
  const key = keyText(Buffer.from('key'))
  const scan = createPartitionScan([{ id: ours, offset: 2n, start: 3n, key, isTombstone: false }], {
    ...{ maxBytes: 1e9, isCompacted: false, isOld: read.isOld },
  })
  await read.step(scan)
  // The fifth record of the key has no mark of ours.
  expect(scan.decided()).toMatchObject([{ id: ours, answer: 'superseded', newer_offset: 5n }])
  await read.step(
    createPartitionScan([{ id: ours, offset: 2n, start: 7n, key, isTombstone: false }], {
      ...{ maxBytes: 1e9, isCompacted: false, isOld: read.isOld },
    }),
  )
  expect([ours, older, later, elsewhere, gone, null].map(isOld)).toEqual([true, true, false, false, false, false])
  // Each is asked for once, and none of a key that nobody waits for.
  expect(asked).toEqual([
    [ours, older],
    [later, elsewhere, gone],
  ])
})

test.each([
  [{ kind: 'gone' }, 'moved'],
  [{ kind: 'records', messages: [], nextOffset: 2n, highWatermark: 2n, isAborted: false }, 'end'],
])('a fetch that is answered %o ends the walk: %s', async (fetched, kind) => {
  const reader = { fetchRecords: async () => fetched } as never
  const read = createPartitionRead({ sql: null as unknown as Database, reader }, { topic: 'orders', partition: 0 })
  const scan = createPartitionScan([{ id: ours, offset: 1n, start: 2n, key: '', isTombstone: false }], {
    ...{ maxBytes: 1e9, isCompacted: false, isOld: read.isOld },
  })
  expect(await read.step(scan)).toEqual({ kind })
})

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
