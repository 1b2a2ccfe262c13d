// What somebody typed and has not saved: kept for an hour in this tab, for the state of the message that it was typed for.

import type { EditDraft } from '../../domain/payload/edit-draft.ts'

type Kept = { draft: EditDraft; at: number; etag: string | null }

const keptMs = 3_600_000
const placeOf = (id: string) => `dlq-console.edit.${id}`
/** Where there is no storage, or too little of it, it lasts as long as the page. */
const memory = new Map<string, Kept>()

export function keepEdit(id: string, etag: string | null, draft: EditDraft): void {
  const kept: Kept = { draft, at: Date.now(), etag }
  memory.set(id, kept)
  try {
    // A file has no place there.
    sessionStorage.setItem(placeOf(id), JSON.stringify({ ...kept, draft: { ...draft, file: null } }))
  } catch {
    sessionStorage.removeItem(placeOf(id))
  }
}

/** With the ETag of the state that it was typed for: the message may have changed since. */
export function keptEdit(id: string): Pick<Kept, 'draft' | 'etag'> | null {
  const kept = memory.get(id) ?? stored(id)
  return kept !== null && Date.now() - kept.at < keptMs ? kept : null
}

export function dropEdit(id: string): void {
  memory.delete(id)
  try {
    sessionStorage.removeItem(placeOf(id))
  } catch {
    // Nothing was kept.
  }
}

/** For the next person at this browser. */
export function dropEdits(): void {
  memory.clear()
  try {
    for (const place of Object.keys(sessionStorage)) if (place.startsWith(placeOf(''))) sessionStorage.removeItem(place)
  } catch {
    // Nothing was kept.
  }
}

function stored(id: string): Kept | null {
  try {
    const kept = JSON.parse(sessionStorage.getItem(placeOf(id)) ?? 'null') as Kept | null
    return kept?.draft?.key === undefined ? null : kept
  } catch {
    return null
  }
}
