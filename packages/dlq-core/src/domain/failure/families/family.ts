// The families of failure headers, one per framework, and the shape of each family's parser.
// The list's order is the order in which they are tried.

import type { DeadLetterRecord } from '../../record/record.ts'
import type { FailureContext } from '../failure-context.ts'
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

/** One family: which headers it uses and what they mean. */
export type FamilyParser = {
  readonly family: Family
  /** Every header name that the parser reads. */
  readonly names: readonly string[]
  /** The headers that the framework writes again at every failure: their positions tell the order of failures. */
  readonly marks: readonly string[]
  /**
   * Where the framework puts a new failure's headers: behind the record's own (`appends`), in front
   * of them (`prepends`), or, if the name exists already, in its place (`overwrites`).
   */
  readonly placement: 'appends' | 'prepends' | 'overwrites'
  /** Whether original topic, partition, offset and timestamp in the headers are those of the newest failure. */
  readonly coordinates: 'newest' | 'first'
  isPresent(index: HeaderIndex): boolean
  parse(index: HeaderIndex, record: Pick<DeadLetterRecord, 'topic' | 'timestamp'>): FailureContext
}
