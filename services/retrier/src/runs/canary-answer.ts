// Whether the messages of a run's canary were read and did not come back. "Sent" is no answer: while no consumer is
// there, nothing comes back either.

import { askForLook } from 'dlq-core/queries/readers/reader-watch.ts'
import { listUnstored } from 'dlq-core/queries/readers/unstored-topics.ts'
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
 * is judged by silence since it was sent. Neither says anything while the dead letters of that time are not stored.
 */
export async function canaryAnswer(
  sql: Transaction,
  { id, quiet_ms: quietMs }: Pick<HeldRun, 'id' | 'quiet_ms'>,
  { waitMs, readTimeoutMs }: { waitMs: number; readTimeoutMs: number },
): Promise<CanaryAnswer> {
  const found = await readCanaryVerdicts(sql, { runId: id, limit: maxAsked })
  const waitOrPause = (reason: string): CanaryAnswer =>
    quietMs >= readTimeoutMs ? { kind: 'pause', reason } : { kind: 'wait' }
  const isLookedAt = found.looked_ms !== null && found.looked_ms <= lookedLongAgoMs
  if (isLookedAt && (!found.is_current || found.unread > 0)) {
    await askForLook(sql, { withinMs: lookEveryMs })
    return found.is_current ? waitOrPause(whyUnread(found, quietMs)) : { kind: 'wait' }
  }
  const agoMs = isLookedAt && found.read > 0 ? await noteCanaryRead(sql, id) : quietMs
  if (agoMs < waitMs) return { kind: 'wait' }
  const unstored = await listUnstored(sql, { topics: found.dlq_topics, agoMs })
  return unstored.length === 0 ? { kind: 'go on' } : waitOrPause(whyUnstored(unstored, quietMs))
}

/** "the dead letters of orders.dlq.v1 have not all been stored for 15 m, so nobody knows what came back" */
function whyUnstored(topics: readonly string[], quietMs: number): string {
  const named = topics.slice(0, 3).join(', ')
  return `the dead letters of ${named} have not all been stored for ${inWords(quietMs)}, so nobody knows what came back`
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
