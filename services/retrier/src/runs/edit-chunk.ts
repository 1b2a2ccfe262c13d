// A chunk of a run that edits. Each message's value is patched as JSON; the old value is kept, as with every edit.

import { applyEdit } from 'dlq-core/domain/message/edit-message.ts'
import type { PolicyOf } from 'dlq-core/domain/retry/effective-policy.ts'
import { type CandidateContent, editMessage, readContents } from 'dlq-core/queries/change/message-change.ts'
import type { Skipped } from 'dlq-core/queries/runs/run-items.ts'
import type { HeldRun } from 'dlq-core/queries/runs/runs.ts'
import type { AsideDeps } from 'dlq-core/runtime/aside/change-aside.ts'
import type { Transaction } from 'dlq-core/runtime/database/database.ts'
import { fingerprint, type PreparedChunk, type PreparedEdit, workOut } from './prepare-edits.ts'

export type EditDeps = AsideDeps & { policyOf: PolicyOf }

/**
 * Edits messages that are locked. A message that the patch does not fit, or does not change, is skipped, and so is one
 * whose contents have changed since they were prepared.
 */
export async function editChunk(
  deps: EditDeps,
  sql: Transaction,
  run: HeldRun,
  { ids, edits }: { ids: readonly string[]; edits: PreparedChunk['edits'] },
): Promise<{ done: number; skipped: Skipped[] }> {
  const skipped: Skipped[] = []
  let done = 0
  for (const message of await readContents(sql, { ids, scope: run.scope })) {
    const { id } = message
    // What was archived could not be read before it was restored, in this transaction.
    const edit = edits.get(id) ?? (await workOut(deps, run, { message }))
    const problem = edit.of === fingerprint(message) ? edit.problem : 'changed'
    if (problem !== null) skipped.push({ id, reason: problem })
    else done += await write(deps, sql, run, { message, edit })
  }
  return { done, skipped }
}

async function write(
  { policyOf }: EditDeps,
  sql: Transaction,
  run: HeldRun,
  { message, edit }: { message: CandidateContent; edit: PreparedEdit },
): Promise<1> {
  const after = applyEdit(message, { value: edit.bytes! }, policyOf(message), () => edit.projected!)
  const by = { actor: run.actor, reason: run.reason, request_id: `run ${run.id}` }
  await editMessage(sql, { id: message.id, ...by, ...after })
  return 1
}
