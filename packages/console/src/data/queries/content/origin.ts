// The record that failed, beside the copy that stands on the DLQ topic.

import { queryOptions } from '@tanstack/react-query'
import { DlqApiError, dataOf } from 'dlq-client/api-client.ts'
import type { components } from 'dlq-client/api-types.ts'
import { memberText } from '../../../domain/payload/member-text.ts'
import { type PatchLine, readPatch } from '../../../domain/payload/patch-from-texts.ts'
import { api, rawRequest } from '../../api.ts'
import { type MessageDetail, type Unmask, unmaskText } from '../messages.ts'

export type Origin = components['schemas']['Origin'] & {
  /** What makes the original's value of the copy's, with every digit. Null: one of them is no JSON. */
  lines: readonly PatchLine[] | null
}

/** As it was compared last; null where nobody has compared it. */
export function originQuery({ id, updated_at, origin_state }: MessageDetail, unmask: Unmask) {
  return queryOptions({
    queryKey: ['origin', id, updated_at, origin_state, unmask],
    queryFn: async ({ signal }): Promise<Origin | null> => {
      const path = `/api/v1/dlq/messages/${encodeURIComponent(id)}/origin${unmaskText(unmask)}`
      const response = await rawRequest(path, { signal })
      const text = await response.text()
      if (response.status === 404) return null
      const body: unknown = JSON.parse(text)
      if (!response.ok) throw new DlqApiError(response.status, body)
      return { ...(body as components['schemas']['Origin']), lines: readPatch(memberText(text, 'patch') ?? 'null') }
    },
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  })
}

/** Waits up to ten seconds for a retrier to read the record. False: none has done so yet. */
export async function compareOrigin(id: string, unmask: Unmask): Promise<boolean> {
  const params = { path: { id }, header: { prefer: 'wait=10' }, query: unmask ?? {} }
  const answer = api.POST('/api/v1/dlq/messages/{id}/origin', { params })
  await dataOf(answer)
  return (await answer).response.status === 200
}

/** Puts the record that failed in the place of the copy. */
export async function adoptOrigin(
  id: string,
  { reason, force, etag, unmask }: { reason: string; force: boolean; etag: string | null; unmask: Unmask },
): Promise<void> {
  const header = etag === null ? {} : { 'if-match': etag }
  const body = { record: 'origin' as const, force, ...(reason === '' ? {} : { reason }) }
  await dataOf(
    api.PATCH('/api/v1/dlq/messages/{id}', { params: { path: { id }, header, query: unmask ?? {} }, body } as never),
  )
}
