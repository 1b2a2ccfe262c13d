// One chunk of a run: it takes or changes the next messages, and counts them. All in one transaction, so that the
// messages, the cursor, the counts, the saga's log and its next job are written together.

import { heldReason, ineligibility, isSent } from 'dlq-core/domain/message/run.ts'
import { nextState } from 'dlq-core/domain/retry/message-state.ts'
import { deleteMessages } from 'dlq-core/queries/change/delete-messages.ts'
import { giveOrderKeys, listUnordered } from 'dlq-core/queries/retry/order-keys.ts'
import type { Skipped } from 'dlq-core/queries/runs/run-items.ts'
import {
  type CandidateRow,
  listArchived,
  lockCandidates,
  markDead,
  readDead,
  reviveRestored,
  takeIntoRun,
  writeRevived,
} from 'dlq-core/queries/runs/run-messages.ts'
import { noteForUndo, takeBack } from 'dlq-core/queries/runs/run-undo.ts'
import { type HeldRun, writeProgress } from 'dlq-core/queries/runs/runs.ts'
import { archiveMessages, restoreArchived } from 'dlq-core/queries/upkeep/archive.ts'
import type { Transaction } from 'dlq-core/runtime/database/database.ts'
import { type BatchPace, nextBatchSize } from '../batch-size.ts'
import { type EditDeps, editChunk } from './edit-chunk.ts'
import { noteAll } from './note-skipped.ts'
import type { PreparedChunk } from './prepare-edits.ts'
import { selectChunk, targetsArchive } from './select-chunk.ts'

/**
 * Short enough for those who wait for the rows, long enough to be worth a transaction. A chunk at most doubles, because
 * the first one after a pause of the machine says little.
 */
export const chunkPace: BatchPace = { targetMs: 300, least: 50, most: 10_000, growth: 2 }

export type ChunkDeps = EditDeps & { now: () => Date }

/**
 * Works on at most `limit` messages; a run that edits, on those that were prepared. Returns the run as it is afterwards:
 * the same where another process has gone on with it since.
 */
export async function runChunk(
  deps: ChunkDeps,
  sql: Transaction,
  run: HeldRun,
  { limit = Number.POSITIVE_INFINITY, prepared = null }: { limit?: number; prepared?: PreparedChunk | null } = {},
): Promise<HeldRun> {
  if (run.patch !== null && prepared?.before !== run.cursor) return run
  const startedAt = performance.now()
  const size = Math.min(run.chunk_size, limit)
  const { ids, cursor, isExhausted } = prepared?.selected ?? (await selectChunk(sql, run, size))
  const chosen: Chosen = { ids, edits: prepared?.edits ?? new Map() }
  const { taken, done, skipped } = await (isSent(run.kind) ? take : touch)(deps, sql, run, chosen)
  const tookMs = performance.now() - startedAt
  const after: HeldRun = {
    ...run,
    ...{ taken: run.taken + taken, done: run.done + done, step_taken: run.step_taken + taken + done },
    cursor: cursor ?? run.cursor,
    is_exhausted: isExhausted,
    skipped: await noteAll(sql, run, skipped),
    // A chunk that was cut short, by its limit or by a filter that means few rows, says nothing about how many fit.
    chunk_size: ids.length < run.chunk_size ? run.chunk_size : nextBatchSize({ size, found: size, tookMs }, chunkPace),
  }
  await writeProgress(sql, after)
  return after
}

type Chosen = Pick<PreparedChunk, 'edits'> & { ids: readonly string[] }
type Chunked = { taken: number; done: number; skipped: Skipped[] }

async function take(deps: ChunkDeps, sql: Transaction, run: HeldRun, { ids, edits }: Chosen): Promise<Chunked> {
  const { id: runId, kind, cutoff, scope, is_forced: isForced } = run
  // Archived messages are restored first; the run then takes them like any other.
  if (targetsArchive(run)) await reviveRestored(sql, { runId, ids: await restoreArchived(sql, ids) })
  const unfit = run.patch === null ? [] : await patchBeforeTaking(deps, sql, run, { ids, edits })
  const leftOut = new Set(unfit.map(({ id }) => id))
  if (targetsArchive(run)) await takeBack(sql, { runId, ids: [...leftOut] })
  const {
    taken,
    handed_over: handedOver,
    left,
  } = await takeIntoRun(sql, {
    ...{ runId, ids: ids.filter((id) => !leftOut.has(id)), cutoff, scope, isForced },
    redirects: kind === 'redirect',
  })
  // What was DEAD or archived waits again, and later messages of its key wait for it.
  if (isForced || targetsArchive(run)) await keepOrder(deps, sql, { ids, runId })
  return { taken, done: handedOver, skipped: [...unfit, ...left.map((row) => toSkipped(run, row))] }
}

