// What a run that edits would make of messages, before anybody asks for it.

import { patchValue } from 'dlq-core/edit-message.ts'
import { parseExact } from 'dlq-core/exact-json.ts'
import { readContents } from 'dlq-core/queries/message-change.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import type { TopicScope } from 'dlq-core/queries/topic-scope.ts'

export type PatchPreview = { id: string; before: unknown; after: unknown; problem: string | null }

/** Numbers keep their digits when the answer is written. */
export async function previewPatch(
  sql: Sql,
  { ids, patch, scope }: { ids: readonly string[]; patch: string; scope: TopicScope },
): Promise<PatchPreview[]> {
  const shown = (json: string | null) => (json === null ? null : parseExact(json))
  return (await readContents(sql, { ids, scope })).map((message) => {
    const { before, after, problem } = patchValue(message, patch)
    return { id: message.id, before: shown(before), after: shown(after), problem }
  })
}
