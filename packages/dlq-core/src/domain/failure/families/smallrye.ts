// SmallRye Reactive Messaging and Quarkus, strategy dead-letter-queue: text and decimal numbers, the
// newest set first.

import { decimal, name, toOffset, toPartition } from './decode.ts'
import type { FamilyParser } from './family.ts'
import { smallryeError, smallryeHeaderNames, smallryeValue } from './smallrye-headers.ts'

const headers = smallryeHeaderNames('dead-letter-')

/** Reads the strategy's headers. */
export const smallrye: FamilyParser = {
  family: 'smallrye',
  names: Object.values(headers),
  marks: [headers.topic],
  placement: 'prepends',
  coordinates: 'newest',
  isPresent: (index) => index.has(headers.topic),
  parse(index) {
    const value = (header: string) => smallryeValue(index, headers, header)
    return {
      originalTopic: name(value(headers.topic)),
      originalPartition: toPartition(decimal(value(headers.partition))),
      originalOffset: toOffset(decimal(value(headers.offset))),
      originalTimestamp: null,
      consumerGroup: null,
      ...smallryeError(index, headers),
      errorStacktrace: null,
      attempts: null,
    }
  },
}
