// Takes a dead letter's headers apart: what a framework writes again and again where a consumer fails (the names of
// headers, classes, topics and groups), and the values of this one failure. The former are stored once, beside the frames
// of its stack trace (dlq_stack_frames), and the row keeps the latter. dlq.whole_headers puts them together again
// (infra/docs/decisions/070-headers-stored-once.md).

import type { StoredHeader, StoredHeaderValue } from '../record/header-json.ts'
import { plainErrorHeader } from './families/plain-error.ts'
import { isFailureHeader } from './strip-failure-headers.ts'

export type FramedHeaders = {
  /** JSON text: the run of failure headers, with holes for the values that are a row's own. The same text for many rows. */
  template: string
  /** JSON text of `record_headers`: the other headers as they are, and `{"framed": […]}` with the own values in place of the run. */
  stored: string
}

/**
 * A value of the template: one that is the same for all rows, a hole for the next own value, or what a column of the row
 * holds: a text, perhaps behind another one, or a number, in decimal digits or as the big-endian bytes of that type.
 */
type TemplateValue =
  | StoredHeaderValue
  | { own: 'text' | 'base64' }
  | { column: 'error_message'; before?: string }
  | { column: 'original_partition' | 'original_offset'; as: 'text' | 'int4' | 'int8' }

/** Columns of the row, which the template may refer to. */
export type FramedColumns = {
  error_message: string
  original_partition: number | null
  original_offset: bigint | null
}

/** A shorter template is not worth a reference. */
const minTemplateChars = 256
const maxTemplateChars = 8 * 1024

/** Failure headers that hold names. A topic has few of them, and no name tells anything about a record. */
const namesSomething =
  /(?:fqcn|class|class-name|class\.name|topic|group|connector\.name|task\.id|stage|timestamp-type)$/
/** A longer one is no name. */
const maxNameChars = 512

/** What Spring writes before the message of what failed: it names the listener's method, and nothing of the record. */
const springWrapper = /^Listener (?:method '[^']{0,2000}' threw exception|failed); $/

/** Takes apart the longest run of failure headers among `headers`, which are whole. Null where that would save little. */
export function frameHeaders(headers: readonly StoredHeader[], columns: FramedColumns): FramedHeaders | null {
  // Whether a header `error` is a failure's depends on all others (strip-failure-headers.ts).
  if (headers.some(([name]) => name === plainErrorHeader)) return null
  const { start, end } = longestRun(headers)
  const run = headers.slice(start, end)
  const { template, own } = known.find(run, columns) ?? known.add(run, columns)
  if (!template.isUsable) return null
  const stored = JSON.stringify([...headers.slice(0, start), { framed: own }, ...headers.slice(end)])
  return { template: template.text, stored }
}

/** Of a run of headers: its text, what each of its values is, and whether rows may refer to it. */
type Template = {
  text: string
  values: readonly TemplateValue[]
  names: readonly string[]
  isUsable: boolean
}
type Fit = { template: Template; own: readonly string[] }

/** Plain bounds: forgetting all of it now and then costs writing some templates once more. */
const maxKnownChars = 1024 * 1024
const maxAlike = 16

const known = createKnownTemplates()

/** Templates that were written before: comparing a run with one takes less than writing it, and all its rows share one text. */
function createKnownTemplates() {
  /** By the last name among the values, which most often is that of the innermost error. */
  const byName = new Map<string, Template[]>()
  let chars = 0
  return {
    find(run: readonly StoredHeader[], columns: FramedColumns): Fit | null {
      for (const template of byName.get(lastName(run)) ?? []) {
        const own = ownValues(run, template, columns)
        if (own !== null) return { template, own }
      }
      return null
    },
    add(run: readonly StoredHeader[], columns: FramedColumns): Fit {
      const own: string[] = []
      const values = run.map(([name, value]) => templateValue(name, value, { columns, own }))
      const names = run.map(([name]) => name)
      const text = JSON.stringify(names.map((name, at) => [name, values[at]]))
      const isUsable = text.length >= minTemplateChars && text.length <= maxTemplateChars && !names.some(hasNul)
      const template = { text, values, names, isUsable }
      if (text.length > maxTemplateChars) return { template, own }
      chars += text.length
      if (chars > maxKnownChars) {
        byName.clear()
        chars = text.length
      }
      const name = lastName(run)
      byName.set(name, [template, ...(byName.get(name) ?? [])].slice(0, maxAlike))
      return { template, own }
    },
  }
}

