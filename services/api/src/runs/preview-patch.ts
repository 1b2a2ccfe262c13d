// Shows messages before and after a run of kind edit, without creating the run.

import { setImmediate as turn } from 'node:timers/promises'
import { sentValue } from 'dlq-core/domain/message/edit-message.ts'
import { maxEncodedBytes } from 'dlq-core/domain/payload/payload-bounds.ts'
import { parseExact } from 'dlq-core/domain/record/exact-json.ts'
import { type CandidateContent, readContents } from 'dlq-core/queries/change/message-change.ts'
import { changeAside } from 'dlq-core/runtime/aside/change-aside.ts'
import type { Call } from '../http/define-route.ts'
import { shown } from '../masks/shown.ts'

export type PatchPreview = { id: string; before: unknown; after: unknown; omitted: boolean; problem: string | null }

type PreviewCall = Pick<Call, 'sql' | 'access' | 'payloads' | 'aside' | 'sight' | 'signal'>

/** Longer values are left out, in characters: twenty of 4 MiB, twice, would make an answer of 160 MiB. */
export const maxShown = 65_536

/** Numbers keep their digits when the answer is written. One message after the other, so that others are answered meanwhile. */
export async function previewPatch(
  call: PreviewCall,
  { ids, patch }: { ids: readonly string[]; patch: string },
): Promise<PatchPreview[]> {
  const previews: PatchPreview[] = []
  for (const id of ids) {
    const [message] = await readContents(call.sql, { ids: [id], scope: call.access.topics })
    if (message) previews.push(await previewOne(call, message, patch))
    await turn()
  }
  return previews
}

async function previewOne(call: PreviewCall, message: CandidateContent, patch: string): Promise<PatchPreview> {
  const { id, record_headers } = message
  const bytes = sentValue(message)
  if (bytes === null) return { id, before: null, after: null, omitted: false, problem: 'no_json' }
  const changed = await changeAside(
    call,
    {
      ...{ bytes, part: 'value', topics: message, change: { patch }, reencode: false, force: false },
      ...{ headers: { before: record_headers, after: record_headers }, maxBytes: maxEncodedBytes, waitMs: 0 },
    },
    { owner: call.access.actor, signal: call.signal },
  )
  const { problem } = changed
  const isLong = (json: string | null) => json !== null && json.length > maxShown
  // Behind a mask, whether the whole text is long says something about what is hidden.
  const isMasked = call.sight.maskOf(message) !== null
  if (!isMasked && (isLong(changed.before) || isLong(changed.after)))
    return { id, before: null, after: null, omitted: true, problem }
  const see = (payload: string | null) =>
    payload === null ? null : shown({ id, payload, unprojected_value: null }, call.sight, message).payload
  const [before, after] = [see(changed.before), see(changed.after)]
  // A mask may make a text longer.
  const omitted = isLong(before) || isLong(after)
  const parsed = (json: string | null) => (json === null || omitted ? null : parseExact(json))
  return { id, before: parsed(before), after: parsed(after), omitted, problem }
}
