// Compares dead letters with their originals before they are stored: those whose framework may have lost the value, and
// those of topics whose policy sends the original. What cannot be read now is looked for again by a retrier.

import type { DeadLetter, OriginWanted } from 'dlq-core/domain/message/new-message.ts'
import { compareFetched, type FetchedOriginal } from 'dlq-core/domain/origin/compare-origin.ts'
import { judgeOrigin, storedOrigin } from 'dlq-core/domain/origin/origin-state.ts'
import { placeKey, type RecordPlace } from 'dlq-core/domain/record/record-place.ts'
import type { RetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import type { NewOrigin } from 'dlq-core/queries/origin/origins.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import { originRow } from 'dlq-core/runtime/fetching/origin-rows.ts'
import type { RouteRegister } from '../registers/route-register.ts'

export type ComparedOrigin = {
  row: NewOrigin
  /** The original takes the copy's place. */
  adopts: { family: OriginWanted['copy']['family']; record: RetryPolicy['record'] } | null
}

type Deps = {
  sql: Sql
  routes: Pick<RouteRegister, 'testOf'>
  /** Answers by `placeKey`. */
  fetchOriginals: (places: readonly RecordPlace[]) => Promise<ReadonlyMap<string, FetchedOriginal>>
  maxValueBytes: number
  now: () => Date
}

/**
 * Returns what was compared, by message id, and marks the letters: those whose copy must not be sent by itself lose their
 * time. Re-failures of our own records are left alone, because their rows have the bytes.
 */
export async function compareOriginals(
  { sql, routes, fetchOriginals, maxValueBytes, now }: Deps,
  letters: readonly DeadLetter[],
): Promise<ReadonlyMap<string, ComparedOrigin>> {
  const wanting = letters.filter(({ originWanted, republished }) => originWanted !== null && republished === null)
  if (wanting.length === 0) return new Map()
  // Else whoever writes a DLQ topic could have any topic read, and see what stands there.
  const isOpen = await routes.testOf(
    sql,
    wanting.map(({ message }) => message),
  )
  const places = wanting.flatMap(({ message, originWanted }) =>
    isOpen(message) && originWanted!.place && originWanted!.found === null ? [originWanted!.place] : [],
  )
  const originals = places.length === 0 ? new Map<string, FetchedOriginal>() : await fetchOriginals(places)
  const compared = new Map<string, ComparedOrigin>()
  for (const { message, originWanted } of wanting) {
    const { copy, place, record, mayBeLost, found } = originWanted!
    const fetched =
      place === null ? 'gone' : bounded(found ?? originals.get(placeKey(place)) ?? 'unreachable', maxValueBytes)
    const comparison = compareFetched(copy, fetched)
    const hasValue = typeof fetched !== 'string' && fetched.value !== null
    const verdict = judgeOrigin({
      ...{ record, mayBeLost },
      compared: { state: comparison.state, hasValue },
      triesAgain: true,
    })
    message.origin_state = storedOrigin(verdict)
    if (verdict.isHeld) message.next_retry_at = null
    const isWanted = verdict.state === 'wanted'
    const problem = isOpen(message) ? 'could not be read in time' : 'the DLQ topic has not been allowed to speak for it'
    const row = originRow(message.id, { comparison, fetched }, { isWanted, tries: 1, problem, now: now() })
    compared.set(message.id, { row, adopts: verdict.adopts ? { family: copy.family, record } : null })
  }
  return compared
}

/** A larger original is not stored, and so cannot be sent. */
function bounded(fetched: FetchedOriginal, maxValueBytes: number): FetchedOriginal {
  if (typeof fetched === 'string' || (fetched.value?.length ?? 0) <= maxValueBytes) return fetched
  return 'unreachable'
}
