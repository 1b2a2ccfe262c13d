// The rows and the edit that a comparison with an original becomes: the same in the ingester, the retrier and the API.

import { failureHeadersOf } from '../../domain/failure/strip-failure-headers.ts'
import { applyEdit, type ProjectValue } from '../../domain/message/edit-message.ts'
import type { Comparison, Copy, FetchedOriginal } from '../../domain/origin/compare-origin.ts'
import { storedOrigin } from '../../domain/origin/origin-state.ts'
import { decodeHeaders, encodeHeaders, readHeaders } from '../../domain/record/header-json.ts'
import type { Header } from '../../domain/record/record.ts'
import type { RetryPolicy } from '../../domain/retry/retry-policy.ts'
import { editMessage, readContent } from '../../queries/change/message-change.ts'
import { type NewOrigin, noteAdopted } from '../../queries/origin/origins.ts'
import type { Sql } from '../../queries/sql.ts'

/** A record that could not be read is looked for again after these times. */
const retryWaitsMs = [60_000, 5 * 60_000, 30 * 60_000]

/** Whether it is looked for again, after `tries` tries. */
export function triesAgain(tries: number): boolean {
  return tries <= retryWaitsMs.length
}

/** The row of a comparison. Another record than the one that failed is not kept: it is nobody's original here. */
export function originRow(
  messageId: string,
  { comparison, fetched }: { comparison: Comparison; fetched: FetchedOriginal },
  { isWanted, tries, problem, now }: { isWanted: boolean; tries: number; problem: string | null; now: Date },
): NewOrigin {
  const { state, differs } = comparison
  const found = typeof fetched === 'string' || state === 'mismatch' ? null : fetched
  const hasTime = found !== null && found.timestamp >= 0n && found.timestamp < 253_402_300_800_000n
  return {
    message_id: messageId,
    ...{ state, differs },
    record_key: found?.key ?? null,
    record_value: found?.value ?? null,
    record_headers: found && encodeHeaders(found.headers),
    record_timestamp: hasTime ? new Date(Number(found.timestamp)).toISOString() : null,
    problem: state === 'unreachable' ? problem : null,
    next_try_at: isWanted ? new Date(now.getTime() + retryWaitsMs[Math.min(tries, retryWaitsMs.length) - 1]!) : null,
  }
}

export type Adopting = {
  id: string
  /** Who asked; `system` where the policy did. */
  actor: string
  reason: string
  request_id: string
  origin: Pick<NewOrigin, 'record_key' | 'record_value' | 'record_headers'>
  family: Copy['family']
}

/**
 * Puts the original in the place of the copy of a locked message, as an edit. The failure's headers stay. Returns the
 * fields that differ.
 */
export async function adoptOrigin(
  sql: Sql,
  { id, actor, reason, request_id, origin, family }: Adopting,
  { policy, project }: { policy: RetryPolicy; project: ProjectValue | undefined },
): Promise<readonly string[]> {
  const content = await readContent(sql, id)
  const copied = readHeaders(content.record_headers ?? '[]', { error_stacktrace: content.error_stacktrace }) ?? []
  const headers: Header[] = [...decodeHeaders(origin.record_headers ?? '[]'), ...failureHeadersOf(copied, family)]
  const wanted = { key: origin.record_key, value: origin.record_value, headers }
  const { fields, after } = applyEdit(content, wanted, policy, project)
  if (fields.length > 0) await editMessage(sql, { id, actor, reason, request_id, fields, after })
  await noteAdopted(sql, { id, stored: storedOrigin({ state: 'same', isHeld: false }) })
  return fields
}
