// A chunk of a run that edits: each message's value is patched as JSON; what was there before is kept, as of any edit.

import { applyEdit, patchValue } from 'dlq-core/edit-message.ts'
import type { MessageTopics } from 'dlq-core/effective-policy.ts'
import { editMessage, readContents } from 'dlq-core/queries/message-change.ts'
import type { Skipped } from 'dlq-core/queries/run-items.ts'
import type { HeldRun } from 'dlq-core/queries/runs.ts'
import type { RetryPolicy } from 'dlq-core/retry-policy.ts'
import type { Transaction } from 'dlq-core/runtime/database.ts'

export type EditDeps = { policyOf: (topics: MessageTopics) => RetryPolicy }

/** Edits messages that are locked. What the patch does not fit, or does not change, is left alone. */
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
    const policy = policyOf({ originalTopic: message.original_topic, dlqTopic: message.dlq_topic })
    const edit = applyEdit(message, { value: Buffer.from(patched.after!) }, policy)
    await editMessage(sql, { id, actor: run.actor, reason: run.reason, request_id: `run ${run.id}`, ...edit })
    done += 1
  }
  return { done, skipped }
}
