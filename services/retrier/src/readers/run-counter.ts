// Counts the verdicts of runs after each look, in parts and for a bounded time: the next look goes on where this one
// ends. So a run of millions neither holds up a look nor other runs.

import {
  addVerdicts,
  countRunPart,
  listRunsToCount,
  noVerdicts,
  type RunPlace,
  storeRunVerdicts,
  type VerdictCounts,
} from 'dlq-core/queries/readers/verdicts.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'

const countedRuns = { limit: 50, days: 7 }
const countForMs = 2000
const partSize = 20_000

export type RunCounterDeps = { sql: Database; now: () => number; partSize?: number; countForMs?: number }

export function createRunCounter({
  sql,
  now,
  partSize: limit = partSize,
  countForMs: forMs = countForMs,
}: RunCounterDeps) {
  /** Of runs that are counted in part. */
  const begun = new Map<string, { counts: VerdictCounts; after: RunPlace }>()

  /** Counts one part. True where the run is done. */
  async function countOn(runId: string): Promise<boolean> {
    const known = begun.get(runId)
    const part = await countRunPart(sql, { runId, limit, ...(known && { after: known.after }) })
    const counts = addVerdicts(known?.counts ?? noVerdicts, part.counts)
    if (part.next !== null) {
      begun.set(runId, { counts, after: part.next })
      return false
    }
    begun.delete(runId)
    await storeRunVerdicts(sql, { runId, counts })
    return true
  }

  return async function countRuns(): Promise<void> {
    const untilMs = now() + forMs
    const runs = await listRunsToCount(sql, countedRuns)
    for (const runId of begun.keys()) if (!runs.includes(runId)) begun.delete(runId)
    const large = runs.filter((id) => begun.has(id))
    const others = runs.filter((id) => !begun.has(id))
    // Each look takes a part of every large run, and one other run at least, so that neither waits for ever.
    for (const runId of large) await countOn(runId)
    for (const runId of others) {
      await countOn(runId)
      if (now() >= untilMs) return
    }
    for (const runId of begun.keys()) while (now() < untilMs && !(await countOn(runId))) {}
  }
}
