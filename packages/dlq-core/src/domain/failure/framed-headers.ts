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
 * A value of the template: one that is the same for all rows, a hole for the next own value, or the text of a column of
 * the row, perhaps behind another text.
 */
type TemplateValue = StoredHeaderValue | { own: 'text' | 'base64' } | { column: 'error_message'; before?: string }

/** A shorter template is not worth a reference. */
const minTemplateChars = 256
const maxTemplateChars = 8 * 1024

/** Failure headers whose values are names, of which a topic has few. No name tells anything about a record. */
const namesSomething = /(?:fqcn|class|class-name|class\.name|topic|group|connector\.name|task\.id|stage|timestamp-type)$/
/** A longer one is no name. */
const maxNameChars = 512

/** What Spring writes before the message of what failed: it names the listener's method, and nothing of the record. */
const springWrapper = /^Listener (?:method '[^']{0,2000}' threw exception|failed); $/

/**
 * Takes apart the first run of failure headers among `headers`, which are whole. Null where that would save little.
 *
 * @param errorMessage the row's `error_message`, which the template may refer to
 */
export function frameHeaders(headers: readonly StoredHeader[], errorMessage: string): FramedHeaders | null {
  const start = headers.findIndex(([name]) => isFailureHeader(name))
  // Whether a header `error` is a failure's depends on all others (strip-failure-headers.ts).
  if (start === -1 || headers.some(([name]) => name === plainErrorHeader)) return null
  let end = start + 1
  while (end < headers.length && isFailureHeader(headers[end]![0])) end++
  const own: string[] = []
  const run = headers.slice(start, end)
  const template = JSON.stringify(run.map(([name, value]) => [name, templateValue(name, value, { errorMessage, own })]))
  if (template.length < minTemplateChars || template.length > maxTemplateChars) return null
  return { template, stored: JSON.stringify([...headers.slice(0, start), { framed: own }, ...headers.slice(end)]) }
}

/** Adds the value to `own` where it is the row's own. */
function templateValue(
  name: string,
  value: StoredHeaderValue,
  { errorMessage, own }: { errorMessage: string; own: string[] },
): TemplateValue {
  if (value === null) return null
  if (typeof value === 'object') {
    if ('column' in value) return value
    own.push(value.base64)
    return { own: 'base64' }
  }
  if (value.length <= maxNameChars && namesSomething.test(name)) return value
  if (errorMessage !== '' && value.endsWith(errorMessage)) {
    const before = value.slice(0, value.length - errorMessage.length)
    if (before === '') return { column: 'error_message' }
    if (springWrapper.test(before)) return { column: 'error_message', before }
  }
  own.push(value)
  return { own: 'text' }
}
