// Compares a message with the record that stands at its original coordinates. A topic that was deleted and made anew has
// other records at the same offsets, so what stands there must first be proved to be the record that failed.

import type { Family } from '../failure/families/family.ts'
import { stripFailureHeaders } from '../failure/strip-failure-headers.ts'
import { areSameBytes, type Header } from '../record/record.ts'

export type RecordContent = {
  readonly key: Buffer | null
  readonly value: Buffer | null
  readonly headers: readonly Header[]
}

/** Times are milliseconds since the epoch. */
export type OriginalRecord = RecordContent & {
  /** −1 where the record has none. */
  readonly timestamp: bigint
}

/**
 * `gone`: Kafka has no committed record there (deleted, compacted away, aborted, its topic deleted).
 * `unreachable`: it could not be read now, or not within the bounds, or its batch cannot be decoded.
 */
export type FetchedOriginal = OriginalRecord | 'gone' | 'unreachable'

export type Copy = RecordContent & {
  readonly family: Family | null
  /** The dead letter's own; null where it has none. */
  readonly timestamp: bigint | null
  /** The original's, as a header says it; null where none does. */
  readonly originalTimestamp: bigint | null
}

export const comparedParts = ['key', 'value', 'headers'] as const
export type ComparedPart = (typeof comparedParts)[number]

/** What comparing alone says. */
export type ComparedState = 'same' | 'different' | 'mismatch' | 'unproved' | 'gone' | 'unreachable'

export type Comparison = {
  readonly state: ComparedState
  readonly differs: readonly ComparedPart[]
}

/** They copy the record with its timestamp. */
const keepsTimestamp: ReadonlySet<Family> = new Set<Family>(['kafka-connect', 'kafka-streams'])

/** The same for what was fetched, which may be nothing. */
export function compareFetched(copy: Copy, fetched: FetchedOriginal): Comparison {
  return typeof fetched === 'string' ? { state: fetched, differs: [] } : compareOrigin(copy, fetched)
}

/** `mismatch`, or what a comparison of key, value and headers says. The failure's headers and ours do not count. */
export function compareOrigin(copy: Copy, original: OriginalRecord): Comparison {
  const differs: ComparedPart[] = []
  if (!areSameBytes(copy.key, original.key)) differs.push('key')
  if (!areSameBytes(copy.value, original.value)) differs.push('value')
  if (!sameHeaders(stripFailureHeaders(copy.headers, copy.family), original.headers)) differs.push('headers')
  return { state: stateOf(copy, original, differs), differs }
}

function stateOf(copy: Copy, original: OriginalRecord, differs: readonly ComparedPart[]): ComparedState {
  const kept = copy.family !== null && keepsTimestamp.has(copy.family) ? copy.timestamp : null
  const expected = copy.originalTimestamp ?? kept
  // A record cannot have failed before it was written.
  if (copy.timestamp !== null && original.timestamp > copy.timestamp) return 'mismatch'
  if (expected !== null && expected !== original.timestamp) return 'mismatch'
  const differing = [differs.includes('key'), differs.includes('value')].filter(Boolean).length
  if (differing > (expected === null ? 0 : 1)) return 'unproved'
  return differs.length === 0 ? 'same' : 'different'
}

function sameHeaders(a: readonly Header[], b: readonly Header[]): boolean {
  // Ours may stand on the original, too, where it is a record that a retry sent.
  const plain = stripFailureHeaders(b, null)
  return (
    a.length === plain.length &&
    a.every(([name, value], at) => name === plain[at]![0] && areSameBytes(value, plain[at]![1]))
  )
}
