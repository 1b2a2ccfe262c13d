// Shared by SmallRye's two strategies: the same headers under another prefix, each new set in front of
// the headers the record came with, so the first value is the newest. A set begins with the exception;
// its cause may be left out, and old versions write no class, their sets begin with the reason.
// Source: smallrye, KafkaDeadLetterQueue.handle, KafkaDelayedRetryTopic.handle.

import { name, text } from './decode.ts'
import { type ErrorDescription, errorOf } from './error-of.ts'
import { type HeaderIndex, prependedValue } from './header-index.ts'

export type SmallryeHeaderNames = ReturnType<typeof smallryeHeaderNames>

/** The header names with a prefix. */
export function smallryeHeaderNames(prefix: 'dead-letter-' | 'delayed-retry-') {
  return {
    exceptionClass: `${prefix}exception-class-name`,
    reason: `${prefix}reason`,
    causeClass: `${prefix}cause-class-name`,
    cause: `${prefix}cause`,
    topic: `${prefix}topic`,
    partition: `${prefix}partition`,
    offset: `${prefix}offset`,
  }
}

/** The newest set's value of a header. */
export function smallryeValue(index: HeaderIndex, names: SmallryeHeaderNames, header: string): Buffer | null {
  return prependedValue(index, header, index.has(names.exceptionClass) ? names.exceptionClass : names.reason)
}

/** The newest set's error. Where the listener was invoked by reflection, only wrappers are named. */
export function smallryeError(index: HeaderIndex, names: SmallryeHeaderNames): ErrorDescription {
  const error = (className: string, message: string) => ({
    errorClass: name(smallryeValue(index, names, className)),
    errorMessage: text(smallryeValue(index, names, message)),
  })
  return errorOf([error(names.exceptionClass, names.reason), error(names.causeClass, names.cause)], null)
}
