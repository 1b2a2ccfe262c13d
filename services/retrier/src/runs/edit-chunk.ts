// A chunk of a run that edits. Each message's value is patched as JSON; the old value is kept, as with every edit.

import { applyEdit, sentValue } from 'dlq-core/domain/message/edit-message.ts'
import { maxEncodedBytes } from 'dlq-core/domain/payload/payload-bounds.ts'
import type { PolicyOf } from 'dlq-core/domain/retry/effective-policy.ts'
import { editMessage, readContents } from 'dlq-core/queries/change/message-change.ts'
import type { Skipped } from 'dlq-core/queries/runs/run-items.ts'
import type { HeldRun } from 'dlq-core/queries/runs/runs.ts'
import type { Transaction } from 'dlq-core/runtime/database/database.ts'
import { patchAside } from 'dlq-core/runtime/patching/patch-aside.ts'
import { type PayloadReader, readableValue } from 'dlq-core/runtime/schemas/payload-reader.ts'

/** `payloads`: null where only JSON is read. */
export type EditDeps = { policyOf: PolicyOf; payloads: PayloadReader | null }

/** Edits messages that are locked. A message that the patch does not fit, or does not change, is skipped. */
export async function editChunk(
  { policyOf, payloads }: EditDeps,
  sql: Transaction,
  run: HeldRun,
  ids: readonly string[],
): Promise<{ done: number; skipped: Skipped[] }> {
  const skipped: Skipped[] = []
  let done = 0
  const messages = await readContents(sql, { ids, scope: run.scope })
  const readings = await payloads?.readAll(
    messages.map((message) => readableValue(message, sentValue(message), message)),
    { maxBytes: maxEncodedBytes, sql },
  )
  for (const [at, message] of messages.entries()) {
    const { id } = message
    const patched = await patchAside(message, run.patch!, readings?.[at])
    if (patched.problem !== null) {
      skipped.push({ id, reason: patched.problem })
      continue
    }
    const policy = policyOf(message)
    const edit = applyEdit(message, { value: patched.bytes! }, policy, payloads?.projectFor(message))
    await editMessage(sql, { id, actor: run.actor, reason: run.reason, request_id: `run ${run.id}`, ...edit })
    done += 1
  }
  return { done, skipped }
}
