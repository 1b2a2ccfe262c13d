// Finds the re-failures among dead letters that carry none of our headers, because their consumer's
// framework drops foreign headers: their origin is a place that we published to.

import type { DeadLetter } from 'dlq-core/new-message.ts'
import { findAttemptsByPlace, type OriginalPlace } from 'dlq-core/queries/message-correlate.ts'
import type { Transaction } from 'dlq-core/runtime/database.ts'

/** The same letters; those whose origin is a republished record say so. */
export async function correlate(sql: Transaction, letters: readonly DeadLetter[]): Promise<DeadLetter[]> {
  const places = letters.flatMap((letter) => originOf(letter) ?? [])
  const attempts = new Map((await findAttemptsByPlace(sql, places)).map((attempt) => [keyOf(attempt), attempt]))
  if (attempts.size === 0) return [...letters]
  return letters.map((letter) => {
    const origin = originOf(letter)
    const attempt = origin && attempts.get(keyOf(origin))
    return attempt ? { ...letter, republished: { messageId: attempt.message_id, attempt: attempt.number } } : letter
  })
}

/** Null where our headers have told already, or the record does not say where it came from. */
export function originOf({ message, republished }: DeadLetter): OriginalPlace | null {
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

/** The key under which places are compared. */
export function keyOf({ topic, partition, offset }: OriginalPlace): string {
  return `${topic}:${partition}:${offset}`
}
