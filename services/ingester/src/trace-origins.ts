// Finds re-failures that their place does not give away, because nobody has written down yet, or ever will,
// where the attempt's record went: its dead letter was quicker than the retrier's statement, or that retrier
// died. The record itself stands in Kafka and carries our headers, which its consumer dropped.

import type { DeadLetter } from 'dlq-core/new-message.ts'
import { findAttemptsByPlace, findTopicsOfUnplaced, type OriginalPlace } from 'dlq-core/queries/message-correlate.ts'
import { readFailure } from 'dlq-core/read-failure.ts'
import type { Database } from 'dlq-core/runtime/database.ts'
import { keyOf, originOf } from './correlate.ts'
import type { FetchedOriginal } from './fetch-originals.ts'

export type TraceDeps = {
  sql: Database
  /** Answers by "topic:partition:offset". */
  fetchOriginals: (places: readonly OriginalPlace[]) => Promise<ReadonlyMap<string, FetchedOriginal>>
}

/**
 * The same letters; those whose failed record is a republished one say so. Asks Kafka, so it belongs before
 * the transaction; what is settled in between is found there by its place.
 */
export async function traceOrigins(deps: TraceDeps, letters: readonly DeadLetter[]): Promise<readonly DeadLetter[]> {
  const places = await unplacedOf(deps.sql, letters)
  if (places.length === 0) return letters
  const originals = await deps.fetchOriginals(places)
  return letters.map((letter) => {
    const origin = originOf(letter)
    const original = origin && originals.get(keyOf(origin))
    if (!original || typeof original === 'string') return letter
    const { messageId, attempt } = readFailure({ ...original, topic: origin.topic }).ours
    return messageId !== null && attempt !== null ? { ...letter, republished: { messageId, attempt } } : letter
  })
}

/** Where the letters' records stood, as far as one of ours may be there of which that is not known. */
async function unplacedOf(sql: Database, letters: readonly DeadLetter[]): Promise<OriginalPlace[]> {
  const origins = letters.flatMap((letter) => originOf(letter) ?? [])
  if (origins.length === 0) return []
  const topics = await findTopicsOfUnplaced(sql, [...new Set(origins.map(({ topic }) => topic))])
  if (topics.size === 0) return []
  const candidates = origins.filter(({ topic }) => topics.has(topic))
  const placed = new Set((await findAttemptsByPlace(sql, candidates)).map(keyOf))
  return candidates.filter((origin) => !placed.has(keyOf(origin)))
}
