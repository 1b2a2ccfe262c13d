// Karafka Pro: `source_*` (before 2.5 `original_*`), text and decimal numbers. Ruby merges hashes, so
// a second failure overwrites the values where they stand. Karafka without Pro writes no headers.
// Source: karafka, pro/processing/strategies/dlq/default.rb.

import { unknownFailure } from '../failure-context.ts'
import { decimal, name, toCount, toOffset, toPartition } from './decode.ts'
import type { FamilyParser } from './family.ts'
import { type HeaderIndex, lastValue } from './header-index.ts'

const headerNames = (prefix: 'source_' | 'original_') => ({
  topic: `${prefix}topic`,
  partition: `${prefix}partition`,
  offset: `${prefix}offset`,
  consumerGroup: `${prefix}consumer_group`,
  attempts: `${prefix}attempts`,
})
const sets = [headerNames('source_'), headerNames('original_')]

/** Reads the newer names, else the older ones. No error is told, neither class nor message. */
export const karafka: FamilyParser = {
  family: 'karafka',
  names: sets.flatMap((set) => Object.values(set)),
  marks: sets.flatMap(({ topic, offset }) => [topic, offset]),
  placement: 'overwrites',
  coordinates: 'newest',
  isPresent: (index) => presentSet(index) !== undefined,
  parse(index) {
    const set = presentSet(index)
    if (set === undefined) return unknownFailure
    return {
      ...unknownFailure,
      originalTopic: name(lastValue(index, set.topic)),
      originalPartition: toPartition(decimal(lastValue(index, set.partition))),
      originalOffset: toOffset(decimal(lastValue(index, set.offset))),
      consumerGroup: name(lastValue(index, set.consumerGroup)),
      attempts: toCount(decimal(lastValue(index, set.attempts))),
    }
  },
}

/** The names are common words: only topic, partition and offset together are Karafka's. */
function presentSet(index: HeaderIndex): (typeof sets)[number] | undefined {
  return sets.find(({ topic, partition, offset }) => index.has(topic) && index.has(partition) && index.has(offset))
}