/**
 * Edits the messages that the run is about to take, so that a canary tries the change. Returns those that the patch does
 * not fit: they are not sent. A message that has the wanted value already is.
 */
async function patchBeforeTaking(
  deps: ChunkDeps,
  sql: Transaction,
  run: HeldRun,
  { ids, edits }: Chosen,
): Promise<Skipped[]> {
  const { cutoff, scope } = run
  const candidates = await lockCandidates(sql, { ids, cutoff, scope })
  const chosen = candidates.filter((row) => ineligibility(run, row) === null).map(({ id }) => id)
  const { skipped } = await editChunk(deps, sql, run, { ids: chosen, edits })
  return skipped.filter(({ reason }) => reason !== 'unchanged')
}

async function touch(deps: ChunkDeps, sql: Transaction, run: HeldRun, { ids, edits }: Chosen): Promise<Chunked> {
  const { id: runId, kind, cutoff, scope } = run
  if (kind === 'purge') return { taken: 0, done: await deleteMessages(sql, { ids, archived: true }), skipped: [] }
  if (kind === 'restore') {
    const restored = await restoreArchived(sql, await listArchived(sql, { ids, scope }))
    return { taken: 0, done: restored.length, skipped: [] }
  }
  const candidates = await lockCandidates(sql, { ids, cutoff, scope })
  const skipped = candidates.filter((row) => ineligibility(run, row) !== null).map((row) => toSkipped(run, row))
  const left = new Set(skipped.map(({ id }) => id))
  const chosen = candidates.map(({ id }) => id).filter((id) => !left.has(id))
  const touched = (done: number): Chunked => ({ taken: 0, done, skipped })
  if (kind === 'archive' || kind === 'dead') await noteForUndo(sql, { runId, ids: chosen })
  if (kind === 'archive') return touched(await archiveMessages(sql, { ids: chosen, now: deps.now() }))
  if (kind === 'dead') return touched(await markDead(sql, chosen))
  if (kind === 'revive') return touched(await revive(deps, sql, chosen))
  if (kind === 'delete') return touched(await deleteMessages(sql, { ids: chosen, archived: false }))
  if (kind !== 'edit') throw new Error(`a run of kind ${kind} has a workflow of its own`)
  const edited = await editChunk(deps, sql, run, { ids: chosen, edits })
  return { taken: 0, done: edited.done, skipped: [...skipped, ...edited.skipped] }
}

/** `runId`: only those that the run holds, because others among the ids may be outside its scope. */
async function keepOrder(
  { policyOf }: ChunkDeps,
  sql: Transaction,
  { ids, runId = null }: { ids: readonly string[]; runId?: string | null },
): Promise<void> {
  const messages = await listUnordered(sql, { ids, runId })
  const ordered = messages.filter((message) => policyOf(message).ordering === 'per-key')
  await giveOrderKeys(
    sql,
    ordered.map(({ id }) => id),
  )
}

/** Lets locked DEAD messages be retried by their policies again, each with a new budget. Returns how many. */
async function revive(deps: ChunkDeps, sql: Transaction, ids: readonly string[]): Promise<number> {
  const { policyOf, now } = deps
  const states = (await readDead(sql, ids)).map((message) => {
    const deciding = { policy: policyOf(message), now: now(), random: Math.random() }
    return { ...nextState(message, { type: 'revived' }, deciding)!, id: message.id }
  })
  const revived = await writeRevived(sql, states)
  await keepOrder(deps, sql, { ids })
  return revived
}

function toSkipped(run: HeldRun, { id, ...row }: CandidateRow): Skipped {
  // All of the archive are RESOLVED or DEAD: that says nothing.
  const held = targetsArchive(run) ? heldReason(row) : null
  return { id, reason: held ?? ineligibility(run, row) ?? 'changed' }
}
