// Metrics of the bulk runs. Every retrier reads the same numbers from the database.

import { waitingOf } from 'dlq-core/domain/message/run.ts'
import { countRuns } from 'dlq-core/queries/runs/runs.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
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
      help: 'Messages of the bulk runs that have not ended, by outcome.',
      labelNames: ['outcome'],
      registers,
    }),
  }
}

/** Reads the runs once and sets the gauges. */
export async function gaugeRuns({ sql, metrics }: { sql: Database; metrics: RunMetrics }): Promise<{ more: false }> {
  const { statuses, counts } = await countRuns(sql)
  for (const status of ['queued', 'running', 'paused', 'cancelling'])
    metrics.runs.set({ status }, statuses[status] ?? 0)
  const { done, resolved, failed, failed_again, withdrawn, given_back } = counts
  const outcomes = { waiting: waitingOf(counts), done, resolved, failed, failed_again, withdrawn, given_back }
  for (const [outcome, count] of Object.entries(outcomes)) metrics.messages.set({ outcome }, count)
  return { more: false }
}
