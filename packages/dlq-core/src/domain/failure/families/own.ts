// Our own client's dead letters: UTF-8 text and decimal numbers, single-valued. The client replaces
// the headers of an earlier failure; should another writer append, the last value is the newest.

import { decimal, name, text, toCount, toOffset, toPartition, toTimestamp } from './decode.ts'
import { errorOf } from './error-of.ts'
import type { FamilyParser } from './family.ts'
import { lastValue } from './header-index.ts'

/** The headers that describe a failure; `dlq-client` writes them. */
export const ownHeaders = {
  topic: 'dlq-original-topic',
  partition: 'dlq-original-partition',
  offset: 'dlq-original-offset',
  timestamp: 'dlq-original-timestamp',
  consumerGroup: 'dlq-consumer-group',
  errorClass: 'dlq-error-class',
  errorMessage: 'dlq-error-message',
  errorStacktrace: 'dlq-error-stacktrace',
  attempts: 'dlq-attempts',
} as const

/** The headers of every republished record. By them the ingester recognises a re-failure. */
export const republishHeaderNames = {
  messageId: 'dlq-message-id',
  attempt: 'dlq-attempt',
  attemptId: 'dlq-attempt-id',
  /** TOPIC/GROUP: whom the record is for, among the groups that read the topic. */
  forGroup: 'dlq-for-group',
} as const

const marks = [ownHeaders.topic, ownHeaders.errorClass, ownHeaders.errorMessage]

/** Reads `dlq-original-*`, `dlq-error-*`, `dlq-consumer-group` and `dlq-attempts`. */
export const own: FamilyParser = {
  family: 'dlq-manager',
  names: Object.values(ownHeaders),
  marks,
  placement: 'appends',
  coordinates: 'newest',
  isPresent: (index) => marks.some((name) => index.has(name)),
  parse(index) {
    const value = (header: keyof typeof ownHeaders) => lastValue(index, ownHeaders[header])
    const errorStacktrace = text(value('errorStacktrace'))
    const named = [{ errorClass: name(value('errorClass')), errorMessage: text(value('errorMessage')) }]
    return {
      originalTopic: name(value('topic')),
      originalPartition: toPartition(decimal(value('partition'))),
      originalOffset: toOffset(decimal(value('offset'))),
      originalTimestamp: toTimestamp(decimal(value('timestamp'))),
      consumerGroup: name(value('consumerGroup')),
      ...errorOf(named, errorStacktrace),
      errorStacktrace,
      attempts: toCount(decimal(value('attempts'))),
    }
  },
}
