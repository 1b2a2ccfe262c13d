// Spring for Apache Kafka's DeadLetterPublishingRecoverer: `kafka_dlt-*`. At a second failure it
// appends the original coordinates and replaces the exception headers, so the last value is the newest.

import { fixedInteger, toCount } from './decode.ts'
import type { FamilyParser } from './family.ts'
import type { HeaderIndex } from './header-index.ts'
import { allNames, springError, springHeaderNames, springOriginal } from './spring-headers.ts'

const headers = springHeaderNames('kafka_dlt-')
const deliveryAttempt = 'kafka_deliveryAttempt'
// Not the consumer group: @RetryableTopic writes that header too.
const marks = allNames(headers).filter((name) => name !== headers.consumerGroup)

/** Reads `kafka_dlt-original-*`, `kafka_dlt-[key-]exception-*` and `kafka_deliveryAttempt`. */
export const springDlt: FamilyParser = {
  family: 'spring-dlt',
  names: [...allNames(headers), deliveryAttempt],
  marks,
  placement: 'appends',
  coordinates: 'newest',
  isPresent: (index) => marks.some((name) => index.has(name)),
  parse: (index) => ({
    ...springOriginal(index, headers),
    ...springError(index, headers),
    attempts: attemptsMade(index),
  }),
}

/**
 * The container appends its count (int32, where it is switched on) before the recoverer adds its
 * headers; a count in front of the previous failure's topic is that failure's.
 */
function attemptsMade(index: HeaderIndex): number | null {
  const count = index.get(deliveryAttempt)?.at(-1)
  const previousFailure = index.get(headers.topic)?.at(-2)?.at ?? -1
  return count === undefined || count.at < previousFailure ? null : toCount(fixedInteger(count.value))
}
