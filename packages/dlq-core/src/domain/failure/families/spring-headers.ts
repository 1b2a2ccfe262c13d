// Shared by the two families of Spring for Apache Kafka: the same values under different header names.
// Source: spring-kafka, DeadLetterRecordManager (addExceptionInfoHeaders, maybeAddOriginalHeaders).

import { fixedInteger, name, text, toOffset, toPartition, toTimestamp } from './decode.ts'
import { causeChain, errorOf, type NamedError } from './error-of.ts'
import { appendedValue, type HeaderIndex, lastPlace, lastValue } from './header-index.ts'

export type SpringHeaderNames = {
  readonly topic: string
  readonly partition: string
  readonly offset: string
  readonly timestamp: string
  readonly consumerGroup: string
  readonly causeClass: string
  readonly value: ErrorHeaderNames
  readonly key: ErrorHeaderNames
}

type ErrorHeaderNames = { readonly class: string; readonly message: string; readonly stacktrace: string }

/** The header names with a prefix; both dialects write the group to a `kafka_dlt-` header (KafkaHeaders.java). */
export function springHeaderNames(prefix: 'kafka_dlt-' | 'kafka_'): SpringHeaderNames {
  const error = (kind: string): ErrorHeaderNames => ({
    class: `${prefix}${kind}-fqcn`,
    message: `${prefix}${kind}-message`,
    stacktrace: `${prefix}${kind}-stacktrace`,
  })
  return {
    topic: `${prefix}original-topic`,
    partition: `${prefix}original-partition`,
    offset: `${prefix}original-offset`,
    timestamp: `${prefix}original-timestamp`,
    consumerGroup: 'kafka_dlt-original-consumer-group',
    causeClass: `${prefix}exception-cause-fqcn`,
    value: error('exception'),
    key: error('key-exception'),
  }
}

/** Every header name of a dialect. */
export function allNames({ value, key, ...others }: SpringHeaderNames): string[] {
  return [...Object.values(others), ...Object.values(value), ...Object.values(key)]
}

/** Original topic, partition (int32), offset and timestamp (int64) and the consumer group, of the last set. */
export function springOriginal(index: HeaderIndex, names: SpringHeaderNames) {
  const value = (header: string) => appendedValue(index, header, names.topic)
  return {
    originalTopic: name(lastValue(index, names.topic)),
    originalPartition: toPartition(fixedInteger(value(names.partition))),
    originalOffset: toOffset(fixedInteger(value(names.offset))),
    originalTimestamp: toTimestamp(fixedInteger(value(names.timestamp))),
    consumerGroup: name(value(names.consumerGroup)),
  }
}

/**
 * The error. The class header is usually ListenerExecutionFailedException, and the cause's class
 * has its own header; for a failed deserializer that too is only the wrapper. The message
 * header is the wrapper's, "; " and the cause's, so the cause's own is read from the stack trace.
 */
export function springError(index: HeaderIndex, names: SpringHeaderNames) {
  const error = newestErrorNames(index, names)
  const header = (name: string) => appendedValue(index, name, error.class)
  const errorStacktrace = text(header(error.stacktrace))
  const message = text(header(error.message))
  const classes = [name(lastValue(index, error.class)), name(header(names.causeClass))]
  const chain = causeChain(errorStacktrace)
  const named = classes.map((errorClass) => ({ errorClass, errorMessage: messageOf(errorClass, message, chain) }))
  return { ...errorOf(named, errorStacktrace), errorStacktrace }
}

/** Key and value may both have failed, then the value comes last; a stale one of an earlier failure comes first. */
function newestErrorNames(index: HeaderIndex, { key, value }: SpringHeaderNames): ErrorHeaderNames {
  const keyPlace = lastPlace(index, Object.values(key))
  return keyPlace > lastPlace(index, Object.values(value)) ? key : value
}

function messageOf(errorClass: string | null, message: string | null, chain: readonly NamedError[]): string | null {
  const inTrace = chain.find((error) => error.errorClass === errorClass)
  return inTrace === undefined ? withoutWrapper(message) : inTrace.errorMessage
}

/** "Listener method '…' threw exception; boom" → "boom"; the text after the "; " is empty where the cause has none. */
function withoutWrapper(message: string | null): string | null {
  if (message === null) return null
  if (message.startsWith('Listener failed; ')) return message.slice('Listener failed; '.length)
  const end = message.startsWith('Listener method ') ? message.indexOf('threw exception; ') : -1
  return end === -1 ? message : message.slice(end + 'threw exception; '.length)
}
