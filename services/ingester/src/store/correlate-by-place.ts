// Recognises re-failures among dead letters without our headers, which some consumers' frameworks drop: the original
// record stands at a place that we published to.

import type { DeadLetter } from 'dlq-core/domain/message/new-message.ts'
import { placeKey, type RecordPlace } from 'dlq-core/domain/record/record-place.ts'
import { findAttemptsByPlace } from 'dlq-core/queries/ingest/message-correlate.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'

/**
 * Returns the same letters; a letter whose original record we republished says so. `isSent`: one of ours stands at one of
 * the other places.
 */
export async function correlateByPlace(
  sql: Sql,
  letters: readonly DeadLetter[],
  others: readonly RecordPlace[] = [],
): Promise<{ letters: readonly DeadLetter[]; isSent: boolean }> {
  const places = letters.flatMap((letter) => originOf(letter) ?? [])
  const found = await findAttemptsByPlace(sql, [...places, ...others])
  if (found.length === 0) return { letters, isSent: false }
  const attempts = new Map(found.map((attempt) => [placeKey(attempt), attempt]))
  const correlated = letters.map((letter) => {
    const origin = originOf(letter)
    const attempt = origin && attempts.get(placeKey(origin))
    if (!attempt) return letter
    return { ...letter, republished: { messageId: attempt.message_id, attempt: attempt.number, attemptId: null } }
  })
  return { letters: correlated, isSent: others.some((place) => attempts.has(placeKey(place))) }
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
