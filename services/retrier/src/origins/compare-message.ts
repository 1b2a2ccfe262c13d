// Compares one message with its original, for a person who asks or because it could not be read before. Kafka is asked
// outside of any transaction; what changed meanwhile decides whether the answer still counts.

import { readFailure } from 'dlq-core/domain/failure/read-failure.ts'
import { originPlace } from 'dlq-core/domain/message/new-message.ts'
import { type Copy, compareFetched, type FetchedOriginal } from 'dlq-core/domain/origin/compare-origin.ts'
import { judgeOrigin, mayBeLost, originStateOf, storedOrigin } from 'dlq-core/domain/origin/origin-state.ts'
import { decodeHeaders } from 'dlq-core/domain/record/header-json.ts'
import { placeKey } from 'dlq-core/domain/record/record-place.ts'
import type { PolicyOf } from 'dlq-core/domain/retry/effective-policy.ts'
import { nextRetryAt } from 'dlq-core/domain/retry/retry-policy.ts'
import { holdMessage } from 'dlq-core/queries/change/message-change.ts'
import {
  type ComparableMessage,
  forgetWanted,
  readComparable,
  replaceOrigin,
  writeOriginState,
} from 'dlq-core/queries/origin/origins.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
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

/** Returns what is stored about the original from now on; null where the message is gone, or nothing may be compared. */
export async function compareMessage(deps: CompareDeps, id: string): Promise<string | null> {
  const { sql, policyOf, payloads, now } = deps
  const before = await readComparable(sql, id)
  if (before === null || !isComparable(before)) {
    await forgetWanted(sql, id)
    return null
  }
  const copy = copyOf(before)
  const { fetched, problem } = await fetchOne(deps, before)
  const comparison = compareFetched(copy, fetched)
  return sql.begin(async (sql) => {
    await holdMessage(sql, { id, scope: null })
    const message = await readComparable(sql, id)
    if (message === null || message.edits !== before.edits) return null
    const policy = policyOf(message)
    const tries = message.tries + 1
    // Only what waits for its original is looked for again; a person may ask again.
    const wasWanted = originStateOf(message.origin_state)?.state === 'wanted'
    const verdict = judgeOrigin({
      record: message.status === 'PENDING' ? policy.record : 'dlq',
      mayBeLost: mayBeLost(copy.family, copy.value),
      compared: { state: comparison.state, hasValue: typeof fetched !== 'string' && fetched.value !== null },
      triesAgain: wasWanted && triesAgain(tries),
    })
    const row = originRow(
      id,
      { comparison, fetched },
      { isWanted: verdict.state === 'wanted', tries, problem, now: now() },
    )
    await replaceOrigin(sql, row)
    const due = nextRetryAt(policy, 0, now(), Math.random())
    await writeOriginState(sql, { id, stored: storedOrigin(verdict), nextRetryAt: due })
    if (verdict.adopts)
      await adoptOrigin(
        sql,
        {
          ...{ id, actor: 'system', request_id: 'job origin', reason: `policy record: ${policy.record}` },
          ...{ origin: row, family: copy.family },
        },
        { policy, project: payloads?.projectFor(message) },
      )
    return verdict.state
  })
}

/** An edit ends all comparing. A message that is being sent is compared when that is settled. */
function isComparable({ status, edits, record_headers, unstored_value_bytes }: ComparableMessage): boolean {
  return edits === 0 && status !== 'RETRYING' && record_headers !== null && unstored_value_bytes === null
}

function copyOf(message: ComparableMessage): Copy {
  const { record_key: key, record_value: value, record_headers, error_stacktrace } = message
  const headers = decodeHeaders(record_headers!, { error_stacktrace })
  const timestamp = message.record_timestamp === null ? null : BigInt(message.record_timestamp.getTime())
  const { family, context } = readFailure({
    topic: message.dlq_topic ?? '',
    timestamp: timestamp ?? -1n,
    headers,
    value,
  })
  return { key, value, headers, family, timestamp, originalTimestamp: context.originalTimestamp }
}

async function fetchOne(
  { reader, log, maxValueBytes }: CompareDeps,
  message: ComparableMessage,
): Promise<{ fetched: FetchedOriginal; problem: string | null }> {
  const place = originPlace(message)
  if (place === null) return { fetched: 'gone', problem: null }
  // Else whoever writes a DLQ topic could have any topic read.
  if (message.held_by_route)
    return { fetched: 'unreachable', problem: 'its DLQ topic has not been allowed to speak for the original topic' }
  let problem: string | null = null
  const originals = await fetchOriginals(reader, [place], { log, onProblem: (_, said) => (problem = said) })
  const fetched = originals.get(placeKey(place)) ?? 'unreachable'
  if (typeof fetched !== 'string' && (fetched.value?.length ?? 0) > maxValueBytes)
    return { fetched: 'unreachable', problem: 'its value is larger than ingest.max_value_bytes' }
  return { fetched, problem: problem ?? 'it could not be read in time' }
}
