// Reads why a record failed, from the headers of any known framework, and whether it is one of our
// republished records that failed again.

import { isUuid } from '../record/message-id.ts'
import type { DeadLetterRecord } from '../record/record.ts'
import { type FailureContext, unknownFailure } from './failure-context.ts'
import { decimal, text, toCount } from './families/decode.ts'
import type { Family, FamilyParser } from './families/family.ts'
import { firstPlace, type HeaderIndex, indexHeaders, lastPlace, lastValue } from './families/header-index.ts'
import { kafkaConnect } from './families/kafka-connect.ts'
import { kafkaStreams } from './families/kafka-streams.ts'
import { karafka } from './families/karafka.ts'
import { readKsqldbLogEntry } from './families/ksqldb.ts'
import { own, republishHeaderNames } from './families/own.ts'
import { plainError, unknownError } from './families/plain-error.ts'
import { shareGroup } from './families/share-group.ts'
import { smallrye } from './families/smallrye.ts'
import { smallryeDelayedRetry } from './families/smallrye-delayed-retry.ts'
import { springCloudStream } from './families/spring-cloud-stream.ts'
import { springDlt } from './families/spring-dlt.ts'
import { springRetryable } from './families/spring-retryable.ts'
import { looksLikeDlqTopic, looksLikeRetryTopic } from './topic-names.ts'

const parsers: readonly FamilyParser[] = [
  shareGroup,
  kafkaStreams,
  kafkaConnect,
  springRetryable,
  springDlt,
  springCloudStream,
  smallrye,
  smallryeDelayedRetry,
  karafka,
  own,
  plainError,
]
const names: ReadonlySet<string> = new Set([
  ...parsers.flatMap((parser) => parser.names),
  ...Object.values(republishHeaderNames),
])

/** Our own headers of a republished record; null where absent or malformed. */
export type OurHeaders = {
  readonly messageId: string | null
  readonly attempt: number | null
  readonly attemptId: string | null
}

export type Failure = {
  /** The family whose failure is the newest; null where no family is recognised. */
  readonly family: Family | null
  readonly context: FailureContext
  readonly ours: OurHeaders
  /** Every family present, in the order in which they are tried. */
  readonly families: readonly Family[]
}

type Candidate = { readonly parser: FamilyParser; readonly context: FailureContext }

/**
 * Reads a dead letter. Never throws, and takes time linear in the record's size. A record that no
 * family explains has the message "unknown error", as the specification has it.
 *
 * If a record was republished with its old headers and failed again elsewhere, several families are
 * present. The newest failure wins:
 * 1. Among families that append their headers: the one whose headers stand last. Java's frameworks add
 *    theirs behind the record's own, so this holds whatever a tool did in between.
 * 2. Among those that prepend (SmallRye's two): the one whose headers stand first.
 * 3. Between these two, and for one that overwrites in place (Karafka), position says nothing. For the
 *    same topic and partition the greater offset is the newer; else, where both give it in headers, the
 *    later original timestamp; else the one that failed on what looks like a DLQ or retry topic, because
 *    it consumed what the other had parked; else the one that is tried first.
 * The plain `error` header, a common name without coordinates, counts only where it is alone.
 */
export function readFailure(record: Pick<DeadLetterRecord, 'topic' | 'timestamp' | 'headers' | 'value'>): Failure {
  const index = indexHeaders(record.headers, names)
  const ours = readOurs(index)
  const present = parsers.filter((parser) => parser.isPresent(index))
  const families = present.map((parser) => parser.family)
  const named = present.filter((parser) => parser !== plainError)
  const newest = named.length > 1 ? newestOf(named, index, record) : named[0]
  if (newest !== undefined) {
    return { family: newest.family, context: newest.parse(index, record), ours, families }
  }
  const logEntry = readKsqldbLogEntry(record.value)
  if (logEntry !== null) return { family: 'ksqldb', context: logEntry, ours, families: ['ksqldb', ...families] }
  const family = present.length === 0 ? null : plainError.family
  const context = family === null ? { ...unknownFailure, errorMessage: unknownError } : plainError.parse(index, record)
  return { family, context, ours, families }
}

function readOurs(index: HeaderIndex): OurHeaders {
  return {
    messageId: uuid(lastValue(index, republishHeaderNames.messageId)),
    attempt: toCount(decimal(lastValue(index, republishHeaderNames.attempt))),
    attemptId: uuid(lastValue(index, republishHeaderNames.attemptId)),
  }
}

function uuid(value: Buffer | null): string | null {
  if (value === null || value.length !== 36) return null
  const id = text(value)!.toLowerCase()
  return isUuid(id) ? id : null
}

function newestOf(
  present: readonly FamilyParser[],
  index: HeaderIndex,
  record: Pick<DeadLetterRecord, 'topic' | 'timestamp'>,
): FamilyParser {
  const last = (parser: FamilyParser) => lastPlace(index, parser.marks)
  const first = (parser: FamilyParser) => firstPlace(index, parser.marks)
  const by = (placement: FamilyParser['placement']) => present.filter((parser) => parser.placement === placement)
  const appended = by('appends').toSorted((a, b) => last(b) - last(a))[0]
  const prepended = by('prepends').toSorted((a, b) => first(a) - first(b))[0]
  const candidates = [appended, prepended, ...by('overwrites')]
    .filter((parser) => parser !== undefined)
    .toSorted((a, b) => parsers.indexOf(a) - parsers.indexOf(b))
    .map((parser) => ({ parser, context: parser.parse(index, record) }))
  return candidates.reduce((newest, other) => (isNewer(other, newest) ? other : newest)).parser
}

/** Rule 3 of `readFailure`. */
function isNewer(a: Candidate, b: Candidate): boolean {
  const move = a.parser.coordinates === 'newest' && b.parser.coordinates === 'newest'
  if (move && samePartition(a.context, b.context)) {
    const order = compare(a.context.originalOffset, b.context.originalOffset)
    if (order !== 0) return order > 0
  }
  if (move && !takesTimestampFromRecord(a.parser) && !takesTimestampFromRecord(b.parser)) {
    const order = compare(a.context.originalTimestamp, b.context.originalTimestamp)
    if (order !== 0) return order > 0
  }
  return isParkedTopic(a.context.originalTopic) && !isParkedTopic(b.context.originalTopic)
}

function samePartition(a: FailureContext, b: FailureContext): boolean {
  return (
    a.originalTopic !== null &&
    a.originalTopic === b.originalTopic &&
    a.originalPartition !== null &&
    a.originalPartition === b.originalPartition
  )
}

/** Their timestamp is always the dead letter's own, and so says nothing about age. */
function takesTimestampFromRecord(parser: FamilyParser): boolean {
  return parser === kafkaConnect || parser === kafkaStreams
}

function compare(a: bigint | null, b: bigint | null): number {
  if (a === null || b === null || a === b) return 0
  return a > b ? 1 : -1
}

function isParkedTopic(topic: string | null): boolean {
  return topic !== null && (looksLikeDlqTopic(topic) || looksLikeRetryTopic(topic))
}
