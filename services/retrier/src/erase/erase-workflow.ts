// Runs of kind erase as sagas. Each chunk is one transaction, so a retrier that dies at any point leaves a run that goes
// on where it was. A run cannot be undone, and ends only when nothing is left.

import { randomBytes } from 'node:crypto'
import { copiesOf, namesOf, runsNaming, sealProof } from 'dlq-core/domain/erase/erase-proof.ts'
import { erasureKey, idDigest, keyDigest } from 'dlq-core/domain/erase/erasure-digest.ts'
import { type RunSelection, runPriority, runWorkflows } from 'dlq-core/domain/message/run.ts'
import { smallestId } from 'dlq-core/domain/record/message-id.ts'
import {
  addItems,
  countRemaining,
  findByKeys,
  forgetItems,
  holdsLaterThan,
  listItemKeys,
  listItems,
  listRepublished,
  nextItems,
  noteErased,
  scanArchive,
} from 'dlq-core/queries/erase/erase-items.ts'
import { eraseMessages } from 'dlq-core/queries/erase/erase-messages.ts'
import {
  type ErasingRun,
  eraseFrames,
  eraseGroupTexts,
  eraseReads,
  eraseRunTexts,
  forgetSelection,
  listRetentions,
  listRunTexts,
  moveCutoff,
  readErasingRun,
  retireFrames,
  writeProof,
} from 'dlq-core/queries/erase/erase-traces.ts'
import {
  beginErasure,
  insertErasedPlaces,
  insertErasures,
  readErasureKeys,
  takeBackErasures,
} from 'dlq-core/queries/erase/erasures.ts'
import { type HeldRun, holdRun, moveRun, writeProgress } from 'dlq-core/queries/runs/runs.ts'
import type { Transaction } from 'dlq-core/runtime/database/database.ts'
import { eraseReasons } from 'saga-core/store/saga-store.ts'
import { type Chunk, defineWorkflow, PermanentStepError, type Step, type Workflow } from 'saga-core/workflow.ts'
import { selectChunk } from '../runs/select-chunk.ts'
import { whilePaused } from '../runs/while-paused.ts'

type RunPayload = { run_id: string }
type EraseStep = Step<RunPayload>
type Held = { run: HeldRun; erasing: ErasingRun }

const bounds = { timeoutMs: 600_000, retry: { maxAttempts: 20, delayMs: 500, maxDelayMs: 30_000 } }
const findSize = 2000
const eraseSize = 200
const archivePiece = 5000
const textsPiece = 1000
const mostKeys = 10_000

/** The workflow. `admit` is that of all runs. */
export function eraseWorkflow(admit: EraseStep): Workflow<RunPayload> {
  return defineWorkflow<RunPayload>({
    name: runWorkflows.erasing,
    priority: runPriority,
    steps: [
      {
        ...admit,
        // Of the first step, because what was not executed is not compensated: a run may be cancelled before it begins.
        async compensateChunk(sql: Transaction, context) {
          await forget(sql, context.payload)
          return admit.compensateChunk!(sql, context)
        },
      },
      step('begin', begin),
      step('find', find),
      step('archive', lookThroughArchive),
      step('erase', eraseNext),
      step('traces', eraseTraces),
      step('verify', verify),
      step('prove', prove),
    ],
  })
}

function step(name: string, work: (sql: Transaction, held: Held) => Promise<Chunk>): EraseStep {
  return {
    name,
    ...bounds,
    async executeChunk(sql: Transaction, { payload }) {
      const run = await holdRun(sql, payload.run_id)
      const erasing = run && (await readErasingRun(sql, run.id))
      if (!run || !erasing) throw new PermanentStepError(`there is no run ${payload.run_id} that erases`)
      // db/erase-again.ts has ended a run that was under way in the backup.
      if (run.status === 'completed') return { isLast: true }
      if (run.status !== 'running') return whilePaused
      const entered = run.step === name ? run : { ...run, step: name, cursor: null, is_exhausted: false }
      if (entered !== run) await writeProgress(sql, entered)
      return work(sql, { run: entered, erasing })
    },
  }
}

/**
 * Of a run that is cancelled: what it has erased stays erased, known by its ids, and it keeps no key. Dead letters of its
 * keys that are stored from now on stay whole.
 */
