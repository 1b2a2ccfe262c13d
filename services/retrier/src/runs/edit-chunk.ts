// A chunk of a run that edits. Each message's value is patched as JSON; the old value is kept, as with every edit.

import { applyEdit, patchValue } from 'dlq-core/domain/message/edit-message.ts'
import type { PolicyOf } from 'dlq-core/domain/retry/effective-policy.ts'
import { editMessage, readContents } from 'dlq-core/queries/change/message-change.ts'
import type { Skipped } from 'dlq-core/queries/runs/run-items.ts'
import type { HeldRun } from 'dlq-core/queries/runs/runs.ts'
import type { Transaction } from 'dlq-core/runtime/database/database.ts'

export type EditDeps = { policyOf: PolicyOf }

/** Edits messages that are locked. A message that the patch does not fit, or does not change, is skipped. */
export async function editChunk(
  { policyOf }: EditDeps,
  sql: Transaction,
  run: HeldRun,
  ids: readonly string[],
): Promise<{ done: number; skipped: Skipped[] }> {
  const skipped: Skipped[] = []
  let done = 0
  for (const message of await readContents(sql, { ids, scope: run.scope })) {
    const { id } = message
    const patched = patchValue(message, run.patch!)
    if (patched.problem !== null) {
      skipped.push({ id, reason: patched.problem })
      continue
    }
    const policy = policyOf(message)
    const edit = applyEdit(message, { value: Buffer.from(patched.after!) }, policy)
    await editMessage(sql, { id, actor: run.actor, reason: run.reason, request_id: `run ${run.id}`, ...edit })
    done += 1
  }
  return { done, skipped }
}
