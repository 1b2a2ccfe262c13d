// Records as a team may write them into its DLQ topic: any framework's headers, with any topic, place, group, time, id
// and attempt in them, its own or another team's. Only shapes: test-world.ts fills in ids and places that exist.

import { kafkaConnect } from 'dlq-core/domain/failure/families/kafka-connect.ts'
import { kafkaStreams } from 'dlq-core/domain/failure/families/kafka-streams.ts'
import { karafka } from 'dlq-core/domain/failure/families/karafka.ts'
import { own } from 'dlq-core/domain/failure/families/own.ts'
import { plainError } from 'dlq-core/domain/failure/families/plain-error.ts'
import { shareGroup } from 'dlq-core/domain/failure/families/share-group.ts'
import { smallrye } from 'dlq-core/domain/failure/families/smallrye.ts'
import { smallryeDelayedRetry } from 'dlq-core/domain/failure/families/smallrye-delayed-retry.ts'
import { springCloudStream } from 'dlq-core/domain/failure/families/spring-cloud-stream.ts'
import { springDlt } from 'dlq-core/domain/failure/families/spring-dlt.ts'
import { springRetryable } from 'dlq-core/domain/failure/families/spring-retryable.ts'
import fc from 'fast-check'

export const teams = ['alpha', 'beta', 'gamma'] as const
export type Team = (typeof teams)[number]

export const families = [
  ...[own, springDlt, springRetryable, springCloudStream, smallrye, smallryeDelayedRetry],
  ...[kafkaConnect, kafkaStreams, karafka, shareGroup, plainError],
]

/** A number in a header: as text, or as the big-endian integer that Spring writes. */
export type NumberForm = 'text' | 'int32' | 'int64'

export type HostileRecord = {
  /** Their headers follow one another. */
  families: number[]
  logEntry: boolean
  topic: string | null
  partition: number
  offset: bigint
  form: NumberForm
  group: string | null
  errorText: string
  timestamp: bigint
  /** Names message number `message` of all that are known, whoever they belong to. */
  claim: { message: number; attempt: number | 'last'; attemptId: 'absent' | 'right' | 'other' | 'junk' } | null
  /** Takes topic, partition and offset from published record number `place` of all. */
  place: number | null
  /**
   * Whatever else stands here, id, attempt and place are those of a published record: one of the team's own, as an honest
   * consumer writes them, or anybody's, as an exact impostor does.
   */
  fails: 'own' | "anybody's" | null
  keyBytes: number | null
  valueBytes: number | null
}

const topics = [
  ...teams.flatMap((team) => [
    `${team}.events.v1`,
    `${team}.events.v1-retry-1000`,
    `${team}-retry`,
    team,
    `${team}.dlq.v1`,
  ]),
  ...['alphabet.events.v1', 'payments', '__consumer_offsets', '_schemas', 'dlq-manager.ledger', '../x', '*', ''],
]
const dayMs = 86_400_000
const mostInt64 = 2n ** 63n - 1n

const times = (nowMs: number) =>
  fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: -40 * dayMs, max: dayMs }).map((ms) => BigInt(nowMs + ms)) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(-1n, 0n, mostInt64, BigInt(nowMs + 400 * dayMs), BigInt(nowMs + 4000 * dayMs)),
    },
  )

const bytes = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(null, 0, 20, 300) },
  { weight: 1, arbitrary: fc.constantFrom(5000, 60_000) },
)

const maybe = <T>(arbitrary: fc.Arbitrary<T>, freq = 2) => fc.option(arbitrary, { nil: null, freq })

export function hostileRecords(nowMs: number): fc.Arbitrary<HostileRecord> {
  return fc.record({
    families: fc.uniqueArray(fc.nat({ max: families.length - 1 }), { minLength: 0, maxLength: 3 }),
    logEntry: fc.nat({ max: 29 }).map((n) => n === 0),
    topic: maybe(
      fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...topics) }, { weight: 1, arbitrary: fc.string() }),
      8,
    ),
    partition: fc.oneof(fc.nat({ max: 3 }), fc.constantFrom(-1, 2 ** 31 - 1)),
    offset: fc.oneof(fc.bigInt(0n, 2000n), fc.constantFrom(-1n, mostInt64)),
    form: fc.constantFrom<NumberForm>('text', 'int32', 'int64'),
    group: maybe(fc.constantFrom('billing', 'shipping', 'billing-retry-1000', '-', ''), 5),
    errorText: fc.oneof(fc.constantFrom('no stock', 'timeout', ''), fc.string({ unit: 'binary' })),
    timestamp: times(nowMs),
    claim: maybe(
      fc.record({
        message: fc.nat(),
        attempt: fc.oneof(fc.constant('last' as const), fc.constantFrom(0, 1, 2, 3, -1, 2 ** 31 - 1)),
        attemptId: fc.constantFrom('absent', 'right', 'right', 'other', 'junk'),
      }),
      3,
    ),
    place: maybe(fc.nat(), 1),
    fails: fc.oneof(
      { weight: 2, arbitrary: fc.constantFrom('own' as const, "anybody's" as const) },
      { weight: 12, arbitrary: fc.constant(null) },
    ),
    keyBytes: bytes,
    valueBytes: bytes,
  })
}
