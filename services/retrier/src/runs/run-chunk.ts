// One chunk of a run: the next of its messages are taken, or touched, and counted. In the transaction of the
// chunk, so that the messages, the cursor, the counts, the saga's log and its next job are written together.

import { archiveMessages, restoreArchived } from 'dlq-core/queries/archive.ts'
import { noteSkipped, type Skipped } from 'dlq-core/queries/run-items.ts'
import {
  type CandidateRow,
  lockCandidates,
  purgeArchived,
  reviveRestored,
  takeIntoRun,
  touchMessages,
} from 'dlq-core/queries/run-messages.ts'
import { type HeldRun, writeProgress } from 'dlq-core/queries/runs.ts'
import { ineligibility, isSent, nextChunkSize } from 'dlq-core/run.ts'
import type { Transaction } from 'dlq-core/runtime/database.ts'
import { type EditDeps, editChunk } from './edit-chunk.ts'
import { isOfArchive, selectChunk } from './select-chunk.ts'

export type ChunkDeps = EditDeps & { now: () => Date }

/** At most `limit` messages. Returns the run as it is then. */
export async function runChunk(
  deps: ChunkDeps,
  sql: Transaction,
  run: HeldRun,
  limit = Number.POSITIVE_INFINITY,
): Promise<HeldRun> {
  const startedAt = performance.now()
  const size = Math.min(run.chunkSize, limit)
  const { ids, cursor, isExhausted } = await selectChunk(sql, run, size)
  const { taken, done, skipped } = isSent(run.kind) ? await take(sql, run, ids) : await touch(deps, sql, run, ids)
  const after: HeldRun = {
    ...run,
    ...{ taken: run.taken + taken, done: run.done + done, stepTaken: run.stepTaken + taken + done },
    cursor: cursor ?? run.cursor,
    isExhausted,
    skipped: await noteAll(sql, run, skipped),
    // A chunk that was cut short by its limit says nothing about how many fit.
    chunkSize: ids.length < run.chunkSize ? run.chunkSize : nextChunkSize(size, performance.now() - startedAt),
  }
  await writeProgress(sql, after)
  return after
}

type Chunked = { taken: number; done: number; skipped: Skipped[] }

async function take(sql: Transaction, run: HeldRun, ids: readonly string[]): Promise<Chunked> {
  const { id: runId, kind, cutoff, scope } = run
  // What is archived comes back first, due when the run's turn comes.
  if (isOfArchive(run)) await reviveRestored(sql, await restoreArchived(sql, ids))
  const { taken, handedOver, left } = await takeIntoRun(sql, {
    ...{ runId, ids, cutoff, scope },
    redirects: kind === 'redirect',
  })
  return { taken, done: handedOver, skipped: left.map((row) => toSkipped(run, row)) }
}

async function touch(deps: ChunkDeps, sql: Transaction, run: HeldRun, ids: readonly string[]): Promise<Chunked> {
  const { kind, cutoff, scope } = run
  if (kind === 'purge') return { taken: 0, done: await purgeArchived(sql, ids), skipped: [] }
  const candidates = await lockCandidates(sql, { ids, cutoff, scope })
  const skipped = candidates.filter((row) => ineligibility(kind, row) !== null).map((row) => toSkipped(run, row))
  const left = new Set(skipped.map(({ id }) => id))
  const chosen = candidates.map(({ id }) => id).filter((id) => !left.has(id))
  const touched = (done: number): Chunked => ({ taken: 0, done, skipped })
  if (kind === 'archive') return touched(await archiveMessages(sql, { ids: chosen, now: deps.now() }))
  if (kind === 'dead' || kind === 'delete') return touched(await touchMessages(sql, { kind, ids: chosen }))
  if (kind !== 'edit') throw new Error(`a run of kind ${kind} sends its messages`)
  const edited = await editChunk(deps, sql, run, chosen)
  return { taken: 0, done: edited.done, skipped: [...skipped, ...edited.skipped] }
}

function toSkipped({ kind }: HeldRun, { id, ...row }: CandidateRow): Skipped {
  return { id, reason: ineligibility(kind, row) ?? 'changed' }
}

/** Returns the run's counts of what was left alone, by reason, as JSON text. */
async function noteAll(sql: Transaction, run: HeldRun, skipped: readonly Skipped[]): Promise<string> {
  if (skipped.length === 0) return run.skipped
  const counts = JSON.parse(run.skipped) as Record<string, number>
  const before = Object.values(counts).reduce((sum, n) => sum + n, 0)
  await noteSkipped(sql, { runId: run.id, skipped, before })
  for (const { reason } of skipped) counts[reason] = (counts[reason] ?? 0) + 1
  return JSON.stringify(counts)
}
