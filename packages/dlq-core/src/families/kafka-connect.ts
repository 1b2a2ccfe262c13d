// Kafka Connect sink connectors with errors.deadletterqueue.context.headers.enable: text and decimal
// numbers, each set appended, beginning with the topic. A null message header means: no message.
// Source: kafka, DeadLetterQueueReporter.populateContextHeaders.

import { decimal, name, text, toOffset, toPartition, toTimestamp } from './decode.ts'
import { errorOf } from './error-of.ts'
import type { FamilyParser } from './family.ts'
import { appendedValue } from './header-index.ts'

const prefix = '__connect.errors.'
const topic = `${prefix}topic`
const partition = `${prefix}partition`
const offset = `${prefix}offset`
const connector = `${prefix}connector.name`
const exceptionClass = `${prefix}exception.class.name`
const message = `${prefix}exception.message`
const stacktrace = `${prefix}exception.stacktrace`
const names = [topic, partition, offset, connector, exceptionClass, message, stacktrace]

/**
 * Reads the context headers. The dead letter keeps the original record's timestamp, and a sink
 * connector consumes as group `connect-<connector name>` unless its configuration overrides it.
 */
export const kafkaConnect: FamilyParser = {
  family: 'kafka-connect',
  names,
  marks: [topic],
  placement: 'appends',
  coordinates: 'newest',
  isPresent: (index) => index.has(topic),
  parse(index, record) {
    const value = (header: string) => appendedValue(index, header, topic)
    const connectorName = name(value(connector))
    const errorStacktrace = text(value(stacktrace))
    const named = [{ errorClass: name(value(exceptionClass)), errorMessage: text(value(message)) }]
    return {
      originalTopic: name(value(topic)),
      originalPartition: toPartition(decimal(value(partition))),
      originalOffset: toOffset(decimal(value(offset))),
      originalTimestamp: toTimestamp(record.timestamp),
      consumerGroup: connectorName === null ? null : `connect-${connectorName}`,
      ...errorOf(named, errorStacktrace),
      errorStacktrace,
      attempts: null,
    }
  },
}
