// Kafka's share groups (KIP-1191): written by the broker. The record's key and value are null unless
// copying is on; the topic may be the topic's UUID; the delivery count may be left out.
// Source: kafka, ShareGroupDLQStateManager.headers.

import { decimal, name, text, toCount } from './decode.ts'
import type { FamilyParser } from './family.ts'
import { kafkaErrorHeaders } from './kafka-error-headers.ts'

const { shape, read } = kafkaErrorHeaders('__dlq.errors.', 'topic', [
  'topic',
  'partition',
  'offset',
  'group',
  'delivery.count',
  'message',
])

/** Reads the broker's headers. There is no exception: the message is one of two fixed texts. */
export const shareGroup: FamilyParser = {
  family: 'share-group',
  ...shape,
  parse(index) {
    const { value, original } = read(index)
    return {
      ...original,
      originalTimestamp: null,
      consumerGroup: name(value('group')),
      errorClass: null,
      errorMessage: text(value('message')),
      errorStacktrace: null,
      attempts: toCount(decimal(value('delivery.count'))),
    }
  },
}
