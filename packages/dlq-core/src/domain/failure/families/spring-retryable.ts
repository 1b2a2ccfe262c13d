// Spring for Apache Kafka's @RetryableTopic: `kafka_original-*`, `kafka_exception-*`, `retry_topic-*`.
// It writes the original coordinates only if there are none yet (setAppendOriginalHeaders(false)), so
// they are the first failure's, even after somebody republished the record with its headers.

import { fixedInteger, toCount, variableInteger } from './decode.ts'
import type { FamilyParser } from './family.ts'
import { type HeaderIndex, lastValue } from './header-index.ts'
import { allNames, springError, springHeaderNames, springOriginal } from './spring-headers.ts'

const headers = springHeaderNames('kafka_')
const attempts = 'retry_topic-attempts'
const originalTimestamp = 'retry_topic-original-timestamp'
const marks = [...allNames(headers).filter((name) => name !== headers.consumerGroup), attempts, originalTimestamp]

/** Reads `kafka_original-*`, `kafka_[key-]exception-*`, `retry_topic-*` and `kafka_dlt-original-consumer-group`. */
export const springRetryable: FamilyParser = {
  family: 'spring-retryable',
  names: [...allNames(headers), attempts, originalTimestamp],
  marks,
  placement: 'appends',
  coordinates: 'first',
  isPresent: (index) => index.has(attempts) || index.has(headers.topic),
  parse(index) {
    const original = springOriginal(index, headers)
    const epoch = variableInteger(lastValue(index, originalTimestamp))
    return {
      ...original,
      originalTimestamp: original.originalTimestamp ?? (epoch !== null && epoch >= 0n ? epoch : null),
      ...springError(index, headers),
      attempts: attemptsMade(index),
    }
  },
}

/**
 * The header is int32, one byte in old versions, and names the attempt to come: one more than were
 * made (DeadLetterPublishingRecovererFactory.addHeaders). Beyond Short.MAX_VALUE Spring ignores it.
 */
function attemptsMade(index: HeaderIndex): number | null {
  const value = lastValue(index, attempts)
  const next = value !== null && value.length === 1 ? value[0]! : toCount(fixedInteger(value))
  return next === null || next < 1 || next > 32_767 ? null : next - 1
}
