// What may stand in a request. Faults come back one per field, each with its remedy.

import { isUuid } from 'dlq-core/message-id.ts'
import * as v from 'valibot'
import { ApiError } from './api-error.ts'

const maxPageSize = 1000
const maxTopicLength = 255

function wholeNumber(name: string, max: number) {
  return v.pipe(
    v.string(`${name} must be given once`),
    v.regex(/^\d{1,9}$/, `${name} must be a whole number from 1 to ${max}`),
    v.transform(Number),
    v.minValue(1, `${name} must be a whole number from 1 to ${max}`),
    v.maxValue(max, `${name} must be a whole number from 1 to ${max}`),
  )
}

/** ?page=1&page_size=20 */
export const pageQuery = v.strictObject({
  page: v.optional(wholeNumber('page', 1_000_000), '1'),
  page_size: v.optional(wholeNumber('page_size', maxPageSize), '20'),
})

export const noQuery = v.strictObject({})

/** The query as the schema says. @throws {ApiError} 400, one detail per faulty parameter */
export function parseQuery<Schema extends v.GenericSchema>(
  schema: Schema,
  query: Record<string, string[]>,
): v.InferOutput<Schema> {
  const single = Object.fromEntries(
    Object.entries(query).map(([name, values]) => [name, values.length === 1 ? values[0] : values]),
  )
  const parsed = v.safeParse(schema, single)
  if (parsed.success) return parsed.output
  const details = parsed.issues.map((issue) => {
    const field = v.getDotPath(issue) ?? ''
    return { field, message: issue.type === 'strict_object' ? `unknown query parameter: ${field}` : issue.message }
  })
  throw new ApiError('SYS_DLQ_VALIDATION_ERROR', details.map(({ message }) => message).join('; '), details)
}

/** @throws {ApiError} 400 where it is no UUID */
export function parseMessageId(id: string): string {
  if (isUuid(id)) return id.toLowerCase()
  // Without details: the specification's example.
  throw new ApiError('SYS_DLQ_VALIDATION_ERROR', `invalid message id: ${id}`)
}

/** @throws {ApiError} 400 where no topic could have that name */
export function parseTopic(topic: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (topic.length <= maxTopicLength && !/[\u0000-\u001f]/.test(topic) && topic.isWellFormed()) return topic
  throw new ApiError('SYS_DLQ_VALIDATION_ERROR', 'invalid topic name', [
    { field: 'topic', message: `must be at most ${maxTopicLength} characters, none of them a control character` },
  ])
}

/** Prefer: wait=N (RFC 7240), in milliseconds; never longer than `maxMs`. */
export function parseWait(prefer: string | undefined, maxMs: number): number {
  const seconds = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,6})"?/i.exec(prefer ?? '')?.[1]
  return seconds === undefined ? maxMs : Math.min(Number(seconds) * 1000, maxMs)
}
