// Dead letters of keys or messages that somebody has erased: read again after a reset or a restore, or failing again
// later, they are stored without what they hold.

import { idDigest, keyDigest } from 'dlq-core/domain/erase/erasure-digest.ts'
import type { DeadLetter, NewMessage } from 'dlq-core/domain/message/new-message.ts'
import { type ErasureKey, findErasures, readErasureKeys } from 'dlq-core/queries/erase/erasures.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import { correlateByPlace } from '../store/correlate-by-place.ts'

/** A run began to erase while a batch was read: it is read again. */
export class ErasuresChanged extends Error {}

/** What was asked, to see in the transaction whether it still holds. */
export type Erasures = { readonly marker: string; readonly erased: ReadonlySet<string> }

/** Where nobody has ever erased anything. */
export const nothingErased: Erasures = { marker: markerOf([]), erased: new Set() }

/** Empties the letters that are erased. Call it before anything else of them is stored, such as their groups. */
export async function forgetErased(
  sql: Sql,
  read: readonly DeadLetter[],
): Promise<{ letters: readonly DeadLetter[]; erasures: Erasures }> {
  const keys = await readErasureKeys(sql)
  const marker = markerOf(keys)
  if (marker === nothingErased.marker) return { letters: read, erasures: nothingErased }
  // Failures of erased messages are known by their ids, also where the consumer's framework has dropped our headers.
  const { letters } = await correlateByPlace(sql, read)
  const digests = letters.map((letter) => digestsOf(letter, keys))
  const found = new Map(
    (
      await findErasures(
        sql,
        digests.flatMap(({ key, ids }) => [...key, ...ids]),
      )
    ).map((one) => [one.digest.toString('hex'), one]),
  )
  const erased = new Set<string>()
  const forgotten = letters.map((letter, at) => {
    const isKnown = digests[at]!.ids.some((digest) => found.has(digest.toString('hex')))
    const isOfKey = digests[at]!.key.some((digest) => {
      const erasure = found.get(digest.toString('hex'))
      return erasure !== undefined && isBefore(letter.message, erasure)
    })
    if (!isKnown && !isOfKey) return letter
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
  return { letters: forgotten, erasures: { marker, erased } }
}

/** In the transaction that stores: from now to its end no run begins to erase. @throws {ErasuresChanged} */
export async function requireSameErasures(sql: Sql, { marker }: Erasures): Promise<void> {
  if (markerOf(await readErasureKeys(sql)) !== marker) throw new ErasuresChanged('an erasure began')
}

function markerOf(keys: readonly ErasureKey[]): string {
  return keys.map(({ hmac_key, version }) => `${hmac_key.toString('hex')} ${version}`).join()
}

function digestsOf({ message, republished }: DeadLetter, keys: readonly ErasureKey[]) {
  const ids = republished === null ? [message.id] : [message.id, republished.messageId]
  return {
    key: message.record_key === null ? [] : keys.map(({ hmac_key }) => keyDigest(hmac_key, message.record_key!)),
    ids: keys.flatMap(({ hmac_key }) => ids.map((id) => idDigest(hmac_key, id))),
  }
}

/** A later record of the same key is another matter. One without any time is taken for an old one. */
function isBefore(
  { original_topic, original_timestamp, record_timestamp }: NewMessage,
  { topics, cutoff }: { topics: string[] | null; cutoff: Date },
): boolean {
  if (topics !== null && !topics.includes(original_topic)) return false
  const time = original_timestamp ?? record_timestamp
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
