// A run as the API shows it.

import { progressOf, type RunSelection, runKinds, runStatuses, waitingOf } from 'dlq-core/domain/message/run.ts'
import type { RunView } from 'dlq-core/queries/runs/runs.ts'
import * as v from 'valibot'

const count = v.pipe(v.number(), v.integer())
const instantText = v.pipe(v.string(), v.metadata({ format: 'date-time' }))

export const runSchema = v.pipe(
  v.strictObject({
    id: v.string(),
    kind: v.picklist(runKinds),
    status: v.picklist(runStatuses),
    status_reason: v.nullable(v.string()),
    actor: v.string(),
    reason: v.nullable(v.string()),
    selection: v.pipe(
      v.record(v.string(), v.unknown()),
      v.description('The frozen selection; for a list of ids, only their number.'),
    ),
    cutoff: instantText,
    matched: v.strictObject({ value: count, relation: v.picklist(['eq', 'gte']) }),
    target_topic: v.nullable(v.string()),
    rate_per_second: v.nullable(v.number()),
    canary: v.nullable(v.record(v.string(), v.unknown())),
    on_refailure: v.picklist(['continue', 'pause', 'cancel']),
    progress: v.strictObject({
      step: v.nullable(v.string()),
      taken: count,
      waiting: count,
      done: count,
      resolved: count,
      failed: count,
      failed_again: count,
      withdrawn: count,
      given_back: count,
      skipped: v.record(v.string(), count),
      rate: v.nullable(v.number()),
      eta_seconds: v.nullable(v.number()),
    }),
    created_at: instantText,
    started_at: v.nullable(instantText),
    ended_at: v.nullable(instantText),
  }),
  v.title('Run'),
)

export type RunJson = v.InferOutput<typeof runSchema>

export function runJson(run: RunView, now = new Date()): RunJson {
  const { rate, etaSeconds } = progressOf(run, {
    matched: run.matched,
    startedAt: run.started_at,
    endedAt: run.ended_at,
    now,
  })
  const selection = JSON.parse(run.selection) as RunSelection
  return {
    id: run.id,
    kind: run.kind,
    status: run.status,
    status_reason: run.status_reason,
    actor: run.actor,
    reason: run.reason,
    selection: 'ids' in selection ? { ids: selection.ids.length } : selection,
    cutoff: run.cutoff.toISOString(),
    matched: { value: run.matched, relation: run.matched_relation },
    target_topic: run.target_topic,
    rate_per_second: run.rate_per_second,
    canary: run.canary === null ? null : JSON.parse(run.canary),
    on_refailure: run.on_refailure,
    progress: {
      step: run.step,
      taken: run.taken,
      waiting: waitingOf(run),
      done: run.done,
      resolved: run.resolved,
      failed: run.failed,
      failed_again: run.failed_again,
      withdrawn: run.withdrawn,
      given_back: run.given_back,
      skipped: JSON.parse(run.skipped),
      rate,
      eta_seconds: etaSeconds,
    },
    created_at: run.created_at.toISOString(),
    started_at: run.started_at?.toISOString() ?? null,
    ended_at: run.ended_at?.toISOString() ?? null,
  }
}

export const exampleRun: RunJson = {
  id: '5f0c2d3e-7a51-4e64-9d0a-2f8f2b9a3c11',
  kind: 'retry',
  status: 'running',
  status_reason: null,
  actor: 'anna',
  reason: 'the consumer is fixed',
  selection: { filter: { topic: 'orders.dlq.v1' } },
  cutoff: '2026-02-20T10:30:00.000Z',
  matched: { value: 3000, relation: 'eq' },
  target_topic: null,
  rate_per_second: 100,
  canary: null,
  on_refailure: 'continue',
  progress: {
    ...{ step: 'settle', taken: 3000, waiting: 1000, done: 0, resolved: 1990, failed: 0, failed_again: 10 },
    ...{ withdrawn: 0, given_back: 0, skipped: { budget_spent: 2 }, rate: 100, eta_seconds: 10 },
  },
  created_at: '2026-02-20T10:30:00.000Z',
  started_at: '2026-02-20T10:30:00.100Z',
  ended_at: null,
}
