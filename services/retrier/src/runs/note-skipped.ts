// Counts the messages that a run has left alone, by reason, and keeps the ids of the first ones.

import { noteSkipped, type Skipped } from 'dlq-core/queries/runs/run-items.ts'
import type { HeldRun } from 'dlq-core/queries/runs/runs.ts'
import type { Transaction } from 'dlq-core/runtime/database/database.ts'

/** Returns the run's counts of skipped messages by reason, as JSON text. */
export async function noteAll(sql: Transaction, run: HeldRun, skipped: readonly Skipped[]): Promise<string> {
  if (skipped.length === 0) return run.skipped
  const counts = JSON.parse(run.skipped) as Record<string, number>
  const before = Object.values(counts).reduce((sum, n) => sum + n, 0)
  await noteSkipped(sql, { runId: run.id, skipped, before })
  for (const { reason } of skipped) counts[reason] = (counts[reason] ?? 0) + 1
  return JSON.stringify(counts)
}
