// Kafka Streams 4.2 and later (KIP-1034): text and decimal numbers, each set appended, beginning with
// the exception. Message and topic may be null, partition and offset −1 (punctuators); the topic may
// be a repartition topic. Source: kafka, ExceptionHandlerUtils.buildDeadLetterQueueRecord.

import { decimal, name, text, toOffset, toPartition, toTimestamp } from './decode.ts'
import { errorOf } from './error-of.ts'
import type { FamilyParser } from './family.ts'
import { appendedValue } from './header-index.ts'

const prefix = '__streams.errors.'
const exception = `${prefix}exception`
const message = `${prefix}message`
const stacktrace = `${prefix}stacktrace`
const topic = `${prefix}topic`
const partition = `${prefix}partition`
const offset = `${prefix}offset`

/** Reads the headers; the dead letter keeps the original record's timestamp. The application id is not told. */
export const kafkaStreams: FamilyParser = {
  family: 'kafka-streams',
  names: [exception, message, stacktrace, topic, partition, offset],
  marks: [exception],
  placement: 'appends',
  coordinates: 'newest',
  isPresent: (index) => index.has(exception),
  parse(index, record) {
    const value = (header: string) => appendedValue(index, header, exception)
    const errorStacktrace = text(value(stacktrace))
    const [errorClass, inline] = classAndMessage(name(value(exception)))
    return {
      originalTopic: name(value(topic)),
      originalPartition: toPartition(decimal(value(partition))),
      originalOffset: toOffset(decimal(value(offset))),
      originalTimestamp: toTimestamp(record.timestamp),
      consumerGroup: null,
      ...errorOf([{ errorClass, errorMessage: text(value(message)) ?? inline }], errorStacktrace),
      errorStacktrace,
      attempts: null,
    }
  },
}

/** Builds before 4.2's release wrote the exception's toString(): "class: message". */
function classAndMessage(exception: string | null): [errorClass: string | null, message: string | null] {
  const colon = exception?.indexOf(': ') ?? -1
  return exception === null || colon === -1
    ? [exception, null]
    : [exception.slice(0, colon), exception.slice(colon + ': '.length)]
}
