// Shared by the headers of Kafka's own parts (Connect, Streams, share groups): text and decimal numbers,
// `__<part>.errors.*`, each set appended, beginning with one header that is always there.

import { decimal, name, toOffset, toPartition } from './decode.ts'
import type { FamilyParser } from './family.ts'
import { appendedValue, type HeaderIndex } from './header-index.ts'

type Prefix = '__connect.errors.' | '__streams.errors.' | '__dlq.errors.'

/**
 * What of a parser follows from the names alone, and a reader of the newest set: `value` of a header by
 * its name behind the prefix, and the coordinates.
 *
 * @param anchor the header that each set begins with, as it stands in `names`
 */
export function kafkaErrorHeaders(prefix: Prefix, anchor: string, names: readonly string[]) {
  const first = prefix + anchor
  const shape = {
    names: names.map((name) => prefix + name),
    marks: [first],
    placement: 'appends',
    coordinates: 'newest',
    isPresent: (index) => index.has(first),
  } satisfies Partial<FamilyParser>
  const read = (index: HeaderIndex) => {
    const value = (header: string) => appendedValue(index, prefix + header, first)
    return {
      value,
      original: {
        originalTopic: name(value('topic')),
        originalPartition: toPartition(decimal(value('partition'))),
        originalOffset: toOffset(decimal(value('offset'))),
      },
    }
  }
  return { shape, read }
}
