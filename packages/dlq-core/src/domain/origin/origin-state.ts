// What is known about a message's original, as dlq_messages stores it, and what follows from it: whether the copy may be
// sent by itself, and whether the original takes its place.

import type { Family } from '../failure/families/family.ts'
import type { RetryPolicy } from '../retry/retry-policy.ts'
import type { Comparison } from './compare-origin.ts'

/** In the order of their numbers in the column, from 1. */
export const originStates = [
  'same',
  'different',
  /** Another record stands there: the topic was made anew. */
  'mismatch',
  /** It may be the record that failed; neither key nor value say so. */
  'unproved',
  'gone',
  'unreachable',
  /** It could not be read, and is looked for again. */
  'wanted',
  /** The original has a value, and the copy has none. */
  'value_lost',
] as const
export type OriginState = (typeof originStates)[number]

/** Added to the number where the message is not sent unless somebody forces it. */
const held = 10

export type OriginVerdict = {
  readonly state: OriginState
  readonly isHeld: boolean
  /** The original takes the place of the copy. */
  readonly adopts: boolean
}

export function storedOrigin({ state, isHeld }: Pick<OriginVerdict, 'state' | 'isHeld'>): number {
  return originStates.indexOf(state) + 1 + (isHeld ? held : 0)
}

/** The state that the column says; null where nobody has compared. */
export function originStateOf(stored: number | null): { state: OriginState; isHeld: boolean } | null {
  if (stored === null) return null
  const isHeld = stored > held
  return { state: originStates[(isHeld ? stored - held : stored) - 1]!, isHeld }
}

/** They serialise the value of a record that failed once more, and may write null in its place. */
const serialising: ReadonlySet<Family> = new Set<Family>([
  'spring-dlt',
  'spring-retryable',
  'spring-cloud-stream',
  'smallrye',
  'smallrye-delayed-retry',
])

/** Whether the family may have lost the value of a record that has none. */
export function mayBeLost(
  family: Family | null,
  { key, value }: { readonly key: Buffer | null; readonly value: Buffer | null },
): boolean {
  if (family === null || value !== null) return false
  // A share group's broker copies both, or neither (KIP-1191).
  return serialising.has(family) || (family === 'share-group' && key === null)
}

export type Judging = {
  readonly record: RetryPolicy['record']
  /** `mayBeLost`: the copy's null may stand for a value. */
  readonly mayBeLost: boolean
  readonly compared: Pick<Comparison, 'state'> & { readonly hasValue: boolean }
  /** It is looked for again where it could not be read. */
  readonly triesAgain: boolean
}

/** A null is a deletion for whoever reads the topic, so a null that may stand for a value is never sent by itself. */
export function judgeOrigin({ record, mayBeLost, compared, triesAgain }: Judging): OriginVerdict {
  const { state, hasValue } = compared
  const isProved = state === 'same' || state === 'different'
  if (record !== 'dlq' && isProved) return { state: 'same', isHeld: false, adopts: state === 'different' }
  if (state === 'unreachable' && triesAgain) return { state: 'wanted', isHeld: true, adopts: false }
  const isLost = mayBeLost && hasValue && (isProved || state === 'unproved')
  const isHeld = isLost || (!isProved && (mayBeLost || record === 'origin'))
  return { state: isLost ? 'value_lost' : state, isHeld, adopts: false }
}
