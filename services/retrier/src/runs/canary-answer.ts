// Whether the messages of a run's canary were read and did not come back. "Sent" is no answer: while no consumer is
// there, nothing comes back either.

import { askForLook } from 'dlq-core/queries/readers/reader-watch.ts'
import { type CanaryVerdicts, noteCanaryRead, readCanaryVerdicts } from 'dlq-core/queries/readers/verdicts.ts'
import type { HeldRun } from 'dlq-core/queries/runs/runs.ts'
import type { Transaction } from 'dlq-core/runtime/database/database.ts'

export type CanaryAnswer = { kind: 'wait' } | { kind: 'go on' } | { kind: 'pause'; reason: string }

/** At most this number of the run's attempts is asked for. */
const maxAsked = 20_000
/** While a canary waits, the groups are looked at this often. */
const lookEveryMs = 2000
/** Without a look for this time, nobody looks: there is no Kafka, or no retrier of this version. */
const lookedLongAgoMs = 60_000

/**
 * The wait begins when the messages were read. What nobody can tell of (no group is known, or Kafka says nothing of it)
 * is judged by silence since it was sent.
 */
export async function canaryAnswer(
  sql: Transaction,
  { id, quiet_ms: quietMs }: Pick<HeldRun, 'id' | 'quiet_ms'>,
  { waitMs, readTimeoutMs }: { waitMs: number; readTimeoutMs: number },
): Promise<CanaryAnswer> {
  const found = await readCanaryVerdicts(sql, { runId: id, limit: maxAsked })
  const bySilence: CanaryAnswer = quietMs < waitMs ? { kind: 'wait' } : { kind: 'go on' }
  if (found.looked_ms === null || found.looked_ms > lookedLongAgoMs) return bySilence
  if (!found.is_current || found.unread > 0) {
    await askForLook(sql, { withinMs: lookEveryMs })
    return found.is_current && quietMs >= readTimeoutMs
      ? { kind: 'pause', reason: whyUnread(found, quietMs) }
      : { kind: 'wait' }
  }
  if (found.read === 0) return bySilence
  return (await noteCanaryRead(sql, id)) < waitMs ? { kind: 'wait' } : { kind: 'go on' }
}

/** "nobody has read orders/3 for 15 m; group billing has no members" */
export function whyUnread({ example }: Pick<CanaryVerdicts, 'example'>, quietMs: number): string {
  if (example === null) return `nobody has read its messages for ${inWords(quietMs)}`
  const { topic, partition, group, members } = example
  const who = members === 0 ? `group ${group} has no members` : `group ${group} is behind or stands still`
  return `nobody has read ${topic}/${partition} for ${inWords(quietMs)}; ${who}`
}

function inWords(ms: number): string {
  return ms < 120_000 ? `${Math.round(ms / 1000)} s` : `${Math.round(ms / 60_000)} m`
}
