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
  const own: string[] = []
  const run = headers.slice(start, end)
  const template = JSON.stringify(run.map(([name, value]) => [name, templateValue(name, value, { columns, own })]))
  if (template.length < minTemplateChars || template.length > maxTemplateChars) return null
  return { template, stored: JSON.stringify([...headers.slice(0, start), { framed: own }, ...headers.slice(end)]) }
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
  if (value.length <= maxNameChars && namesSomething.test(name)) return value
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
