// Kafka's share groups (KIP-1191): written by the broker, text and decimal numbers. The record's key
// and value are null unless copying is on; the topic may be the topic's UUID; the delivery count may
// be left out. Source: kafka, ShareGroupDLQStateManager.headers.

import { decimal, name, text, toCount, toOffset, toPartition } from './decode.ts'
import type { FamilyParser } from './family.ts'
import { appendedValue } from './header-index.ts'

const prefix = '__dlq.errors.'
const topic = `${prefix}topic`
const partition = `${prefix}partition`
const offset = `${prefix}offset`
const group = `${prefix}group`
const deliveryCount = `${prefix}delivery.count`
const message = `${prefix}message`

/** Reads the broker's headers. There is no exception: the message is one of two fixed texts. */
export const shareGroup: FamilyParser = {
  family: 'share-group',
  names: [topic, partition, offset, group, deliveryCount, message],
  marks: [topic],
  placement: 'appends',
  coordinates: 'newest',
  isPresent: (index) => index.has(topic),
  parse(index) {
    const value = (header: string) => appendedValue(index, header, topic)
    return {
      originalTopic: name(value(topic)),
      originalPartition: toPartition(decimal(value(partition))),
      originalOffset: toOffset(decimal(value(offset))),
      originalTimestamp: null,
      consumerGroup: name(value(group)),
      errorClass: null,
      errorMessage: text(value(message)),
      errorStacktrace: null,
      attempts: toCount(decimal(value(deliveryCount))),
    }
  },
}
