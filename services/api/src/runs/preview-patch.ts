// Shows messages before and after a run of kind edit, without creating the run.

import { setImmediate as turn } from 'node:timers/promises'
import { sentValue } from 'dlq-core/domain/message/edit-message.ts'
import { maxEncodedBytes } from 'dlq-core/domain/payload/payload-bounds.ts'
import { parseExact } from 'dlq-core/domain/record/exact-json.ts'
import { readContents } from 'dlq-core/queries/change/message-change.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import type { TopicScope } from 'dlq-core/queries/topic-scope.ts'
import { patchAside } from 'dlq-core/runtime/patching/patch-aside.ts'
import { type PayloadReader, readableValue } from 'dlq-core/runtime/schemas/payload-reader.ts'
import { shown } from '../masks/shown.ts'
import type { Sight } from '../masks/sight.ts'

export type PatchPreview = { id: string; before: unknown; after: unknown; omitted: boolean; problem: string | null }

/** Longer values are left out, in characters: twenty of 4 MiB, twice, would make an answer of 160 MiB. */
export const maxShown = 65_536

/** Numbers keep their digits when the answer is written. One message after the other, so that others are answered meanwhile. */
export async function previewPatch(
  sql: Sql,
  {
    ids,
    patch,
    scope,
    payloads,
    sight,
  }: { ids: readonly string[]; patch: string; scope: TopicScope; payloads: PayloadReader | null; sight: Sight },
): Promise<PatchPreview[]> {
  const previews: PatchPreview[] = []
  for (const id of ids) {
    const [message] = await readContents(sql, { ids: [id], scope })
    if (!message) continue
    const [reading] =
      (await payloads?.readAll([readableValue(message, sentValue(message), message)], { maxBytes: maxEncodedBytes })) ??
      []
    const patched = await patchAside(message, patch, reading)
    const see = (payload: string | null) => shown({ id, payload, unprojected_value: null }, sight, message).payload
    const [before, after, problem] = [see(patched.before), see(patched.after), patched.problem]
    const omitted = Math.max(before?.length ?? 0, after?.length ?? 0) > maxShown
    const parsed = (json: string | null) => (json === null || omitted ? null : parseExact(json))
    previews.push({ id, before: parsed(before), after: parsed(after), omitted, problem })
    await turn()
  }
  return previews
}
