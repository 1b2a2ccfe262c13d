// Bytes of a record in JSON: as text, as base64, or as the JSON value that they are.

import { isUtf8 } from 'node:buffer'
import { readHeaders } from 'dlq-core/domain/record/header-json.ts'
import { projectPayload } from 'dlq-core/domain/record/payload-projection.ts'
import type { Header } from 'dlq-core/domain/record/record.ts'
import * as v from 'valibot'

const form = 'must be null, {"text": …}, {"base64": …} or {"json": …}'

/** Text that UTF-8 can encode. */
export function wellFormed(maxLength: number) {
  return v.pipe(
    v.string('must be text'),
    v.maxLength(maxLength, `must be at most ${maxLength} characters`),
    v.check((text) => text.isWellFormed(), 'must not hold half of a surrogate pair'),
  )
}

const maxContentLength = 4 * 1024 * 1024

export const base64 = v.pipe(
  v.string('must be text'),
  v.metadata({
    contentEncoding: 'base64',
    pattern: '^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$',
  }),
  v.check(isBase64, 'must be base64, padded'),
)

/** A pattern without groups: V8 recurses for each repetition of a group, and this text may have megabytes. */
function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)
}

const textForm = v.strictObject({ text: wellFormed(maxContentLength) }, form)
const base64Form = v.strictObject({ base64 }, form)
const jsonForm = v.strictObject({ json: v.unknown() }, form)

/** A key or a value in a request. */
export const contentInput = v.nullable(v.union([textForm, base64Form, jsonForm], form))
export type ContentInput = v.InferOutput<typeof contentInput>

const editForm = 'must be null, {"text": …}, {"base64": …}, {"json": …} or {"decoded": …}'
const decodedForm = v.strictObject(
  { decoded: v.pipe(v.unknown(), v.description('The value as it is shown decoded; it is written with its schema.')) },
  editForm,
)

/** A key or a value in an edit. */
export const editInput = v.nullable(v.union([textForm, base64Form, jsonForm, decodedForm], editForm))
export type EditInput = v.InferOutput<typeof editInput>

/** Whether an edit gives the decoded form of a key or value. */
export function isDecoded(content: EditInput | undefined): content is { decoded: unknown } {
  return content !== undefined && content !== null && 'decoded' in content
}

/** The bytes of that key or value. `exactJson` is the exact text of the field "json". */
export function bytesOf(content: ContentInput, exactJson: () => string): Buffer | null {
  if (content === null) return null
  if ('text' in content) return Buffer.from(content.text)
  if ('base64' in content) return Buffer.from(content.base64, 'base64')
  return Buffer.from(exactJson())
}

/** A key or a value in an answer. */
export const contentSchema = v.nullable(
  v.union([
    v.strictObject({ text: v.string() }),
    v.strictObject({ base64: v.string() }),
    v.strictObject({ json: v.unknown() }),
  ]),
)

/** JSON text for bytes: as JSON if they are JSON, else as text if they are UTF-8, else as base64. */
export function contentJson(bytes: Buffer | null): string {
  if (bytes === null) return 'null'
  const json = projectPayload(bytes)
  if (json !== null) return `{"json":${json}}`
  return JSON.stringify(isUtf8(bytes) ? { text: bytes.toString('utf8') } : { base64: bytes.toString('base64') })
}

/** Headers in a request, in order. Names may repeat. */
export const headersInput = v.pipe(
  v.array(
    v.strictObject({
      name: wellFormed(1000),
      value: v.nullable(v.union([textForm, base64Form], 'must be null, {"text": …} or {"base64": …}')),
    }),
    'must be a list of { name, value }',
  ),
  v.maxLength(1000, 'must be at most 1000 headers'),
)

export function headersOf(headers: v.InferOutput<typeof headersInput>): Header[] {
  return headers.map(({ name, value }): Header => [name, bytesOf(value, () => '')])
}

export const headersSchema = v.nullable(
  v.array(
    v.strictObject({
      name: v.string(),
      value: v.nullable(v.union([v.strictObject({ text: v.string() }), v.strictObject({ base64: v.string() })])),
    }),
  ),
)

/** Stored headers in the form of an answer; null where there are none, or they cannot be read. */
export function shownHeaders(
  stored: string | null,
  columns: Record<string, string | null> = {},
): v.InferOutput<typeof headersSchema> {
  const headers = stored && readHeaders(stored, columns)
  if (!headers) return null
  return headers.map(([name, value]) => ({
    name,
    value:
      value === null ? null : isUtf8(value) ? { text: value.toString('utf8') } : { base64: value.toString('base64') },
  }))
}
