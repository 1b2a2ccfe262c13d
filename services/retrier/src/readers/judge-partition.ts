// What a look at one partition of a topic says of a group that reads it. Decisions only; reader-watch.ts asks and stores.

import type { Mark, ReaderPartition } from 'dlq-core/queries/readers/reader-watch.ts'

/** What the looks before have found. */
export type Before = Pick<
  ReaderPartition,
  'committed_offset' | 'log_start_offset' | 'log_end_offset' | 'passed_offset' | 'settled_offset' | 'marks'
>

export type Look = {
  committed_offset: bigint | null
  log_start_offset: bigint
  log_end_offset: bigint
  /** In this look and the one before, the group had no members. */
  wasEmptyTwice: boolean
  /** Time in ms since 1970, as all of these. After the offsets were asked for. */
  nowMs: number
  /** Every dead letter that was in Kafka until then is stored. Null: not known. */
  storedUntilMs: number | null
  horizonMs: number
}

export type Judged = Pick<ReaderPartition, 'passed_offset' | 'settled_offset' | 'marks'> & {
  is_rewound: boolean
  /**
   * What the group jumped over: tools move offsets only while a group has no members, a group without offsets begins
   * anywhere, and one whose next records were deleted goes on behind them.
   */
  gap: { from_offset: bigint; to_offset: bigint } | null
}

/** More are merged, which errs late. */
const maxMarks = 16

/** A commit says that a record was read, not that its work succeeded; what fails comes back as a dead letter. */
export function judgePartition(before: Before | null, look: Look): Judged {
  const { committed_offset: committed } = look
  // The log became shorter: the topic was made anew, and its offsets begin again.
  const known = before !== null && look.log_end_offset >= before.log_end_offset ? before : null
  const passed = max(known?.passed_offset ?? 0n, committed ?? 0n)
  const marks = withMark(known?.marks ?? [], known?.passed_offset ?? 0n, { below: passed, at: look.nowMs })
  const settled = marks.filter(({ at }) => isOver(at, look))
  return {
    passed_offset: passed,
    settled_offset: settled.reduce((highest, { below }) => max(highest, below), known?.settled_offset ?? 0n),
    marks: marks.filter((mark) => !settled.includes(mark)),
    is_rewound: known !== null && (committed ?? 0n) < (known.committed_offset ?? 0n),
    gap: gapOf(known, look),
  }
}

/**
 * What was read at that time would have come back by now: the horizon is over, and every dead letter up to its end is
 * stored. One that was written within the horizon may wait in Kafka for long, while no ingester lives.
 */
function isOver(at: number, { nowMs, storedUntilMs, horizonMs }: Look): boolean {
  return nowMs - at >= horizonMs && storedUntilMs !== null && storedUntilMs - at >= horizonMs
}

function withMark(marks: readonly Mark[], passedBefore: bigint, mark: Mark): Mark[] {
  if (mark.below <= passedBefore) return [...marks]
  // The two newest become one, under the later time.
  return [...(marks.length >= maxMarks ? marks.slice(0, maxMarks - 1) : marks), mark]
}

function gapOf(known: Before | null, look: Look): Judged['gap'] {
  const { committed_offset: committed, wasEmptyTwice } = look
  if (known === null || committed === null) return null
  // Its offsets were deleted or expired. Where it begins further on, nobody knows that it read what lies between.
  const wasGone = known.committed_offset === null && known.passed_offset > 0n
  const from = known.passed_offset
  // At the look before, retention had already deleted what lies below. What it deleted since, the group may have read.
  const to = wasEmptyTwice || wasGone ? committed : min(known.log_start_offset, committed)
  return to > from ? { from_offset: from, to_offset: to } : null
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

/** The time that a producer of Java's client tries to deliver a record, and some. */
const leastHorizonMs = 150_000
const longestHorizonMs = 86_400_000

/**
 * How long after a record was read its dead letter may still come. `p99Ms`: of the re-failures of late; null: too few
 * to tell. A topic with retry topics passes its records on before they fail for good.
 */
export function horizonOf({ p99Ms, hasRetryTopics }: { p99Ms: number | null; hasRetryTopics: boolean }): number {
  if (p99Ms === null) return hasRetryTopics ? longestHorizonMs : leastHorizonMs
  return Math.min(Math.max(leastHorizonMs, 1.5 * p99Ms), longestHorizonMs)
}
