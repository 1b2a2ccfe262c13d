// Shows messages before and after a run of kind edit, without creating the run.

import { patchValue } from 'dlq-core/domain/message/edit-message.ts'
import { parseExact } from 'dlq-core/domain/record/exact-json.ts'
import { readContents } from 'dlq-core/queries/change/message-change.ts'
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
