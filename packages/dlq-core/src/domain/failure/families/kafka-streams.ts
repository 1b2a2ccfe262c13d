// Kafka Streams 4.2 and later (KIP-1034). Message and topic may be null, partition and offset −1
// (punctuators); the topic may be a repartition topic.
// Source: kafka, ExceptionHandlerUtils.buildDeadLetterQueueRecord.

import { name, text, toTimestamp } from './decode.ts'
import { errorOf } from './error-of.ts'
import type { FamilyParser } from './family.ts'
import { kafkaErrorHeaders } from './kafka-error-headers.ts'

const { shape, read } = kafkaErrorHeaders('__streams.errors.', 'exception', [
  'exception',
  'message',
  'stacktrace',
  'topic',
  'partition',
  'offset',
])

/** Reads the headers; the dead letter keeps the original record's timestamp. The application id is not told. */
export const kafkaStreams: FamilyParser = {
  family: 'kafka-streams',
  ...shape,
  parse(index, record) {
    const { value, original } = read(index)
    const errorStacktrace = text(value('stacktrace'))
    const [errorClass, inline] = classAndMessage(name(value('exception')))
    return {
      ...original,
      originalTimestamp: toTimestamp(record.timestamp),
      consumerGroup: null,
      ...errorOf([{ errorClass, errorMessage: text(value('message')) ?? inline }], errorStacktrace),
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
