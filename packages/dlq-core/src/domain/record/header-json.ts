// How `record_headers json` stores a record's headers: an array of [name, value] pairs in
// wire order, since names repeat and order counts. `json` and not `jsonb`, because it keeps
// its text, accepts any name, and costs less to store.
import assert from 'node:assert'
import { isUtf8 } from 'node:buffer'
import type { Header } from './record.ts'

/** One stored value: text if it is UTF-8 without NUL, otherwise where to find the bytes. */
export type StoredHeaderValue = string | null | { base64: string } | { column: string }
export type StoredHeader = readonly [name: string, value: StoredHeaderValue]
/** Stands for a run of failure headers that is stored elsewhere (framed-headers.ts), with the values that are the row's own. */
type FramedRun = { readonly framed: readonly string[] }

/** A shorter value is stored in place: a reference would hardly be shorter. */
const minReferredBytes = 64

/**
 * Returns the stored form of headers: `["name","text"]` for a value that is UTF-8 without
 * NUL, `["name",{"base64":"…"}]` for any other bytes, `["name",null]` for a null value,
 * and `["name",{"column":"error_stacktrace"}]` for a value of at least 64 bytes that
 * `inColumns` (column name → the exact text stored there) holds in full.
 */
export function encodeHeaders(headers: readonly Header[], inColumns?: ReadonlyMap<string, string>): string {
  // One JSON.stringify of everything takes half the time of joining it piece by piece.
  return JSON.stringify(storedHeaders(headers, inColumns))
}

/**
 * What `encodeHeaders` writes.
 *
 * @param mayRefer whether a header of this name may refer to a column
 * @param known a value that is known to be the text of this column
 */
export function storedHeaders(
  headers: readonly Header[],
  inColumns?: ReadonlyMap<string, string>,
  mayRefer: (name: string) => boolean = () => true,
  known: { value: Buffer; column: string } | null = null,
): StoredHeader[] {
  return headers.map((header) => {
    const before = sharedForms.get(header)
    if (before !== undefined) return before
    const [name, value] = header
    if (known !== null && value === known.value && mayRefer(name)) return [name, { column: known.column }]
    const stored = [name, storedValue(name, value, { inColumns, mayRefer })] as const
    // A longer value may stand in a column of one row only.
    if (header.repeats && (value?.length ?? 0) < minReferredBytes) sharedForms.set(header, stored)
    return stored
  })
}

/** JSON text, or what writes it where somebody needs it. */
export type JsonText = string | (() => string)

export function writtenText(json: JsonText): string {
  return typeof json === 'function' ? json() : json
}

/** Of pairs that many records share. */
const sharedForms = new WeakMap<Header, StoredHeader>()

function storedValue(
  name: string,
  value: Buffer | null,
  { inColumns, mayRefer }: { inColumns: ReadonlyMap<string, string> | undefined; mayRefer: (name: string) => boolean },
): StoredHeaderValue {
  if (value === null) return null
  // Names are looked at last: there are many, and few of their values are long.
  if (inColumns !== undefined && value.length >= minReferredBytes && mayRefer(name)) {
    for (const [column, stored] of inColumns) if (isTextOf(value, stored)) return { column }
  }
  if (!isUtf8(value)) return { base64: value.toString('base64') }
  const text = value.toString('utf8')
  return text.includes('\0') ? { base64: value.toString('base64') } : text
}

/** Stack traces have a few KB: written here and compared, they leave no garbage, as decoding them once more would. */
const scratch = Buffer.allocUnsafeSlow(64 * 1024)

/** Whether the bytes are the text in UTF-8. A text with a lone surrogate is in no column. */
function isTextOf(value: Buffer, text: string): boolean {
  if (value.length < text.length || value.length > 3 * text.length) return false
  if (value.length >= scratch.length) return isUtf8(value) && value.toString('utf8') === text
  // One byte more than the value has, so that a longer text does not look like its beginning.
  const written = scratch.write(text, 0, value.length + 1)
  return written === value.length && scratch.compare(value, 0, value.length, 0, written) === 0
}

/**
 * Returns the headers that `encodeHeaders` was given, byte for byte. `columns` holds the
 * text of every column that it referred to. Throws an AssertionError where the JSON is
 * not of that form, or refers to a column that is absent or null, or to headers that are stored elsewhere:
 * dlq.record_headers(m) returns them whole.
 */
export function decodeHeaders(json: string, columns: Readonly<Record<string, string | null>> = {}): Header[] {
  return parsePairs(json).map((header) => {
    assert(!isFramed(header), 'headers that are stored elsewhere are read by dlq.record_headers')
    return decodeHeader(header, columns)
  })
}

/** As `decodeHeaders`; null where that would throw: people may have written the column by SQL. */
export function readHeaders(json: string, columns: Readonly<Record<string, string | null>> = {}): Header[] | null {
  const isDecodable = (header: StoredHeader | FramedRun): header is StoredHeader =>
    !isFramed(header) && (!isReference(header[1]) || typeof columns[header[1].column] === 'string')
  const headers = pairsOf(json)
  return headers?.every(isDecodable) ? headers.map((header) => decodeHeader(header, columns)) : null
}

/**
 * The stored headers, for callers that decode only some. Failure headers that are stored elsewhere are left out. Throws an
 * AssertionError where the JSON is not of that form.
 */
export function parseHeaders(json: string): StoredHeader[] {
  return parsePairs(json).filter((header): header is StoredHeader => !isFramed(header))
}

/** As `parseHeaders`; null where that would throw. */
export function readStoredHeaders(json: string): StoredHeader[] | null {
  return pairsOf(json)?.filter((header): header is StoredHeader => !isFramed(header)) ?? null
}

function parsePairs(json: string): (StoredHeader | FramedRun)[] {
  const pairs = pairsOf(json)
  assert(pairs !== null, 'stored headers are an array of pairs of name and value')
  return pairs
}

function pairsOf(json: string): (StoredHeader | FramedRun)[] | null {
  const pairs: unknown = JSON.parse(json)
  return Array.isArray(pairs) && pairs.every((pair) => isFramed(pair) || isStoredHeader(pair)) ? pairs : null
}

function isFramed(header: unknown): header is FramedRun {
  return typeof header === 'object' && header !== null && 'framed' in header
}

function isStoredHeader(pair: unknown): pair is StoredHeader {
  if (!Array.isArray(pair) || pair.length !== 2 || typeof pair[0] !== 'string') return false
  const value: Partial<Record<'base64' | 'column', unknown>> | string | null = pair[1]
  if (value === null || typeof value === 'string') return true
  return typeof value.base64 === 'string' || typeof value.column === 'string'
}

/** Whether a column holds the value. */
export function isReference(value: StoredHeaderValue): value is { column: string } {
  return typeof value === 'object' && value !== null && 'column' in value
}

/** Decodes one header of `parseHeaders`. Throws as `decodeHeaders` does. */
export function decodeHeader(
  [name, value]: StoredHeader,
  columns: Readonly<Record<string, string | null>> = {},
): Header {
  return [name, originalValue(value, columns)]
}

function originalValue(value: StoredHeaderValue, columns: Readonly<Record<string, string | null>>): Buffer | null {
  if (value === null) return null
  if (typeof value === 'string') return Buffer.from(value, 'utf8')
  if (!isReference(value)) return Buffer.from(value.base64, 'base64')
  const text = columns[value.column]
  assert(typeof text === 'string', `stored headers refer to column ${value.column}, which was not given or is null`)
  return Buffer.from(text, 'utf8')
}
