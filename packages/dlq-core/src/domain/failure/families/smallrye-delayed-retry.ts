// SmallRye and Quarkus, strategy delayed-retry-topic: every failure, on the main topic and on each
// retry topic, puts a set in front of the older ones; the dead letter has no `dead-letter-topic`.
// The error is the first set's, the main topic's coordinate the newest chain's last set's.
// Source: smallrye, KafkaDelayedRetryTopic.handle.

import { decimal, name, toCount, toOffset, toPartition, toTimestamp } from './decode.ts'
import type { FamilyParser } from './family.ts'
import { type HeaderIndex, lastValue, type Occurrence } from './header-index.ts'
import { smallryeError, smallryeHeaderNames } from './smallrye-headers.ts'

const headers = smallryeHeaderNames('delayed-retry-')
const count = 'delayed-retry-count'
const originalTimestamp = 'delayed-retry-original-timestamp'

/** Reads the strategy's headers. */
export const smallryeDelayedRetry: FamilyParser = {
  family: 'smallrye-delayed-retry',
  names: [...Object.values(headers), count, originalTimestamp],
  marks: [headers.topic],
  placement: 'prepends',
  coordinates: 'newest',
  isPresent: (index) => index.has(headers.topic),
  parse: (index) => ({
    ...readMainTopic(index),
    consumerGroup: null,
    ...smallryeError(index, headers),
    errorStacktrace: null,
  }),
}

/**
 * The first set, read from the front, whose topic is the main topic. Everything in front of it
 * failed on retry topics; sets behind it are stale: somebody republished the record with its headers,
 * after which `delayed-retry-count` and `-original-timestamp` still are the first failure's.
 */
function readMainTopic(index: HeaderIndex) {
  const topics = index.get(headers.topic) ?? []
  const names = topics.map(({ value }) => name(value))
  const mainTopic = names.at(-1) ?? null
  const main = names.findIndex((name) => name !== null && (name === mainTopic || !isRetryTopic(name)))
  const isNewest = main === -1 || main === topics.length - 1
  const retries = toCount(decimal(lastValue(index, count)))
  return {
    originalTopic: names[main] ?? null,
    originalPartition: toPartition(decimal(valueOfSet(index, headers.partition, topics, main))),
    originalOffset: toOffset(decimal(valueOfSet(index, headers.offset, topics, main))),
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
