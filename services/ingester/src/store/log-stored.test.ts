import type { Log } from 'dlq-core/runtime/log.ts'
import { expect, test } from 'vitest'
import { logStored } from './log-stored.ts'

/** The lines that a log of the level gets. */
function linesAt(level: 'info' | 'debug', messages: { id: string; dlq_offset: bigint }[]): object[] {
  const lines: object[] = []
  const write = (at: string) => (fields: object, event: string) => void lines.push({ at, event, ...fields })
  const log = { info: write('info'), debug: write('debug'), isLevelEnabled: (of: string) => of === level }
  logStored(log as unknown as Log, { topic: 'orders.dlq.v1', partition: 3 }, { messages })
  return lines
}

const place = { topic: 'orders.dlq.v1', partition: 3 }
const messages = [
  { id: 'a', dlq_offset: 7n },
  { id: 'b', dlq_offset: 9_007_199_254_740_993n },
]
const batch = { at: 'info', event: 'batch_stored', ...place, count: 2, firstId: 'a', lastId: 'b' }

test('a batch is one line at info, with its count and the first and the last id', () => {
  expect(linesAt('info', messages)).toEqual([batch])
})

test('each message is a line at debug, with id, topic, partition and offset', () => {
  expect(linesAt('debug', messages)).toEqual([
    batch,
    { at: 'debug', event: 'message_stored', messageId: 'a', ...place, offset: '7' },
    { at: 'debug', event: 'message_stored', messageId: 'b', ...place, offset: '9007199254740993' },
  ])
})

test('a batch without new messages is no line', () => {
  expect(linesAt('debug', [])).toEqual([])
})
