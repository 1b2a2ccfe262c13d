// Recognises re-failures whose attempt has no recorded place: the dead letter came before the retrier had settled the
// attempt, or that retrier died. The republished record still stands in Kafka and carries our headers, which its consumer
// dropped, so it is fetched from there. So is what stands at a recorded place: where the topic was deleted and created
// again, that is another record, and its dead letter is no re-failure of ours.

import { readFailure } from 'dlq-core/domain/failure/read-failure.ts'
import { claimOf, type DeadLetter } from 'dlq-core/domain/message/new-message.ts'
import type { FetchedOriginal } from 'dlq-core/domain/origin/compare-origin.ts'
import { placeKey, type RecordPlace } from 'dlq-core/domain/record/record-place.ts'
import type { PolicyOf } from 'dlq-core/domain/retry/effective-policy.ts'
import { targetOf } from 'dlq-core/domain/retry/fill-target.ts'
import { findTopicsOfUnplaced } from 'dlq-core/queries/ingest/message-correlate.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { RouteRegister } from '../registers/route-register.ts'
import { type LookedAt, originOf } from './correlate-by-place.ts'

export type CorrelateDeps = {
  sql: Database
  /** Answers by `placeKey`. */
  fetchOriginals: (places: readonly RecordPlace[]) => Promise<ReadonlyMap<string, FetchedOriginal>>
  routes: RouteRegister
}

/** The topics of the letters' records, and of these places, in which one of ours may stand whose place is not recorded. */
export async function findUnplaced(
  { sql, policyOf }: { sql: Sql; policyOf: PolicyOf },
  letters: readonly DeadLetter[],
  places: readonly RecordPlace[] = [],
): Promise<Set<string>> {
  const topics = new Set(places.map(({ topic }) => topic))
  for (const letter of letters) {
    const origin = originOf(letter)
    if (origin !== null) topics.add(origin.topic)
  }
  if (topics.size === 0) return topics
  return findTopicsOfUnplaced(sql, [...topics], (message) => targetOf(message, policyOf(message)))
}

/**
 * Returns the same letters; a letter whose failed record we republished says so. It asks Kafka, so it runs before the
 * transaction; attempts that are settled in between are found there by their place.
 *
 * @param unplaced what `findUnplaced` has returned
 * @param published what `findPublished` has returned
 */
export async function correlateByAttempt(
  deps: CorrelateDeps,
  letters: readonly DeadLetter[],
  { unplaced, published }: { unplaced: ReadonlySet<string>; published: ReadonlySet<string> },
): Promise<{ letters: readonly DeadLetter[]; lookedAt: LookedAt }> {
  const foreign = new Set<string>()
  const lookedAt = { places: published, foreign }
  const mayBeOurs = (place: RecordPlace) => unplaced.has(place.topic) || published.has(placeKey(place))
  const places = unplaced.size + published.size === 0 ? [] : await placesToRead(deps, letters, mayBeOurs)
  if (places.length === 0) return { letters, lookedAt }
  const originals = await deps.fetchOriginals(places)
  const correlated = letters.map((letter) => {
    const origin = originOf(letter)
    const original = origin && originals.get(placeKey(origin))
    if (!original || typeof original === 'string') return letter
    const republished = claimOf(readFailure({ ...original, topic: origin.topic }).ours)
    if (republished !== null) return { ...letter, republished }
    foreign.add(placeKey(origin))
    return letter
  })
  return { letters: correlated, lookedAt }
}

/** The places of the letters' records at which one of ours may stand. */
async function placesToRead(
  { sql, routes }: CorrelateDeps,
  letters: readonly DeadLetter[],
  mayBeOurs: (place: RecordPlace) => boolean,
): Promise<RecordPlace[]> {
  const named = letters.filter((letter) => {
    const origin = originOf(letter)
    return origin !== null && mayBeOurs(origin)
  })
  const isOpen = await routes.testOf(
    sql,
    named.map(({ message }) => message),
  )
  // A dead letter has us read only what its DLQ topic may speak for.
  return named.flatMap((letter) => (isOpen(letter.message) ? originOf(letter)! : []))
}
