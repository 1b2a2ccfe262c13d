// Recognises re-failures among dead letters without our headers, which some consumers' frameworks drop: the original
// record stands at a place that we published to.

import type { DeadLetter } from 'dlq-core/domain/message/new-message.ts'
import { placeKey, type RecordPlace } from 'dlq-core/domain/record/record-place.ts'
import { findAttemptsByPlace } from 'dlq-core/queries/ingest/message-correlate.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'

/** What stands now at places that we published to. Keys are those of `placeKey`. */
export type LookedAt = {
  places: ReadonlySet<string>
  /** Those of them with a record that is none of ours: their topic was deleted and created again, or its log was cut. */
  foreign: ReadonlySet<string>
}

/** By `placeKey`: where the letters' records stand and we published one, as far as it is known now. */
export async function findPublished(sql: Sql, letters: readonly DeadLetter[]): Promise<ReadonlySet<string>> {
  const places = letters.flatMap((letter) => originOf(letter) ?? [])
  return new Set((await findAttemptsByPlace(sql, places)).map(placeKey))
}

/**
 * Returns the same letters; a letter whose original record we republished says so. `published`: where we published one of
 * these records, or one of those at the places `others`.
 *
 * @param foreign as in `LookedAt`
 */
export async function correlateByPlace(
  sql: Sql,
  letters: readonly DeadLetter[],
  { foreign, others = [] }: { foreign: LookedAt['foreign']; others?: readonly RecordPlace[] | undefined },
): Promise<{ letters: readonly DeadLetter[]; published: readonly RecordPlace[] }> {
  const places = letters.flatMap((letter) => originOf(letter) ?? [])
  const published = await findAttemptsByPlace(sql, [...places, ...others])
  if (published.length === 0) return { letters, published }
  const attempts = new Map(published.map((attempt) => [placeKey(attempt), attempt]))
  const correlated = letters.map((letter) => {
    const origin = originOf(letter)
    const attempt = origin && attempts.get(placeKey(origin))
    if (!attempt || foreign.has(placeKey(origin))) return letter
    return { ...letter, republished: { messageId: attempt.message_id, attempt: attempt.number, attemptId: null } }
  })
  return { letters: correlated, published }
}

/** Null where our headers said it already, or the record does not say where it came from. */
export function originOf({ message, republished }: DeadLetter): RecordPlace | null {
  const {
    original_topic: topic,
    original_topic_source: source,
    original_partition: partition,
    original_offset: offset,
  } = message
  return republished === null && source === 'header' && partition !== null && offset !== null
    ? { topic, partition, offset }
    : null
}
