// Kafka Connect sink connectors with errors.deadletterqueue.context.headers.enable. A null message header
// means: no message. Source: kafka, DeadLetterQueueReporter.populateContextHeaders.

import { name, text, toTimestamp } from './decode.ts'
import { errorOf } from './error-of.ts'
import type { FamilyParser } from './family.ts'
import { kafkaErrorHeaders } from './kafka-error-headers.ts'

const { shape, read } = kafkaErrorHeaders('__connect.errors.', 'topic', [
  'topic',
  'partition',
  'offset',
  'connector.name',
  'exception.class.name',
  'exception.message',
  'exception.stacktrace',
])

/**
 * Reads the context headers. The dead letter keeps the original record's timestamp, and a sink
 * connector consumes as group `connect-<connector name>` unless its configuration overrides it.
 */
export const kafkaConnect: FamilyParser = {
  family: 'kafka-connect',
  ...shape,
  parse(index, record) {
    const { value, original } = read(index)
    const connectorName = name(value('connector.name'))
    const errorStacktrace = text(value('exception.stacktrace'))
    const named = [{ errorClass: name(value('exception.class.name')), errorMessage: text(value('exception.message')) }]
    return {
      ...original,
      originalTimestamp: toTimestamp(record.timestamp),
      consumerGroup: connectorName === null ? null : `connect-${connectorName}`,
      ...errorOf(named, errorStacktrace),
      errorStacktrace,
      attempts: null,
    }
  },
}
