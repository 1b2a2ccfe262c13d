// Where a list goes on. A cursor names the row to go on behind, and is bound to what the list was asked for:
// with another filter the same row would be another place.

/** `forward`: down the list as it is sorted; `back`: up. `key`: the row's sort columns as text, its id last. */
export type Cursor = { readonly direction: 'forward' | 'back'; readonly key: readonly string[] }

/** Opaque text for URLs. */
export function encodeCursor({ direction, key }: Cursor, binding: string): string {
  return Buffer.from(JSON.stringify([binding, direction === 'forward' ? 'f' : 'b', ...key])).toString('base64url')
}

const maxCursorChars = 256
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** What `encodeCursor` was given; or why it is of no use here. `id`: what the list's ids look like. */
export function decodeCursor(text: string, binding: string, id = uuid): Cursor | 'invalid' | 'of another list' {
  const parts = parse(text)
  if (parts === null) return 'invalid'
  const [boundTo, direction, ...key] = parts
  const sortColumns = key.slice(0, -1)
  const wellFormed =
    (direction === 'f' || direction === 'b') &&
    id.test(key.at(-1) ?? '') &&
    sortColumns.length <= 1 &&
    sortColumns.every(isTime)
  if (!wellFormed) return 'invalid'
  if (boundTo !== binding) return 'of another list'
  return { direction: direction === 'f' ? 'forward' : 'back', key }
}

/** A time as PostgreSQL writes it in UTC, to the microsecond; a date that does not exist is none. */
function isTime(text: string): boolean {
  if (/^-?infinity$/.test(text)) return true
  const [, toTheSecond] = /^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?:\.\d{1,6})?\+00$/.exec(text) ?? []
  const moment = new Date(`${toTheSecond?.replace(' ', 'T')}Z`)
  return !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(toTheSecond!.replace(' ', 'T'))
}

function parse(text: string): string[] | null {
  if (text.length > maxCursorChars || !/^[\w-]+$/.test(text)) return null
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, 'base64url').toString())
    return Array.isArray(parts) && parts.every((part) => typeof part === 'string') ? parts : null
  } catch {
    return null
  }
}