/** PostgreSQL cannot take JSON apart that holds a NUL, and so could not put the headers together again. */
function hasNul(name: string): boolean {
  return name.includes('\0')
}

function lastName(run: readonly StoredHeader[]): string {
  for (let at = run.length - 1; at >= 0; at--) {
    const [name, value] = run[at]!
    if (typeof value === 'string' && isName(name, value)) return value
  }
  return ''
}

/** The values of the run that its template, which is to be this one, leaves to a row. Null where it is another one. */
function ownValues(
  run: readonly StoredHeader[],
  { names, values }: Template,
  columns: FramedColumns,
): readonly string[] | null {
  if (run.length !== names.length) return null
  const own: string[] = []
  for (let at = 0; at < run.length; at++) {
    const [name, value] = run[at]!
    const wanted = values[at]!
    if (name !== names[at]) return null
    if (wanted === null || typeof wanted === 'string') {
      if (value !== wanted) return null
    } else if (!isSame(templateValue(name, value, { columns, own }), wanted)) return null
  }
  return own
}

/** Of failure headers: where it begins, and where it is over. */
function longestRun(headers: readonly StoredHeader[]): { start: number; end: number } {
  let longest = { start: 0, end: 0 }
  for (let start = 0, at = 0; at < headers.length; at++) {
    if (!isFailureHeader(headers[at]![0])) start = at + 1
    else if (at + 1 - start > longest.end - longest.start) longest = { start, end: at + 1 }
  }
  return longest
}

/** Adds the value to `own` where it is the row's own. */
function templateValue(
  name: string,
  value: StoredHeaderValue,
  { columns, own }: { columns: FramedColumns; own: string[] },
): TemplateValue {
  if (value === null) return null
  if (typeof value === 'object') {
    if ('column' in value) return value
    const number = numberColumn(name, value.base64, columns)
    if (number !== null) return number
    own.push(value.base64)
    return { own: 'base64' }
  }
  if (isName(name, value)) return value
  const { error_message: message } = columns
  if (message !== '' && value.endsWith(message)) {
    const before = value.slice(0, value.length - message.length)
    if (before === '') return { column: 'error_message' }
    if (springWrapper.test(before)) return { column: 'error_message', before }
  }
  const number = numberColumn(name, value, columns)
  if (number !== null) return number
  own.push(value)
  return { own: 'text' }
}

/** Whether the value is the name of something, and so the same for many rows. */
function isName(name: string, value: string): boolean {
  return value.length <= maxNameChars && namesSomething.test(name)
}

function isSame(a: TemplateValue, b: TemplateValue): boolean {
  if (a === null || b === null || typeof a === 'string' || typeof b === 'string') return a === b
  const [one, other]: Record<string, unknown>[] = [a, b]
  return (
    one!.own === other!.own && one!.column === other!.column && one!.as === other!.as && one!.before === other!.before
  )
}

/** Null where the column does not hold the value. */
function numberColumn(
  name: string,
  value: string,
  { original_partition: partition, original_offset: offset }: FramedColumns,
): TemplateValue | null {
  if (partition !== null && name.endsWith('partition')) {
    if (value === String(partition)) return { column: 'original_partition', as: 'text' }
    if (value === base64Of(BigInt(partition), 4)) return { column: 'original_partition', as: 'int4' }
  } else if (offset !== null && name.endsWith('offset')) {
    if (value === String(offset)) return { column: 'original_offset', as: 'text' }
    if (value === base64Of(offset, 8)) return { column: 'original_offset', as: 'int8' }
  }
  return null
}

const scratch = Buffer.alloc(8)

/** The number's big-endian bytes. */
function base64Of(number: bigint, bytes: 4 | 8): string {
  scratch.writeBigInt64BE(number)
  return scratch.toString('base64', 8 - bytes)
}
