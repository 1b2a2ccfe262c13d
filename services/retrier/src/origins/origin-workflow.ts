// Runs of kind origin as sagas: they compare messages with the records that failed, and adopt those that are proved. Kafka
// is asked before a chunk's transaction begins. Only retriers with Kafka have this workflow.

import { matchesTopicGlobs } from 'dlq-core/domain/failure/topic-globs.ts'
import { beyondScope, ineligibility, runPriority, runWorkflows } from 'dlq-core/domain/message/run.ts'
import { readComparable } from 'dlq-core/queries/origin/origins.ts'
import type { Skipped } from 'dlq-core/queries/runs/run-items.ts'
import { lockCandidates } from 'dlq-core/queries/runs/run-messages.ts'
import { type HeldRun, holdRun, moveRun, writeProgress } from 'dlq-core/queries/runs/runs.ts'
import type { Transaction } from 'dlq-core/runtime/database/database.ts'
import { type Chunk, defineWorkflow, PermanentStepError, type Step, type Workflow } from 'saga-core/workflow.ts'
import { noteAll } from '../runs/note-skipped.ts'
import { type SelectedChunk, selectChunk } from '../runs/select-chunk.ts'
import { whilePaused } from '../runs/while-paused.ts'
import { type Fetched, fetchAll, isComparable, storeComparison } from './compare-message.ts'
import type { OriginDeps } from './origin-jobs.ts'

type RunPayload = { run_id: string }

/** What was read before the transaction: of the messages behind this cursor of the run. */
type Prepared = { before: string | null; selected: SelectedChunk; fetched: ReadonlyMap<string, Fetched> }

/** Scattered originals are one fetch each, and a chunk may make 200 in ten seconds. */
const chunkSize = 100
const bounds = { timeoutMs: 60_000, retry: { maxAttempts: 20, delayMs: 500, maxDelayMs: 30_000 } }

/** The workflow. `admit` is that of all runs. */
export function originWorkflow(deps: OriginDeps, admit: Step<RunPayload>): Workflow<RunPayload> {
  return defineWorkflow<RunPayload>({
    name: runWorkflows.comparing,
    priority: runPriority,
    steps: [
      admit,
      {
        name: 'compare',
        ...bounds,
        prepareChunk: ({ payload }) => prepare(deps, payload),
        executeChunk: (sql: Transaction, { payload }, prepared) =>
          compareChunk(deps, sql, payload, prepared as Prepared | null),
      },
    ],
  })
}

/** Null while nothing is to be done. */
async function prepare(deps: OriginDeps, { run_id: id }: RunPayload): Promise<Prepared | null> {
  const { sql, policies } = deps
  await policies.refresh()
  const chosen = await sql.begin(async (sql) => {
    const run = await holdRun(sql, id)
    if (run === null || run.status !== 'running' || run.is_exhausted) return null
    const selected = await selectChunk(sql, run, chunkSize)
    const messages = []
    for (const messageId of selected.ids) {
      const message = await readComparable(sql, messageId)
      if (message !== null && isComparable(message) && seesBoth(run, message)) messages.push(message)
    }
    return { before: run.cursor, selected, messages }
  })
  if (chosen === null) return null
  const fetched = await fetchAll(deps, chosen.messages)
  return { ...chosen, fetched: new Map(fetched.map((one) => [one.before.id, one])) }
}

/** The original shows what stands in another topic, so both count. */
function seesBoth({ scope }: HeldRun, { original_topic, dlq_topic }: Fetched['before']): boolean {
  return [original_topic, dlq_topic].every(
    (topic) => scope === null || topic === null || matchesTopicGlobs(scope, topic),
  )
}

async function compareChunk(
  { policies, ...deps }: OriginDeps,
  sql: Transaction,
  { run_id: id }: RunPayload,
  prepared: Prepared | null,
): Promise<Chunk> {
  const run = await holdRun(sql, id)
  if (run === null) throw new PermanentStepError(`there is no run ${id}`)
  const fault = beyondScope(run, run.scope)
  if (fault !== null) throw new PermanentStepError(fault)
  if (run.status !== 'running') return whilePaused
  // Another process has gone on with the run, or it was resumed a moment ago.
  if (prepared === null || prepared.before !== run.cursor) return { isLast: false }
  const { selected, fetched } = prepared
  const { cutoff, scope } = run
  const candidates = await lockCandidates(sql, { ids: selected.ids, cutoff, scope })
  const counts = JSON.parse(run.compared ?? '{}') as Record<string, number>
  const skipped: Skipped[] = []
  const adopting = run.adopts ? { reason: run.reason ?? 'a run of kind origin', request_id: `run ${id}` } : null
  let done = 0
  for (const { id: messageId, ...row } of candidates) {
    const reason = ineligibility(run, { ...row })
    const one = fetched.get(messageId)
    const compared =
      reason === null && one !== undefined
        ? await storeComparison({ ...deps, policyOf: policies.policyOf }, sql, one, adopting)
        : null
    if (compared === null) {
      skipped.push({ id: messageId, reason: reason ?? 'not_comparable' })
      continue
    }
    // Of an adopted one, what it was.
    const state = compared.isAdopted ? 'different' : compared.state
    counts[state] = (counts[state] ?? 0) + 1
    if (adopting === null || compared.isAdopted) done += 1
    else skipped.push({ id: messageId, reason: state })
  }
  const after: HeldRun = {
    ...run,
    ...{ step: 'compare', step_taken: run.step_taken + candidates.length, done: run.done + done },
    ...{ cursor: selected.cursor ?? run.cursor, is_exhausted: selected.isExhausted },
    skipped: await noteAll(sql, run, skipped),
    compared: JSON.stringify(counts),
  }
  await writeProgress(sql, after)
  if (after.is_exhausted) await moveRun(sql, { id, from: ['running'], to: 'completed' })
  return {
    isLast: after.is_exhausted,
    response: { done: after.done, origins: counts, skipped: JSON.parse(after.skipped) },
  }
}
