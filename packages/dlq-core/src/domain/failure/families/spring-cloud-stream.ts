// Spring Cloud Stream's Kafka binder (headerMode=headers): `x-original-*`, `x-exception-*`, every set
// appended, beginning with the topic; the message is left out where the exception has none.
// Source: spring-cloud-stream, KafkaMessageChannelBinder.handleRecordForDlq.

import { fixedInteger, name, text, toOffset, toPartition, toTimestamp } from './decode.ts'
import { errorOf } from './error-of.ts'
import type { FamilyParser } from './family.ts'
import { appendedValue } from './header-index.ts'

const topic = 'x-original-topic'
const partition = 'x-original-partition'
const offset = 'x-original-offset'
const timestamp = 'x-original-timestamp'
const exceptionClass = 'x-exception-fqcn'
const message = 'x-exception-message'
const stacktrace = 'x-exception-stacktrace'
const names = [topic, partition, offset, timestamp, exceptionClass, message, stacktrace]

/** Reads the binder's headers; the group is in the default DLQ topic's name, `error.<topic>.<group>`. */
export const springCloudStream: FamilyParser = {
  family: 'spring-cloud-stream',
  names,
  marks: [topic, exceptionClass],
  placement: 'appends',
  coordinates: 'newest',
  isPresent: (index) => index.has(topic),
  parse(index, record) {
    const value = (header: string) => appendedValue(index, header, topic)
    const originalTopic = name(value(topic))
    const errorStacktrace = text(value(stacktrace))
    const named = [{ errorClass: name(value(exceptionClass)), errorMessage: text(value(message)) }]
    return {
      originalTopic,
      originalPartition: toPartition(fixedInteger(value(partition))),
      originalOffset: toOffset(fixedInteger(value(offset))),
      originalTimestamp: toTimestamp(fixedInteger(value(timestamp))),
      consumerGroup: groupOf(record.topic, originalTopic),
      ...errorOf(named, errorStacktrace),
      errorStacktrace,
      attempts: null,
    }
  },
}

function groupOf(dlqTopic: string, originalTopic: string | null): string | null {
  const prefix = `error.${originalTopic}.`
  return originalTopic !== null && dlqTopic.startsWith(prefix) ? dlqTopic.slice(prefix.length) || null : null
}
