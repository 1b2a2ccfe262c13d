// What a draft of a run carries behind the `#` of its address: patch, reason, and which messages were chosen one by one. An
// address that is sent to the server may have 8 KiB, and a patch holds values, which do not belong into logs.

/** The patch stays text, so that its digits are those that were typed. */
export type DraftHash = { patch: string | null; reason: string; ids: readonly string[] }

export function readDraftHash(hash: string): DraftHash {
  const params = new URLSearchParams(hash.replace(/^#/, ''))
  return { patch: params.get('patch'), reason: params.get('reason') ?? '', ids: params.get('ids')?.split(',') ?? [] }
}

export function printDraftHash({ patch = null, reason = '', ids = [] }: Partial<DraftHash>): string {
  const params = new URLSearchParams()
  if (patch !== null) params.set('patch', patch)
  if (reason !== '') params.set('reason', reason)
  if (ids.length > 0) params.set('ids', ids.join(','))
  return params.toString()
}

const reasonsPlace = 'dlq-console.reasons'

/** The last five reasons of this browser. */
export function lastReasons(): string[] {
  try {
    return JSON.parse(localStorage.getItem(reasonsPlace) ?? '[]') as string[]
  } catch {
    return []
  }
}

export function keepReason(reason: string): void {
  if (reason === '') return
  try {
    localStorage.setItem(reasonsPlace, JSON.stringify([...new Set([reason, ...lastReasons()])].slice(0, 5)))
  } catch {
    // Without storage, nothing is offered.
  }
}
