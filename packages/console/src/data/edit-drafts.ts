// What somebody typed and has not saved: kept for an hour in this tab, for the state of the message that it was typed for.

type Kept = { text: string; at: number; etag: string | null }

const keptMs = 3_600_000
const placeOf = (id: string) => `dlq-console.edit.${id}`

export function keepEdit(id: string, etag: string | null, text: string): void {
  try {
    sessionStorage.setItem(placeOf(id), JSON.stringify({ text, at: Date.now(), etag } satisfies Kept))
  } catch {
    // Too large, or no storage: it lasts as long as the page.
  }
}

export function keptEdit(id: string, etag: string | null): string | null {
  try {
    const kept = JSON.parse(sessionStorage.getItem(placeOf(id)) ?? 'null') as Kept | null
    return kept !== null && kept.etag === etag && Date.now() - kept.at < keptMs ? kept.text : null
  } catch {
    return null
  }
}

export function dropEdit(id: string): void {
  try {
    sessionStorage.removeItem(placeOf(id))
  } catch {
    // Nothing was kept.
  }
}
