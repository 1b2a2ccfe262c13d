import { createRequire } from 'node:module'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  bytesAlone,
  type CheckedRecord,
  checkRecord,
  type TopicLimits,
  toLimits,
  unknownLimits,
} from './topic-limits.ts'

const require = createRequire(import.meta.url)
const encodeRecord = require('kafkajs/src/protocol/recordBatch/record/v0') as (record: object) => object
const { RecordBatch } = require('kafkajs/src/protocol/recordBatch/v0') as {
  RecordBatch: (batch: { records: object[] }) => Promise<{ buffer: Buffer }>
}

const now = new Date('2026-06-01T12:00:00Z')
const at = (offsetMs: number) => String(now.getTime() + offsetMs)
const record: CheckedRecord = { key: Buffer.from('k'), value: Buffer.from('v'), headers: [], timestamp: at(0) }
const check = (limits: Partial<TopicLimits>, changes: Partial<CheckedRecord> = {}) =>
  checkRecord({ ...unknownLimits, ...limits }, { ...record, ...changes }, now)

test('the size of a batch of one record is what kafkajs makes of it', async () => {
  const bytes = fc.option(fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)))
  const headers = fc.array(fc.tuple(fc.string({ unit: 'grapheme', maxLength: 70 }), bytes), { maxLength: 70 })
  await fc.assert(
    fc.asyncProperty(bytes, bytes, headers, async (key, value, headers) => {
      const batch = await RecordBatch({ records: [encodeRecord({ key, value, headers })] })
      expect(bytesAlone({ key, value, headers })).toBe(batch.buffer.length)
    }),
  )
})

test('a record fits up to max.message.bytes, and is refused beyond', () => {
  const maxBatchBytes = bytesAlone(record)
  expect(check({ maxBatchBytes })).toEqual({ kind: 'fits' })
  expect(check({ maxBatchBytes: maxBatchBytes - 1 })).toMatchObject({
    kind: 'refused',
    reason: expect.stringContaining('max.message.bytes'),
  })
})

test('a compacted topic takes no record without key', () => {
  expect(check({ needsKey: true })).toEqual({ kind: 'fits' })
  expect(check({ needsKey: true }, { key: null })).toMatchObject({ reason: expect.stringContaining('without key') })
  expect(check({}, { key: null })).toEqual({ kind: 'fits' })
})

const hourMs = 3_600_000
const times = { pastMs: 24 * hourMs, aheadMs: hourMs }

test.each<[string, number, string]>([
  ['now', 0, 'fits'],
  ['a day less some minutes ago', -24 * hourMs + 120_000, 'fits'],
  ['about a day ago, where clocks decide', -24 * hourMs + 59_000, 'doubtful'],
  ['a little more than a day ago', -24 * hourMs - 59_000, 'doubtful'],
  ['more than a day ago', -24 * hourMs - 61_000, 'message.timestamp.before.max.ms'],
  ['in half an hour', hourMs / 2, 'fits'],
  ['in about an hour', hourMs, 'doubtful'],
  ['in more than an hour', hourMs + 61_000, 'message.timestamp.after.max.ms'],
])('of a topic that takes a day back and an hour ahead: a record of %s', (_, offsetMs, expected) => {
  const answer = check({ times }, { timestamp: at(offsetMs) })
  expect(answer.kind === 'refused' ? answer.reason : answer.kind).toContain(expected)
})

test('the time is no matter where the broker sets it, and where the record has none', () => {
  expect(check({ times: null }, { timestamp: at(-1000 * hourMs) })).toEqual({ kind: 'fits' })
  expect(check({ times }, { timestamp: undefined })).toEqual({ kind: 'fits' })
})

describe('the limits of a topic, by its configuration', () => {
  const none = Number.POSITIVE_INFINITY
  const longest = '9223372036854775807'
  const before = 'message.timestamp.before.max.ms'
  const after = 'message.timestamp.after.max.ms'
  const difference = 'message.timestamp.difference.max.ms'

  test.each<[string, Record<string, string | null>, Partial<TopicLimits>]>([
    ['nothing', {}, unknownLimits],
    ['a retention', { 'retention.ms': '1000' }, { retentionMs: 1000 }],
    ['no retention by age', { 'retention.ms': '-1' }, { retentionMs: none }],
    ['an empty value', { 'retention.ms': '' }, { retentionMs: unknownLimits.retentionMs }],
    ['a value that may not be read', { 'retention.ms': null }, { retentionMs: unknownLimits.retentionMs }],
    ['a greatest batch', { 'max.message.bytes': '2000' }, { maxBatchBytes: 2000 }],
    ['deletion', { 'cleanup.policy': 'delete', 'retention.ms': '1000' }, { needsKey: false, retentionMs: 1000 }],
    ['compaction', { 'cleanup.policy': 'compact', 'retention.ms': '1000' }, { needsKey: true, retentionMs: none }],
    ['both', { 'cleanup.policy': 'compact, delete', 'retention.ms': '1000' }, { needsKey: true, retentionMs: 1000 }],
    ['the times of the broker', { 'message.timestamp.type': 'LogAppendTime', [before]: '1' }, { times: null }],
    [
      'times',
      { 'message.timestamp.type': 'CreateTime', [before]: '1', [after]: '2' },
      { times: { pastMs: 1, aheadMs: 2 } },
    ],
    ['times of an older broker', { [difference]: '3' }, { times: { pastMs: 3, aheadMs: 3 } }],
    [
      'both, of one between',
      { [difference]: '3', [before]: longest, [after]: '2' },
      { times: { pastMs: 3, aheadMs: 2 } },
    ],
    ['times without a bound', { [before]: longest, [after]: longest }, { times: { pastMs: none, aheadMs: none } }],
  ])('with %s', (_, settings, limits) => {
    expect(toLimits(new Map(Object.entries(settings)))).toMatchObject(limits)
  })
})
