// The dialects in which frameworks describe a failure in a dead letter's headers, and the shape
// of the parser that each has. The list's order is the order in which they are tried.

import type { FailureContext } from '../failure-context.ts'
import type { DeadLetterRecord } from '../record.ts'
import type { HeaderIndex } from './header-index.ts'

export const families = [
  'share-group',
  'kafka-streams',
  'kafka-connect',
  'spring-retryable',
  'spring-dlt',
  'spring-cloud-stream',
  'smallrye',
  'smallrye-delayed-retry',
  'karafka',
  'dlq-manager',
  'ksqldb',
  'plain-error',
] as const

/** Who described the failure. `dlq-manager` is our own client; `plain-error` is a lone `error` header. */
export type Family = (typeof families)[number]

/** One dialect: which headers it uses and what they mean. */
export type FamilyParser = {
  readonly family: Family
  /** Every header name that the parser reads. */
  readonly names: readonly string[]
  /** The headers that it writes anew at every failure: where they stand tells the order of failures. */
  readonly marks: readonly string[]
  /**
   * Where a new failure's headers go: behind those that the record came with (`appends`), in front
   * of them (`prepends`), or, for a name that is there already, into its place (`overwrites`).
   */
  readonly placement: 'appends' | 'prepends' | 'overwrites'
  /** Whether original topic, partition, offset and timestamp in the headers are those of the newest failure. */
  readonly coordinates: 'newest' | 'first'
  isPresent(index: HeaderIndex): boolean
  parse(index: HeaderIndex, record: Pick<DeadLetterRecord, 'topic' | 'timestamp'>): FailureContext
}
