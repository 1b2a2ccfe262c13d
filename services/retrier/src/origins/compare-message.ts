// Compares messages with their originals: one for a person who asks or because it could not be read before, many for a
// run. Kafka is asked outside of any transaction; what changed meanwhile decides whether the answer still counts.

import { readFailure } from 'dlq-core/domain/failure/read-failure.ts'
import { replayHazard } from 'dlq-core/domain/failure/topic-names.ts'
import { originPlace, undecodableClass } from 'dlq-core/domain/message/new-message.ts'
import { type Copy, compareFetched, type FetchedOriginal } from 'dlq-core/domain/origin/compare-origin.ts'
import {
  judgeOrigin,
  mayBeLost,
  type OriginState,
  originStateOf,
  storedOrigin,
} from 'dlq-core/domain/origin/origin-state.ts'
import { readHeaders } from 'dlq-core/domain/record/header-json.ts'
import { placeKey } from 'dlq-core/domain/record/record-place.ts'
import type { PolicyOf } from 'dlq-core/domain/retry/effective-policy.ts'
import { nextRetryAt, type RetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { holdMessage } from 'dlq-core/queries/change/message-change.ts'
import {
  type ComparableMessage,
  forgetWanted,
  readComparable,
  replaceOrigin,
  writeOriginState,
} from 'dlq-core/queries/origin/origins.ts'
import type { Database, Transaction } from 'dlq-core/runtime/database/database.ts'
import { fetchOriginals } from 'dlq-core/runtime/fetching/fetch-originals.ts'
import { adoptOrigin, originRow, triesAgain } from 'dlq-core/runtime/fetching/origin-rows.ts'
import type { TopicReader } from 'dlq-core/runtime/kafka/topic-reader.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import type { PayloadReader } from 'dlq-core/runtime/schemas/payload-reader.ts'

export type CompareDeps = {
  sql: Database
  reader: Pick<TopicReader, 'fetchRecords'>
  policyOf: PolicyOf
  /** Null where only JSON is read. */
  payloads: PayloadReader | null
  log: Log
  maxValueBytes: number
  now: () => Date
}

/** A message as it was before Kafka was asked, and what stands at its original place. */
export type Fetched = {
  before: ComparableMessage
  copy: Copy
  found: FetchedOriginal
  /** Why it could not be read. */
  problem: string | null
}

/** Returns what is stored about the original from now on; null where the message is gone, or nothing may be compared. */
export async function compareMessage(deps: CompareDeps, id: string): Promise<OriginState | null> {
  const { sql } = deps
  const before = await readComparable(sql, id)
  if (before === null || !isComparable(before)) {
    // One that is being sent may be refused, and then waits for its original as before.
    if (before?.status !== 'RETRYING') await endSearch(deps, id)
    return null
  }
  const [fetched] = await fetchAll(deps, [before])
  return sql.begin(async (sql) => {
    await holdMessage(sql, { id, scope: null })
    return (await storeComparison(deps, sql, fetched!))?.state ?? null
  })
}

/**
 * Nobody looks for the original of such a message any more. One whose key or headers somebody has edited stays held where
 * the policy asks for originals, and where its value is null, which may stand for one; else it is due by its policy.
 */
async function endSearch({ sql, policyOf, now }: CompareDeps, id: string): Promise<void> {
  await sql.begin(async (sql) => {
    await holdMessage(sql, { id, scope: null })
    const message = await readComparable(sql, id)
    if (message !== null && (message.status === 'RETRYING' || isComparable(message))) return
    await forgetWanted(sql, id)
    if (message === null || message.record_headers === null) return
    if (originStateOf(message.origin_state)?.state !== 'wanted') return
    const policy = policyOf(message)
    const isHeld = policy.record === 'origin' || message.record_value === null
    const nextAt = timeFor(message, { family: copyOf(message).family, policy, now: now() })
    await writeOriginState(sql, { id, stored: storedOrigin({ state: 'unreachable', isHeld }), nextRetryAt: nextAt })
  })
}

export type Compared = { state: OriginState; isAdopted: boolean }

/**
 * Stores how a locked message compares with its original. Null where it has changed since. `adopting`: a run does it, for
 * this reason; originals that are proved take the place of their copies then, whatever the policy says.
 */
export async function storeComparison(
  { policyOf, payloads, now }: Pick<CompareDeps, 'policyOf' | 'payloads' | 'now'>,
  sql: Transaction,
  { before, copy, found, problem }: Fetched,
  adopting: { reason: string; request_id: string } | null = null,
): Promise<Compared | null> {
  const { id } = before
  const message = await readComparable(sql, id)
  if (message === null || !isComparable(message)) return null
  const comparison = compareFetched(copy, found)
  const policy = policyOf(message)
  const tries = message.tries + 1
  // Only what waits for its original is looked for again; a person may ask again.
  const wasWanted = originStateOf(message.origin_state)?.state === 'wanted'
  const byPolicy = message.status === 'PENDING' ? policy.record : 'dlq'
  const verdict = judgeOrigin({
    record: adopting !== null && byPolicy === 'dlq' ? 'origin-if-available' : byPolicy,
    mayBeLost: mayBeLost(copy.family, copy),
    compared: { state: comparison.state, hasValue: typeof found !== 'string' && found.value !== null },
    triesAgain: wasWanted && triesAgain(tries),
  })
  const row = originRow(
    id,
    { comparison, fetched: found },
    { isWanted: verdict.state === 'wanted', tries, problem, now: now() },
  )
  await replaceOrigin(sql, row)
  const nextAt = timeFor(message, { family: copy.family, policy, now: now() })
  await writeOriginState(sql, { id, stored: storedOrigin(verdict), nextRetryAt: nextAt })
  if (verdict.adopts)
    await adoptOrigin(
      sql,
      {
        ...{
          id,
          actor: 'system',
          ...(adopting ?? { request_id: 'job origin', reason: `policy record: ${policy.record}` }),
        },
        ...{ origin: row, family: copy.family },
      },
      { policy, project: payloads?.projectFor(message) },
    )
  return { state: verdict.state, isAdopted: verdict.adopts }
}

/** When a message is due that waits for its original no more; null where its topic is never retried by itself. */
function timeFor(
  { original_topic: topic, original_topic_source: source, original_partition: partition }: ComparableMessage,
  { family, policy, now }: { family: Copy['family']; policy: RetryPolicy; now: Date },
): Date | null {
  // Ingested topics are known where it would be sent (target-topics.ts).
  const hazard = replayHazard(topic, { source, partition, dlqPatterns: [], family })
  return hazard === null ? nextRetryAt(policy, 0, now, Math.random()) : null
}

/**
 * An edit ends all comparing. A message that is being sent is compared when that is settled. A batch that cannot be decoded
 * has no original, and stays held.
 */
export function isComparable(message: ComparableMessage): boolean {
  const { status, edits, record_headers, unstored_value_bytes, error_class } = message
  if (edits > 0 || status === 'RETRYING' || error_class === undecodableClass) return false
  return record_headers !== null && unstored_value_bytes === null
}

function copyOf(message: ComparableMessage): Copy {
  const { record_key: key, record_value: value, record_headers, error_stacktrace } = message
  const headers = readHeaders(record_headers!, { error_stacktrace }) ?? []
  const timestamp = message.record_timestamp === null ? null : BigInt(message.record_timestamp.getTime())
  const { family, context } = readFailure({
    topic: message.dlq_topic ?? '',
    timestamp: timestamp ?? -1n,
    headers,
    value,
  })
  return { key, value, headers, family, timestamp, originalTimestamp: context.originalTimestamp }
}

/** Asks Kafka for the originals of comparable messages, within the bounds that an ingester has. */
export async function fetchAll(
  { reader, log, maxValueBytes }: Pick<CompareDeps, 'reader' | 'log' | 'maxValueBytes'>,
  messages: readonly ComparableMessage[],
): Promise<Fetched[]> {
  const problems = new Map<string, string>()
  // Else whoever writes a DLQ topic could have any topic read.
  const allowed = messages.filter(({ held_by_route }) => !held_by_route)
  const places = allowed.flatMap((message) => originPlace(message) ?? [])
  const onProblem = (topic: string, problem: string) => void problems.set(topic, problem)
  const originals = places.length === 0 ? new Map() : await fetchOriginals(reader, places, { log, onProblem })
  return messages.map((before) => {
    const place = originPlace(before)
    const fetched = { before, copy: copyOf(before) }
    if (place === null) return { ...fetched, found: 'gone', problem: null }
    if (before.held_by_route)
      return {
        ...{ ...fetched, found: 'unreachable' },
        problem: 'its DLQ topic has not been allowed to speak for the original topic',
      }
    const found: FetchedOriginal = originals.get(placeKey(place)) ?? 'unreachable'
    if (typeof found !== 'string' && (found.value?.length ?? 0) > maxValueBytes)
      return { ...fetched, found: 'unreachable', problem: 'its value is larger than ingest.max_value_bytes' }
    return { ...fetched, found, problem: problems.get(place.topic) ?? 'it could not be read in time' }
  })
}
