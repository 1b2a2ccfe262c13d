// Works out what the next chunk of a run that edits will write, before the chunk's transaction: a patch may take seconds,
// and meanwhile nobody could change the rows, or clean the table up.

import { hash } from 'node:crypto'
import { sentValue } from 'dlq-core/domain/message/edit-message.ts'
import { maxEncodedBytes } from 'dlq-core/domain/payload/payload-bounds.ts'
import { type CandidateContent, measureContents, readContents } from 'dlq-core/queries/change/message-change.ts'
import { type HeldRun, peekRun } from 'dlq-core/queries/runs/runs.ts'
import { type AsideDeps, changeAside } from 'dlq-core/runtime/aside/change-aside.ts'
import type { Changed } from 'dlq-core/runtime/aside/change-worker.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import { type SelectedChunk, selectChunk, targetsArchive } from './select-chunk.ts'

/** `of`: of the contents that were changed. Texts are not kept: nobody reads them here. */
export type PreparedEdit = Pick<Changed, 'bytes' | 'projected' | 'problem'> & { of: string }

/** `before`: the run's cursor. `edits`: by message; of archived ones there are none. */
export type PreparedChunk = { before: string | null; selected: SelectedChunk; edits: ReadonlyMap<string, PreparedEdit> }

/**
 * `batchBytes`: contents that are in memory together. `bytes`: new values that wait for their transaction. After `ms` the
 * chunk is as long as it is: a run is to show progress, and to end soon when it is cancelled.
 */
const prepareBounds = { batchBytes: 8 * 1024 * 1024, bytes: 16 * 1024 * 1024, ms: 2000 }

/** Archived messages are restored first, and changed in the same transaction. */
const maxArchived = 20

type Preparing = {
  runId: string
  most: (run: HeldRun) => number
  signal?: AbortSignal
  bounds?: typeof prepareBounds
}

/** Null where there is nothing to prepare. `most`: messages that the step may still take. */
export async function prepareEdits(
  deps: AsideDeps & { sql: Database },
  { runId, most, signal, bounds = prepareBounds }: Preparing,
): Promise<PreparedChunk | null> {
  const { sql } = deps
  const run = await peekRun(sql, runId)
  if (run === null || run.patch === null || run.status !== 'running' || run.is_exhausted) return null
  const limit = Math.min(run.chunk_size, most(run), targetsArchive(run) ? maxArchived : Number.POSITIVE_INFINITY)
  if (limit <= 0) return null
  const selected = await sql.begin((sql) => selectChunk(sql, run, limit))
  const until = performance.now() + bounds.ms
  const edits = new Map<string, PreparedEdit>()
  let bytes = 0
  let ready = 0
  for (const batch of await batchesOf(sql, run, { ids: selected.ids, most: bounds.batchBytes })) {
    if (ready > 0 && (performance.now() >= until || bytes >= bounds.bytes)) break
    for (const message of await readContents(sql, { ids: batch, scope: run.scope })) {
      const edit = await workOut(deps, run, { message, signal })
      edits.set(message.id, edit)
      bytes += edit.bytes?.length ?? 0
    }
    ready += batch.length
  }
  const isWhole = ready === selected.ids.length
  const ids = selected.ids.slice(0, ready)
  const begun = isWhole ? selected : { ids, cursor: ids.at(-1) ?? null, isExhausted: false }
  return { before: run.cursor, selected: begun, edits }
}

/** What the run's patch makes of the message. */
export async function workOut(
  deps: AsideDeps,
  { id: runId, patch }: HeldRun,
  { message, signal }: { message: CandidateContent; signal?: AbortSignal | undefined },
): Promise<PreparedEdit> {
  const bytes = sentValue(message)
  const of = fingerprint(message)
  if (bytes === null) return { of, bytes: null, projected: null, problem: 'no_json' }
  const { record_headers: headers } = message
  const changing = {
    ...{ bytes, part: 'value' as const, topics: message, headers: { before: headers, after: headers } },
    ...{ change: { patch: patch! }, reencode: false, force: false, maxBytes: maxEncodedBytes, waitMs: 0 },
  }
  const { problem, projected, bytes: after } = await changeAside(deps, changing, { owner: `run ${runId}`, signal })
  return { of, problem, projected, bytes: after }
}

/** The same while the value and the headers are. */
export function fingerprint(message: CandidateContent): string {
  const value = sentValue(message)
  const headers = message.record_headers ?? ''
  return `${value === null ? '' : hash('sha256', value)} ${hash('sha256', headers)}`
}

/** Ids whose contents fit in memory together, in their order; each batch has at least one. */
async function batchesOf(
  sql: Database,
  run: HeldRun,
  { ids, most }: { ids: readonly string[]; most: number },
): Promise<string[][]> {
  const sizes = await measureContents(sql, { ids, scope: run.scope })
  const batches: string[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const id of ids) {
    const size = sizes.get(id) ?? 0
    if (bytes + size > most) {
      batches.push([])
      bytes = 0
    }
    batches.at(-1)!.push(id)
    bytes += size
  }
  return batches
}
