// Shows messages before and after a run of kind edit, without creating the run.

import { patchValue, sentValue } from 'dlq-core/domain/message/edit-message.ts'
import { maxEncodedBytes } from 'dlq-core/domain/payload/payload-bounds.ts'
import { parseExact } from 'dlq-core/domain/record/exact-json.ts'
import { readContents } from 'dlq-core/queries/change/message-change.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import type { TopicScope } from 'dlq-core/queries/topic-scope.ts'
import { type PayloadReader, readableValue } from 'dlq-core/runtime/schemas/payload-reader.ts'

export type PatchPreview = { id: string; before: unknown; after: unknown; problem: string | null }

/** Numbers keep their digits when the answer is written. */
export async function previewPatch(
  sql: Sql,
  {
    ids,
    patch,
    scope,
    payloads,
  }: { ids: readonly string[]; patch: string; scope: TopicScope; payloads: PayloadReader | null },
): Promise<PatchPreview[]> {
  const shown = (json: string | null) => (json === null ? null : parseExact(json))
  const messages = await readContents(sql, { ids, scope })
  const readings = await payloads?.readAll(
    messages.map((message) => readableValue(message, sentValue(message), message)),
    { maxBytes: maxEncodedBytes },
  )
  return messages.map((message, at) => {
    const { before, after, problem } = patchValue(message, patch, readings?.[at])
    return { id: message.id, before: shown(before), after: shown(after), problem }
  })
}
