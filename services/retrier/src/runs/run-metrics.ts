// How many runs there are, and how far they are: for everybody who looks, the same from each retrier.

import { countRuns } from 'dlq-core/queries/runs.ts'
import { waitingOf } from 'dlq-core/run.ts'
import type { Database } from 'dlq-core/runtime/database.ts'
import { Gauge, type Registry } from 'prom-client'

export type RunMetrics = ReturnType<typeof createRunMetrics>

export function createRunMetrics(registry: Registry) {
  const registers = [registry]
  return {
    runs: new Gauge({
      name: 'dlq_runs',
      help: 'Bulk runs that have not ended, by status.',
      labelNames: ['status'],
      registers,
    }),
    messages: new Gauge({
      name: 'dlq_run_messages',
      help: 'Messages of the bulk runs that have not ended, by what became of them.',
      labelNames: ['outcome'],
      registers,
    }),
  }
}

/** One look. */
export async function gaugeRuns({ sql, metrics }: { sql: Database; metrics: RunMetrics }): Promise<{ more: false }> {
  const { statuses, counts } = await countRuns(sql)
  for (const status of ['queued', 'running', 'paused', 'cancelling'])
    metrics.runs.set({ status }, statuses[status] ?? 0)
  const { done, resolved, failed, failedAgain: failed_again, withdrawn, givenBack: given_back } = counts
  const outcomes = { waiting: waitingOf(counts), done, resolved, failed, failed_again, withdrawn, given_back }
  for (const [outcome, count] of Object.entries(outcomes)) metrics.messages.set({ outcome }, count)
  return { more: false }
}
