import type { Mark } from 'dlq-core/queries/readers/reader-watch.ts'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Before, horizonOf, judgePartition, type Look } from './judge-partition.ts'

const horizonMs = 1000
const look = (fields: Partial<Look> = {}): Look => ({
  ...{ committed_offset: null, log_start_offset: 0n, log_end_offset: 100n, wasEmptyTwice: false },
  ...{ nowMs: 10_000, storedUntilMs: null, horizonMs },
  ...fields,
})
const before = (fields: Partial<Before> = {}): Before => ({
  ...{ committed_offset: 5n, log_start_offset: 0n, log_end_offset: 100n },
  ...{ passed_offset: 5n, settled_offset: 0n, marks: [] },
  ...fields,
})

test('what a group has committed when it is first seen has been read', () => {
  expect(judgePartition(null, look({ committed_offset: 7n }))).toEqual({
    ...{ passed_offset: 7n, settled_offset: 0n, marks: [{ below: 7n, at: 10_000 }] },
    ...{ is_rewound: false, gap: null },
  })
})

test('an offset that was moved back changes no verdict, and is noted', () => {
  const judged = judgePartition(before({ committed_offset: 9n, passed_offset: 9n }), look({ committed_offset: 3n }))
  expect(judged).toMatchObject({ passed_offset: 9n, marks: [], is_rewound: true })
})

test('an offset that rises while the group has no members was moved by somebody', () => {
  const moved = look({ committed_offset: 9n, wasEmptyTwice: true })
  expect(judgePartition(before(), moved).gap).toEqual({ from_offset: 5n, to_offset: 9n })
  // Retention deleted a part of it, which nobody has read either.
  expect(judgePartition(before(), { ...moved, log_start_offset: 7n }).gap).toEqual({ from_offset: 5n, to_offset: 9n })
  // What it had read before its offset was moved back was read.
  expect(judgePartition(before({ committed_offset: 2n }), moved).gap).toEqual({ from_offset: 5n, to_offset: 9n })
  expect(judgePartition(before(), look({ committed_offset: 9n })).gap).toBeNull()
  expect(judgePartition(before(), look({ committed_offset: 5n, wasEmptyTwice: true })).gap).toBeNull()
})

test('what retention had deleted before the group came to it was not read when the group goes on behind it', () => {
  const lost = before({ log_start_offset: 8n })
  const onward = look({ committed_offset: 9n, log_start_offset: 8n })
  expect(judgePartition(lost, onward)).toMatchObject({ passed_offset: 9n, gap: { from_offset: 5n, to_offset: 8n } })
  expect(judgePartition(lost, { ...onward, committed_offset: 5n }).gap).toBeNull()
  // Between two looks the group may have read it before it was deleted.
  expect(judgePartition(before(), onward).gap).toBeNull()
  expect(judgePartition(before({ passed_offset: 8n, log_start_offset: 8n }), onward).gap).toBeNull()
})

test('a group that is deleted keeps what it had read, and what it begins behind when it is back was not read', () => {
  const gone = judgePartition(before(), look({ committed_offset: null }))
  expect(gone).toMatchObject({ passed_offset: 5n, is_rewound: true, gap: null })
  const known = before({ ...gone, committed_offset: null })
  expect(judgePartition(known, look({ committed_offset: 9n }))).toMatchObject({
    ...{ passed_offset: 9n, gap: { from_offset: 5n, to_offset: 9n } },
  })
  // From the beginning again: nothing was jumped over, and what it reads from there on counts as ever.
  const again = judgePartition(known, look({ committed_offset: 2n }))
  expect(again).toMatchObject({ passed_offset: 5n, gap: null })
  expect(judgePartition(before({ ...again, committed_offset: 2n }), look({ committed_offset: 9n })).gap).toBeNull()
})

test('a topic that was made anew begins again', () => {
  const judged = judgePartition(before({ passed_offset: 90n, settled_offset: 80n }), look({ log_end_offset: 3n }))
  expect(judged).toMatchObject({ passed_offset: 0n, settled_offset: 0n, marks: [] })
})

describe('what was read is over', () => {
  const marks: Mark[] = [{ below: 5n, at: 9000 }]
  const over = look({ committed_offset: 5n, nowMs: 10_000, storedUntilMs: 10_000 })
  test('after the horizon, once what would have come back is stored', () => {
    expect(judgePartition(before({ marks }), over)).toMatchObject({ settled_offset: 5n, marks: [] })
  })
  test('and stays so', () => {
    const known = before({ settled_offset: 5n })
    expect(judgePartition(known, { ...over, committed_offset: 7n })).toMatchObject({ settled_offset: 5n })
  })
  test.each([
    ['before the horizon', { nowMs: 9999 }],
    ['while dead letters of that time may wait in Kafka', { storedUntilMs: 9999 }],
    ['while nobody knows what waits in Kafka', { storedUntilMs: null }],
  ])('not %s', (_, fields) => {
    expect(judgePartition(before({ marks }), { ...over, ...fields })).toMatchObject({ settled_offset: 0n, marks })
  })
})

test('over any sequence of looks, nothing is over that was read later than the horizon ago, and there are few marks', () => {
  const step = fc.record({ read: fc.nat(20), ms: fc.nat(700), storedBehindMs: fc.option(fc.nat(500)) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const readAt: number[] = []
      let known: Before | null = null
      let nowMs = 0
      for (const { read, ms, storedBehindMs } of steps) {
        nowMs += ms
        for (let n = 0; n < read; n += 1) readAt.push(nowMs)
        const committed = BigInt(readAt.length)
        const storedUntilMs = storedBehindMs === null ? null : nowMs - storedBehindMs
        const judged = judgePartition(
          known,
          look({ committed_offset: committed, log_end_offset: 2000n, nowMs, storedUntilMs }),
        )
        expect(judged.passed_offset).toBe(committed)
        expect(judged.marks.length).toBeLessThanOrEqual(16)
        for (const at of readAt.slice(0, Number(judged.settled_offset))) {
          expect(nowMs - at).toBeGreaterThanOrEqual(horizonMs)
        }
        known = { ...judged, committed_offset: committed, log_start_offset: 0n, log_end_offset: 2000n }
      }
    }),
  )
})

test('the horizon is what re-failures took, and longer where retry topics pass records on', () => {
  expect(horizonOf({ p99Ms: null, hasRetryTopics: false })).toBe(150_000)
  expect(horizonOf({ p99Ms: null, hasRetryTopics: true })).toBe(86_400_000)
  expect(horizonOf({ p99Ms: 1000, hasRetryTopics: true })).toBe(150_000)
  expect(horizonOf({ p99Ms: 400_000, hasRetryTopics: false })).toBe(600_000)
  expect(horizonOf({ p99Ms: 90_000_000, hasRetryTopics: false })).toBe(86_400_000)
})
