// Writes rows for COPY as soon as their records are read. Letters that wait for the database's answers outlive several
// collections of young garbage, and were most of what these had to copy. Nearly every row can be written at once: its
// group, its route and its frames are known, and nothing of it has to be fetched, compared or decoded. Of these rows only
// what the transaction asks about is kept; the others stay letters until they are stored.

import type { DeadLetter, NewMessage } from 'dlq-core/domain/message/new-message.ts'
import type { DeadLetterRecord, Records } from 'dlq-core/domain/record/record.ts'
import type { RecordPlace } from 'dlq-core/domain/record/record-place.ts'
import { type EncodedMessages, encodeMessages, forgetEncoded } from 'dlq-core/queries/ingest/message-insert.ts'
import type { IdRange } from 'dlq-core/queries/upkeep/deferred-payloads.ts'
import type { Decoder } from '../decode/decode-letters.ts'
import type { ConsumerRegister } from '../registers/consumer-register.ts'
import type { FramesRegister } from '../registers/frames-register.ts'
import type { GroupRegister } from '../registers/group-register.ts'
import type { RouteRegister } from '../registers/route-register.ts'
import { originOf } from '../store/correlate-by-place.ts'
import type { ErasedSearch } from './forget-erased.ts'
import { lacksBytes } from './needs-original.ts'

export type StoredMessage = Pick<NewMessage, 'id' | 'dlq_offset'>

/** Rows that are written already, and what has to be known of them to store them. */
export type EarlyRows = {
  encoded: EncodedMessages
  /** In the order of their records. */
  messages: StoredMessage[]
  /** Where their original records stand. */
  places: RecordPlace[]
  framesIds: Set<string>
  /** From the first to the last whose payload is to be stored later. */
  deferred: IdRange | null
  /** Whether one of them is of something erased. */
  erased: ErasedSearch
}

/** What the transaction found is not what the rows were written for: the batch is read again, without early rows. */
export class EarlyRowsOutdated extends Error {}

type Deps = {
  decoder: Pick<Decoder, 'concerns'> | null
  groups: Pick<GroupRegister, 'assignKnown'>
  routes: Pick<RouteRegister, 'admitKnown'>
  consumers: Pick<ConsumerRegister, 'admitKnown'>
  frames: Pick<FramesRegister, 'shortenKnown'>
  erased: ErasedSearch
}

/**
 * Reads the records with `read`. `letters`: of those whose rows cannot be written yet, which are `left`. `early`: null
 * where no row was written. All of it is null where a record's original may have to be fetched first.
 */
export function readEarly(
  deps: Deps,
  records: Records,
  read: (record: DeadLetterRecord) => DeadLetter,
): { early: EarlyRows | null; left: DeadLetterRecord[]; letters: DeadLetter[] } | null {
  const left: DeadLetterRecord[] = []
  const letters: DeadLetter[] = []
  let early: EarlyRows | null = null
  for (const record of records) {
    if (lacksBytes(record)) {
      if (early !== null) forgetEncoded(early.encoded)
      return null
    }
    const letter = read(record)
    if (isComplete(deps, record, letter)) {
      early ??= emptyRows(deps.erased)
      add(early, letter)
    } else {
      left.push(record)
      letters.push(letter)
    }
  }
  return { early, left, letters }
}

/** Whether all columns of its row are known; then they are set. */
function isComplete(
  { decoder, groups, frames, routes, consumers }: Deps,
  record: DeadLetterRecord,
  letter: DeadLetter,
): boolean {
  if (letter.republished !== null || letter.originWanted !== null || decoder?.concerns(record, letter)) return false
  // Frames last: only they change what the others read.
  const { message } = letter
  if (!groups.assignKnown(letter) || !routes.admitKnown(message) || !consumers.admitKnown(message)) return false
  return frames.shortenKnown(letter)
}

function emptyRows(erased: ErasedSearch): EarlyRows {
  return { encoded: encodeMessages(), messages: [], places: [], framesIds: new Set(), deferred: null, erased }
}

function add(early: EarlyRows, letter: DeadLetter): void {
  const { message } = letter
  const { id, dlq_offset, frames_id: framesId } = message
  const place = originOf(letter)
  if (place !== null) early.places.push(place)
  if (framesId !== null) early.framesIds.add(framesId)
  if (letter.isPayloadDeferred) early.deferred = widened(early.deferred, id)
  early.messages.push({ id, dlq_offset })
  early.erased.add(letter)
  early.encoded.add(message)
}

/** The range of ids with one more. */
export function widened(range: IdRange | null, id: string): IdRange {
  if (range === null) return { from: id, until: id }
  if (id < range.from) return { from: id, until: range.until }
  return id > range.until ? { from: range.from, until: id } : range
}
