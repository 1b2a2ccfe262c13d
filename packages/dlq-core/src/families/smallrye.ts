// SmallRye Reactive Messaging and Quarkus, strategy dead-letter-queue: text and decimal numbers, each
// new set in front of the headers the record came with, so the first value is the newest. The set
// begins with the exception; its cause may be left out. Source: smallrye, KafkaDeadLetterQueue.handle.

import { decimal, name, text, toOffset, toPartition } from './decode.ts'
import { errorOf } from './error-of.ts'
import type { FamilyParser } from './family.ts'
import { prependedValue } from './header-index.ts'

const prefix = 'dead-letter-'
const exceptionClass = `${prefix}exception-class-name`
const reason = `${prefix}reason`
const causeClass = `${prefix}cause-class-name`
const cause = `${prefix}cause`
const topic = `${prefix}topic`
const partition = `${prefix}partition`
const offset = `${prefix}offset`

/** Reads the strategy's headers. Where the listener was invoked by reflection, only wrappers are named. */
export const smallrye: FamilyParser = {
  family: 'smallrye',
  names: [exceptionClass, reason, causeClass, cause, topic, partition, offset],
  marks: [topic],
  placement: 'prepends',
  coordinates: 'newest',
  isPresent: (index) => index.has(topic),
  parse(index) {
    // Old versions write no class; their sets begin with the reason.
    const anchor = index.has(exceptionClass) ? exceptionClass : reason
    const value = (header: string) => prependedValue(index, header, anchor)
    const named = [
      { errorClass: name(value(exceptionClass)), errorMessage: text(value(reason)) },
      { errorClass: name(value(causeClass)), errorMessage: text(value(cause)) },
    ]
    return {
      originalTopic: name(value(topic)),
      originalPartition: toPartition(decimal(value(partition))),
      originalOffset: toOffset(decimal(value(offset))),
      originalTimestamp: null,
      consumerGroup: null,
      ...errorOf(named, null),
      errorStacktrace: null,
      attempts: null,
    }
  },
}
