// Schemas for parameters and fields that several resources share.

import { beyondStorableTimes, isCalendarDate, isStorableTime } from 'dlq-core/domain/message/storable-time.ts'
import { isUuid } from 'dlq-core/domain/record/message-id.ts'
import { beyondStorableText, isStorableText, textForPostgres } from 'dlq-core/domain/record/text-for-postgres.ts'
import * as v from 'valibot'

/** A list in a query: repeated, or with commas. */
export function listOf<const Name extends string>(names: readonly Name[]) {
  const message = `must be one or more of ${names.join(', ')}`
  return v.pipe(
    v.union([v.string(), v.array(v.string())], message),
    v.metadata({ anyOf: [{ enum: names }, { type: 'array', items: { enum: names }, minItems: 1 }] }),
    v.transform((list) => [...new Set([list].flat().flatMap((item) => item.split(',')))].sort()),
    v.check((list) => list.every((name) => (names as readonly string[]).includes(name)), message),
    v.transform((list) => list as Name[]),
  )
}

/** A whole number in a query, as a number. */
export function wholeNumber(name: string, { min, max }: { min: number; max: number }) {
  const message = `${name} must be a whole number from ${min} to ${max}`
  return v.pipe(
    v.string(`${name} must be given once`),
    v.metadata({ type: 'integer', minimum: min, maximum: max }),
    v.rawTransform<string, number>(({ dataset, addIssue, NEVER }) => {
      const value = /^\d{1,15}$/.test(dataset.value) ? Number(dataset.value) : Number.NaN
      if (value >= min && value <= max) return value
      addIssue({ message })
      return NEVER
    }),
  )
}

/** ?page=1&page_size=20 */
export const pageQuery = v.strictObject({
  page: v.optional(wholeNumber('page', { min: 1, max: 1_000_000 }), '1'),
  page_size: v.optional(wholeNumber('page_size', { min: 1, max: 1000 }), '20'),
})

/** A whole number in a path. `what` names it in errors. */
export function wholeNumberInPath(what: string) {
  return v.pipe(
    v.string(),
    v.metadata({ type: 'integer', minimum: 1, maximum: 999_999_999 }),
    v.check(
      (text) => /^[1-9]\d{0,8}$/.test(text),
      (issue) => `invalid ${what} number: ${issue.input}`,
    ),
    v.transform(Number),
  )
}

const between1And1000 = 'must be a whole number from 1 to 1000'

/** Attempts before a message is DEAD. */
export const maxRetries = v.pipe(
  v.number(between1And1000),
  v.integer(between1And1000),
  v.minValue(1, between1And1000),
  v.maxValue(1000, between1And1000),
)

/** A UUID in a path. `what` names it in errors. */
export function idOf(what: string) {
  return v.pipe(
    v.string(),
    v.metadata({ format: 'uuid' }),
    v.check(isUuid, (issue) => `invalid ${what} id: ${issue.input}`),
    v.toLowerCase(),
  )
}

export const messagePath = v.object({ id: idOf('message') })

const maxTopicLength = 255

/** A topic's name in a path. Kafka need not allow the name, because rows that SQL wrote may have any. */
export const topicPath = v.object({
  topic: v.pipe(
    v.string(),
    v.maxLength(maxTopicLength, `invalid topic name: it must be at most ${maxTopicLength} characters`),
    v.metadata({ pattern: '^[^\\u0000-\\u001f]*$' }),
    v.check(
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
      (topic) => !/[\u0000-\u001f]/.test(topic) && topic.isWellFormed(),
      'invalid topic name: it must not hold control characters',
    ),
  ),
})

/** A legal name of a Kafka topic. */
export const topicName = v.pipe(
  v.string('must be text'),
  v.regex(/^[A-Za-z0-9._-]{1,249}$/, 'must be a topic name: letters, digits, ".", "_" and "-", at most 249'),
  v.check((name) => name !== '.' && name !== '..', 'must be a topic name'),
)

/** A Kafka cluster, by its id. */
export const clusterId = v.pipe(
  v.string('must be text'),
  v.minLength(1, 'must not be empty'),
  v.maxLength(255, 'must be at most 255 characters'),
  v.metadata({ pattern: '^[^\\u0000]*$' }),
  v.check(isStorableText, beyondStorableText),
)

/** The reason for a change, for the audit. */
export const reason = v.optional(
  v.pipe(
    v.string('must be text'),
    v.maxLength(1000, 'must be at most 1000 characters'),
    v.transform((text) => textForPostgres(text, 4000)),
  ),
)

const rfc3339 = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/

/** A time in the format of RFC 3339. */
export const instant = v.pipe(
  v.string('must be text'),
  v.metadata({ format: 'date-time' }),
  v.rawTransform<string, Date>(({ dataset, addIssue, NEVER }) => {
    const time =
      rfc3339.test(dataset.value) && isCalendarDate(dataset.value) ? new Date(dataset.value.toUpperCase()) : null
    const isTime = time !== null && !Number.isNaN(time.getTime())
    if (isTime && isStorableTime(time)) return time
    addIssue({ message: isTime ? beyondStorableTimes : 'must be a time such as 2026-02-20T10:30:00Z' })
    return NEVER
  }),
)

/** Prefer: wait=N (RFC 7240), which `waitMsOf` reads. Other preferences are ignored, as the RFC demands. */
export const preferHeader = {
  prefer: v.optional(v.pipe(v.string(), v.description('`wait=N`: answer after N seconds at the latest (RFC 7240)'))),
}

export const ifMatchHeader = {
  'if-match': v.optional(
    v.pipe(v.string(), v.description('The ETag that it was read with, or `*`: 412 where it has changed since')),
  ),
}

/** The time to wait in milliseconds, at most `maxMs`. */
export function waitMsOf(prefer: string | undefined, maxMs: number): number {
  const seconds = /(?:^|[,;\s])wait\s*=\s*"?(\d{1,6})"?/i.exec(prefer ?? '')?.[1]
  return seconds === undefined ? maxMs : Math.min(Number(seconds) * 1000, maxMs)
}
