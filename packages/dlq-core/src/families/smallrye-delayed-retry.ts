// SmallRye and Quarkus, strategy delayed-retry-topic: every failure, on the main topic and on each
// retry topic, puts a set in front of the older ones; the dead letter has no `dead-letter-topic`.
// The error is the first set's, the main topic's coordinate the newest chain's last set's.
// Source: smallrye, KafkaDelayedRetryTopic.handle.

import { decimal, name, text, toCount, toOffset, toPartition, toTimestamp } from './decode.ts'
import { errorOf } from './error-of.ts'
import type { FamilyParser } from './family.ts'
import { type HeaderIndex, lastValue, type Occurrence, prependedValue } from './header-index.ts'

const prefix = 'delayed-retry-'
const exceptionClass = `${prefix}exception-class-name`
const reason = `${prefix}reason`
const causeClass = `${prefix}cause-class-name`
const cause = `${prefix}cause`
const topic = `${prefix}topic`
const partition = `${prefix}partition`
const offset = `${prefix}offset`
const count = `${prefix}count`
const originalTimestamp = `${prefix}original-timestamp`

/** Reads the strategy's headers. */
export const smallryeDelayedRetry: FamilyParser = {
  family: 'smallrye-delayed-retry',
  names: [exceptionClass, reason, causeClass, cause, topic, partition, offset, count, originalTimestamp],
  marks: [topic],
  placement: 'prepends',
  coordinates: 'newest',
  isPresent: (index) => index.has(topic),
  parse(index) {
    const anchor = index.has(exceptionClass) ? exceptionClass : reason
    const value = (header: string) => prependedValue(index, header, anchor)
    const named = [
      { errorClass: name(value(exceptionClass)), errorMessage: text(value(reason)) },
      { errorClass: name(value(causeClass)), errorMessage: text(value(cause)) },
    ]
    return { ...readMainTopic(index), consumerGroup: null, ...errorOf(named, null), errorStacktrace: null }
  },
}

/**
 * The first set, read from the front, whose topic is the main topic. Everything in front of it
 * failed on retry topics; sets behind it are stale: somebody republished the record with its headers,
 * after which `delayed-retry-count` and `-original-timestamp` still are the first failure's.
 */
function readMainTopic(index: HeaderIndex) {
  const topics = index.get(topic) ?? []
  const names = topics.map(({ value }) => name(value))
  const mainTopic = names.at(-1) ?? null
  const main = names.findIndex((name) => name !== null && (name === mainTopic || !isRetryTopic(name)))
  const isNewest = main === -1 || main === topics.length - 1
  const retries = toCount(decimal(lastValue(index, count)))
  return {
    originalTopic: names[main] ?? null,
    originalPartition: toPartition(decimal(valueOfSet(index, partition, topics, main))),
    originalOffset: toOffset(decimal(valueOfSet(index, offset, topics, main))),
    originalTimestamp: isNewest ? toTimestamp(decimal(lastValue(index, originalTimestamp))) : null,
    attempts: main !== -1 ? main + 1 : retries === null ? null : retries + 1,
  }
}

/** The strategy takes the delay from the name's end, so every retry topic's name, custom ones too, ends in `_<ms>`. */
function isRetryTopic(topic: string): boolean {
  return /_\d{1,10}$/.test(topic.slice(-11))
}

/** The value that belongs to the topic at `set`: as many as topics, or the next one behind it. */
function valueOfSet(index: HeaderIndex, name: string, topics: readonly Occurrence[], set: number): Buffer | null {
  const values = index.get(name)
  const place = topics[set]
  if (values === undefined || place === undefined) return null
  if (values.length === topics.length) return values[set]?.value ?? null
  const end = topics[set + 1]?.at ?? Infinity
  return values.find(({ at }) => at > place.at && at < end)?.value ?? null
}
