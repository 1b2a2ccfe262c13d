// Dead letters of keys or messages that somebody has erased: read again after a reset or a restore, or failing again
// later, they are stored without what they hold.

import { erasureKey, idDigest, keyDigest, placeDigest } from 'dlq-core/domain/erase/erasure-digest.ts'
import type { DeadLetter, NewMessage } from 'dlq-core/domain/message/new-message.ts'
import { type Erasure, type ErasureKey, findErasures, readErasureKeys } from 'dlq-core/queries/erase/erasures.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import { correlateByPlace, type LookedAt, originOf } from '../store/correlate-by-place.ts'

/** A run began to erase while a batch was read: it is read again. */
export class ErasuresChanged extends Error {}

/** What was asked, to see in the transaction whether it still holds. */
export type Erasures = { readonly marker: string; readonly erased: ReadonlySet<string> }

/** Where nobody has ever erased anything. */
const nothingErased: Erasures = { marker: markerOf([]), erased: new Set() }

/** Empties the letters that are erased. Call it before anything else of them is stored, such as their groups. */
export async function forgetErased(
  sql: Sql,
  read: readonly DeadLetter[],
  lookedAt: LookedAt,
): Promise<{ letters: readonly DeadLetter[]; erasures: Erasures }> {
  const keys = await readErasureKeys(sql)
  if (keys.length === 0) return { letters: read, erasures: nothingErased }
  // Failures of erased messages are known by their ids, also where the consumer's framework has dropped our headers.
  const { letters } = await correlateByPlace(sql, read, lookedAt)
  const signsOf = signsUnder(keys)
  const signs = letters.map(signsOf)
  const isMet = await findMet(sql, signs.flat())
  const erased = new Set<string>()
  const forgotten = read.map((letter, at) => {
    if (!signs[at]!.some(isMet)) return letter
    erased.add(letter.message.id)
    return {
      ...letter,
      message: emptied(letter.message),
      isPayloadDeferred: false,
      originWanted: null,
      framedHeaders: null,
      trace: null,
    }
  })
  return { letters: forgotten, erasures: { marker: markerOf(keys), erased } }
}

/** Collects letters whose rows are written before it is known whether they are erased, and says whether one of them is. */
export type ErasedSearch = {
  add(letter: DeadLetter): void
  isAnyErased(): Promise<boolean>
  /** What holds where none is. */
  erasures: Erasures
}

export async function searchErased(sql: Sql): Promise<ErasedSearch> {
  const keys = await readErasureKeys(sql)
  if (keys.length === 0) return { add() {}, isAnyErased: async () => false, erasures: nothingErased }
  const signsOf = signsUnder(keys)
  const signs: Sign[] = []
  return {
    add(letter) {
      signs.push(...signsOf(letter))
    },
    isAnyErased: async () => signs.some(await findMet(sql, signs)),
    erasures: { marker: markerOf(keys), erased: new Set() },
  }
}

/** In the transaction that stores: from now to its end no run begins to erase. @throws {ErasuresChanged} */
export async function requireSameErasures(sql: Sql, { marker }: Erasures): Promise<void> {
  if (markerOf(await readErasureKeys(sql)) !== marker) throw new ErasuresChanged('an erasure began')
}

function markerOf(keys: readonly ErasureKey[]): string {
  return keys.map(({ hmac_key, version }) => `${hmac_key.toString('hex')} ${version}`).join()
}

/** What a letter may be recognised by. `topic` and `time` of its record where that is its key or place; null for an id. */
type Sign = { digest: string; record: { topic: string; time: Date | null } | null }

function signsUnder(keys: readonly ErasureKey[]): (letter: DeadLetter) => Sign[] {
  const digestKeys = keys.map(({ hmac_key }) => erasureKey(hmac_key))
  return (letter) => {
    const { message, republished } = letter
    const { id, record_key, original_topic: topic, original_timestamp, record_timestamp } = message
    const ids = republished === null ? [id] : [id, republished.messageId]
    const record = { topic, time: original_timestamp ?? record_timestamp }
    // The attempts of a message whose row was deleted tell no place any more.
    const origin = originOf(letter)
    return digestKeys.flatMap((key) => [
      ...ids.map((id) => ({ digest: idDigest(key, id), record: null })),
      ...(origin === null ? [] : [{ digest: placeDigest(key, origin), record }]),
      ...(record_key === null ? [] : [{ digest: keyDigest(key, record_key), record }]),
    ])
  }
}

/** Which of the signs are those of something erased. */
async function findMet(sql: Sql, signs: readonly Sign[]): Promise<(sign: Sign) => boolean> {
  const erasures = await findErasures(
    sql,
    signs.map(({ digest }) => digest),
  )
  const found = Map.groupBy(erasures, ({ digest }) => digest)
  return ({ digest, record }) =>
    found.get(digest)?.some((erasure) => record === null || isBefore(record, erasure)) ?? false
}

/** Whether the record may be one that was erased. A later record may have its key, and its place in a topic that was created again. One without a time counts as old. */
function isBefore({ topic, time }: NonNullable<Sign['record']>, { topics, cutoff }: Erasure): boolean {
  if (topics !== null && !topics.includes(topic)) return false
  return time === null || time <= cutoff
}

function emptied(message: NewMessage): NewMessage {
  return {
    ...message,
    ...{ record_key: null, record_value: null, record_headers: null, payload: null, order_key: null },
    ...{ error_message: 'erased', error_stacktrace: null, frames_id: null, unstored_value_bytes: null },
    ...{ value_schema: null, decode_state: null, next_retry_at: null, origin_state: 15 },
  }
}