async function forget(sql: Transaction, { run_id: id }: RunPayload): Promise<void> {
  const erasing = await readErasingRun(sql, id)
  const { keys } = keysOf(erasing?.selection ?? '{"ids":[]}')
  for (const key of await readErasureKeys(sql)) {
    const digestKey = erasureKey(key.hmac_key)
    await takeBackErasures(sql, { runId: id, digests: keys.map((one) => keyDigest(digestKey, one)) })
  }
  await forgetItems(sql, id)
  await forgetSelection(sql, id)
  const run = await holdRun(sql, id)
  // What it has found, it erases no more.
  if (run !== null) await writeProgress(sql, { ...run, taken: 0 })
}

function keysOf(selection: string): { keys: Buffer[]; topics: readonly string[] | null } {
  const wanted = JSON.parse(selection) as RunSelection
  if (!('keys' in wanted)) return { keys: [], topics: null }
  return { keys: wanted.keys.map((key) => Buffer.from(key, 'base64')), topics: wanted.topics ?? null }
}

/** From here on whatever ingesters store is looked for among the erased. */
async function begin(sql: Transaction, { run: { id }, erasing }: Held): Promise<Chunk> {
  const { hmacKey, cutoff } = await beginErasure(sql, { newKey: randomBytes(32) })
  const { keys, topics } = keysOf(erasing.selection)
  const digestKey = erasureKey(hmacKey)
  const digests = keys.map((key) => keyDigest(digestKey, key))
  await insertErasures(sql, { runId: id, hmacKey, digests, topics, cutoff })
  await moveCutoff(sql, { id, cutoff })
  // A clock that was ahead gave times after the cutoff to messages that are here: nothing is being stored now.
  if (keys.length > 0 && (await holdsLaterThan(sql, cutoff)))
    await addItems(sql, { runId: id, ids: await findByKeys(sql, { keys, topics, until: 'infinity' }) })
  return { isLast: true }
}

async function find(sql: Transaction, { run, erasing }: Held): Promise<Chunk> {
  const { keys, topics } = keysOf(erasing.selection)
  if (keys.length > 0) {
    const ids = await findByKeys(sql, { keys, topics, until: run.cutoff })
    await addItems(sql, { runId: run.id, ids })
    return { isLast: true, response: { found: ids.length } }
  }
  const { ids, cursor, isExhausted } = await selectChunk(sql, run, findSize)
  const taken = run.taken + (await addItems(sql, { runId: run.id, ids, scope: run.scope }))
  await writeProgress(sql, { ...run, taken, cursor: cursor ?? run.cursor, is_exhausted: isExhausted })
  return { isLast: isExhausted, response: { found: taken } }
}

/** The archive has no index of keys: it is read in pieces. */
async function lookThroughArchive(sql: Transaction, { run, erasing }: Held): Promise<Chunk> {
  const { keys, topics } = keysOf(erasing.selection)
  if (keys.length === 0) return { isLast: true }
  const after = run.cursor ?? smallestId
  const { ids, last } = await scanArchive(sql, { keys, topics, until: run.cutoff, after, limit: archivePiece })
  await addItems(sql, { runId: run.id, ids })
  await writeProgress(sql, { ...run, step_taken: run.step_taken + archivePiece, cursor: last ?? run.cursor })
  return { isLast: last === null, response: { looked_to: last } }
}

async function eraseNext(sql: Transaction, held: Held): Promise<Chunk> {
  const left = await erasePiece(sql, held)
  return left === 'none' ? { isLast: true } : { isLast: false, ...(left === 'waiting' && { afterMs: 500 }) }
}

/** `waiting`: what is left is being sent. */
async function erasePiece(sql: Transaction, { run, erasing }: Held): Promise<'none' | 'more' | 'waiting'> {
  const wanted = await nextItems(sql, { runId: run.id, limit: eraseSize })
  if (wanted.length === 0) return 'none'
  const { ids, waiting, counts } = await eraseMessages(sql, { runId: run.id, ids: wanted, mode: erasing.erase_mode })
  const [key] = await readErasureKeys(sql)
  const digestKey = erasureKey(key!.hmac_key)
  const digests = ids.map((id) => idDigest(digestKey, id))
  const erasure = { runId: run.id, hmacKey: key!.hmac_key }
  await insertErasures(sql, { ...erasure, digests, topics: null, cutoff: run.cutoff })
  await insertErasedPlaces(sql, { ...erasure, places: await listRepublished(sql, { runId: run.id, ids }) })
  await noteErased(sql, { runId: run.id, ids })
  await addCounts(sql, erasing, counts)
  await writeProgress(sql, { ...run, taken: 0, done: run.done + ids.length })
  return ids.length === 0 && waiting > 0 ? 'waiting' : 'more'
}

