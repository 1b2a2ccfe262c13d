// A reader whose single fetches unpack within bounds of their own. Without them, what is fetched while a batch is stored
// would count for the fetch that brought the batch: that one's bounds are spent soon, and what is left cannot be read.

import type { FetchedRecords } from '../kafka/questions/fetch-records.ts'
import type { TopicReader } from '../kafka/topic-reader.ts'
import type { DecodePool } from './decode-budget.ts'
import { noRoomNow } from './kafka-codecs.ts'

/** Only `boundedReader` makes one. */
export type BoundedReader = TopicReader & { readonly isBounded: true }

/**
 * The same reader. What a fetch of records unpacks counts for the pool until the fetch is over. An answer ends before the
 * batch for which it had no room: a later fetch reads on from there.
 */
export function boundedReader(reader: TopicReader, pool: DecodePool): BoundedReader {
  return {
    ...reader,
    isBounded: true,
    fetchRecords: (place) => pool.within(async () => withoutLeft(await reader.fetchRecords(place), place.offset)),
  }
}

/** A compressed megabyte may hold many batches. Each of them may unpack to a megabyte. */
function withoutLeft(fetched: FetchedRecords, offset: bigint): FetchedRecords {
  if (fetched.kind !== 'records') return fetched
  const at = fetched.messages.findIndex(({ undecodable }) => undecodable?.reason === noRoomNow)
  if (at === -1) return fetched
  const nextOffset = BigInt(fetched.messages[at]!.undecodable!.firstOffset)
  // Else the caller would ask for the same again and again.
  return nextOffset > offset ? { ...fetched, messages: fetched.messages.slice(0, at), nextOffset } : fetched
}
