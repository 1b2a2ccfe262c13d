// What somebody makes of a message before it is saved: its value as text, key and headers as cells, and another target.
// Only what differs is asked for, so that every other byte stays as it came.

/** Key or header: text as it is typed, bytes in base64, or none at all. */
export type Cell = { readonly as: 'text' | 'base64' | 'null'; readonly text: string }
export type HeaderCell = Cell & { readonly id: number; readonly name: string }

export type ValueFile = { readonly name: string; readonly size: number; readonly base64: string }

export type EditDraft = {
  /** Null where the value cannot be typed, or there is none. */
  readonly value: string | null
  /** Instead of what is typed. */
  readonly file: ValueFile | null
  readonly key: Cell
  readonly headers: readonly HeaderCell[]
  /** Empty: the topic that the message came from. */
  readonly target: string
}

/** `decoded` is JSON as it was typed: parsed and printed again, its numbers would be others. */
export type Written = { text: string } | { base64: string } | { decoded: string } | null

export type EditRequest = {
  value?: Written
  key?: Written
  headers?: { name: string; value: Written }[]
  target_topic?: string | null
}

type Header = { name: string; value: string | null; encoding: 'text' | 'number' | 'base64'; base64?: string }

/** Numbers are shown as such, and written as the bytes that they came as. */
export function headerCells(headers: readonly Header[]): HeaderCell[] {
  return headers.map(({ name, value, encoding, base64 }, id) => ({ id, name, ...cellOf({ value, encoding, base64 }) }))
}

function cellOf({
  value,
  encoding,
  base64,
}: Pick<Header, 'value' | 'encoding'> & { base64: string | undefined }): Cell {
  if (value === null) return { as: 'null', text: '' }
  if (encoding === 'number') return { as: 'base64', text: base64 ?? '' }
  return { as: encoding, text: value }
}

/** A key from its bytes: text where the bytes are exactly that. */
export function keyCell(bytes: Uint8Array | null, asText: string | null, base64: string): Cell {
  if (bytes === null) return { as: 'null', text: '' }
  return asText === null ? { as: 'base64', text: base64 } : { as: 'text', text: asText }
}

export function written({ as, text }: Cell): Written {
  if (as === 'null') return null
  return as === 'text' ? { text } : { base64: text.trim() }
}

/** What to ask the API for; empty where nothing differs. `decoded`: the value is JSON that is written with its schema. */
export function editRequest(stored: EditDraft, draft: EditDraft, decoded = false): EditRequest {
  const headers = draft.headers.map(({ name, ...cell }) => ({ name, value: written(cell) }))
  const before = stored.headers.map(({ name, ...cell }) => ({ name, value: written(cell) }))
  return {
    ...(draft.file === null ? {} : { value: { base64: draft.file.base64 } }),
    ...(draft.file === null && draft.value !== null && draft.value !== stored.value
      ? { value: decoded ? { decoded: draft.value } : { text: draft.value } }
      : {}),
    ...(sameCell(stored.key, draft.key) ? {} : { key: written(draft.key) }),
    ...(JSON.stringify(headers) === JSON.stringify(before) ? {} : { headers }),
    ...(draft.target.trim() === stored.target ? {} : { target_topic: draft.target.trim() || null }),
  }
}

/** The request as JSON, with a decoded value as it was typed. */
export function editText(request: EditRequest & Readonly<Record<string, unknown>>): string {
  const { value, ...rest } = request
  if (value === undefined || value === null || !('decoded' in value)) return JSON.stringify(request)
  const others = JSON.stringify(rest)
  return `{"value":{"decoded":${value.decoded}}${others === '{}' ? '' : `,${others.slice(1, -1)}`}}`
}

function sameCell(a: Cell, b: Cell): boolean {
  return JSON.stringify(written(a)) === JSON.stringify(written(b))
}

/** Base64 that no decoder takes, by the name of what it is in. */
export function cellFaults({ key, headers }: Pick<EditDraft, 'key' | 'headers'>): string[] {
  const bad = ({ as, text }: Cell) => as === 'base64' && !isBase64(text.trim())
  return [
    ...(bad(key) ? ['The key is no base64.'] : []),
    ...headers.filter(bad).map(({ name }) => `The header ${name || 'without a name'} is no base64.`),
  ]
}

function isBase64(text: string): boolean {
  return /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)
}

/** What changes besides the value, in words. */
export function editWords(stored: EditDraft, draft: EditDraft): string[] {
  const request = editRequest(stored, draft)
  return [
    ...(draft.file === null ? [] : [`The value becomes the file ${draft.file.name}.`]),
    ...(request.key === undefined ? [] : [`The key ${cellWords(stored.key)} becomes ${cellWords(draft.key)}.`]),
    ...(request.headers === undefined ? [] : headerWords(stored.headers, draft.headers)),
    ...(request.target_topic === undefined
      ? []
      : [
          request.target_topic === null
            ? 'It is sent to the topic that it came from.'
            : `It is sent to ${request.target_topic}.`,
        ]),
  ]
}

function headerWords(before: readonly HeaderCell[], after: readonly HeaderCell[]): string[] {
  const left = after.map(({ id }) => id)
  const removed = before.filter(({ id }) => !left.includes(id)).map(({ name }) => `The header ${name} is removed.`)
  const changed = after.flatMap((cell) => {
    const old = before.find(({ id }) => id === cell.id)
    if (old === undefined) return [`The header ${cell.name}: ${cellWords(cell)} is added.`]
    if (old.name === cell.name && sameCell(old, cell)) return []
    const name = old.name === cell.name ? cell.name : `${old.name}, now ${cell.name},`
    return [`The header ${name} ${cellWords(old)} becomes ${cellWords(cell)}.`]
  })
  const kept = before.filter(({ id }) => left.includes(id)).map(({ id }) => id)
  const moved = kept.join() !== left.filter((id) => kept.includes(id)).join()
  return [...removed, ...changed, ...(moved ? ['The headers are in another order.'] : [])]
}

function cellWords({ as, text }: Cell): string {
  if (as === 'null') return '(none)'
  return as === 'text' ? `“${text}”` : `base64 ${text}`
}