async function addCounts(sql: Transaction, { id }: ErasingRun, more: Record<string, number>): Promise<void> {
  const now = await readErasingRun(sql, id)
  const counts = countsOf(now!)
  for (const [place, count] of Object.entries(more)) counts[place] = (counts[place] ?? 0) + count
  await writeProof(sql, { id, proof: JSON.stringify({ counts }) })
}

function countsOf({ proof }: ErasingRun): Record<string, number> {
  return proof === null ? {} : (JSON.parse(proof) as { counts: Record<string, number> }).counts
}

async function eraseTraces(sql: Transaction, { run, erasing }: Held): Promise<Chunk> {
  // Noted by the flag and not by the cursor: where the cursor is set, a retrier of the version before, which may take the
  // run over, leaves out the texts of groups and the frames.
  if (!run.is_exhausted) {
    await retireFrames(sql, run.id)
    await writeProgress(sql, { ...run, is_exhausted: true })
    return { isLast: false }
  }
  const asked = keysOf(erasing.selection).keys
  const keys = [...asked, ...(await listItemKeys(sql, { runId: run.id, limit: mostKeys }))]
  if (run.cursor === null) {
    const counts = { ...(await eraseGroupTexts(sql, run.id)), dlq_stack_frames: await eraseFrames(sql, run.id) }
    const reads = await eraseReads(sql, { runId: run.id, texts: namesOf(keys) })
    await addCounts(sql, erasing, { ...counts, dlq_reads: reads })
  }
  const runs = await listRunTexts(sql, { after: run.cursor ?? smallestId, limit: textsPiece })
  const naming = runsNaming(runs, keys)
  await eraseRunTexts(sql, { runId: run.id, ...naming })
  await eraseReasons(sql, naming.ids)
  await addCounts(sql, erasing, { dlq_runs: naming.ids.length })
  const last = runs.at(-1)?.id
  await writeProgress(sql, { ...run, cursor: last ?? smallestId })
  return { isLast: runs.length < textsPiece }
}

/** Searches all places once more, and erases what it finds: a record may have come from the archive meanwhile. */
async function verify(sql: Transaction, held: Held): Promise<Chunk> {
  const { run, erasing } = held
  const { keys, topics } = keysOf(erasing.selection)
  const after = run.cursor ?? smallestId
  const archived =
    keys.length === 0
      ? { ids: [], last: null }
      : await scanArchive(sql, { keys, topics, until: run.cutoff, after, limit: archivePiece })
  const live = await findByKeys(sql, { keys, topics, until: run.cutoff })
  const added = await addItems(sql, { runId: run.id, ids: [...archived.ids, ...live] })
  if (added > 0) await addCounts(sql, held.erasing, await eraseGroupTexts(sql, run.id))
  if ((await erasePiece(sql, held)) !== 'none') return { isLast: false, afterMs: 200 }
  if (archived.last !== null) {
    const now = (await holdRun(sql, run.id))!
    await writeProgress(sql, { ...now, cursor: archived.last })
    return { isLast: false }
  }
  const remaining = await countRemaining(sql, run.id)
  if (remaining > 0) throw new Error(`${remaining} rows still hold something of what was erased`)
  return { isLast: true }
}

/** The proof, and the end of everything that this run itself knows, in one transaction. */
async function prove(sql: Transaction, { run, erasing }: Held): Promise<Chunk> {
  const items = await listItems(sql, run.id)
  const retentions = await listRetentions(sql)
  const [key] = await readErasureKeys(sql)
  const digestKey = erasureKey(key!.hmac_key)
  const { keys, topics } = keysOf(erasing.selection)
  const proof = sealProof({
    ...{ run_id: run.id, mode: erasing.erase_mode, actor: erasing.actor, reason: erasing.reason },
    ...{ requested_at: erasing.created_at.toISOString(), finished_at: new Date().toISOString(), cutoff: run.cutoff },
    hmac_key: key!.hmac_key.toString('base64'),
    keys: keys.map((one) => keyDigest(digestKey, one)),
    topics: topics && [...topics],
    ids: items.map(({ message_id }) => message_id),
    counts: countsOf(erasing),
    remaining: await countRemaining(sql, run.id),
    copies_in_kafka: items.flatMap(({ places }) => copiesOf(places, (topic) => retentions.get(topic) ?? null)),
  })
  await writeProof(sql, { id: run.id, proof })
  await forgetSelection(sql, run.id)
  await forgetItems(sql, run.id)
  await moveRun(sql, { id: run.id, from: ['running'], to: 'completed' })
  return { isLast: true, response: { erased: items.length } }
}
