// The filter that selects messages. Lists, bulk runs and the client use the same fields, so numbers and
// lists may be text too. The schema returns plain JSON and accepts that JSON again unchanged, so a run can
// store it and a cursor can be bound to it.

import * as v from 'valibot'
import { maxNameBytes } from '../failure/stored-failure.ts'
import { looksLikeDlqTopic } from '../failure/topic-names.ts'
import { isUuid } from '../record/message-id.ts'
import { projectPayload } from '../record/payload-projection.ts'
import { beyondStorableText, isStorableText } from '../record/text-for-postgres.ts'
import { type Status, statuses } from '../retry/message-state.ts'
import { beyondStorableTimes, isCalendarDate, isStorableTime } from './storable-time.ts'

const maxInt32 = 2_147_483_647
const maxInt64 = 2n ** 63n - 1n
const maxSearchChars = 200
const maxPayloadChars = 4096
const maxKeyChars = 2048

const base64Prefix = 'base64:'

// What stands in v.metadata says in JSON Schema what the transformation beside it takes; "anyOf" takes the place of a
// union's own.

/** Text that PostgreSQL can hold. */
function storableText(maxChars: number) {
  return v.pipe(
    v.string('must be text, given once'),
    v.minLength(1, 'must not be empty'),
    v.maxLength(maxChars, `must be at most ${maxChars} characters`),
    v.metadata({ pattern: '^[^\\u0000]*$' }),
    v.check(isStorableText, beyondStorableText),
  )
}

function wholeNumber(min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}`
  return v.pipe(
    v.union([v.pipe(v.string(), v.regex(/^\d{1,10}$/, message)), v.number()], message),
    v.metadata({ anyOf: undefined, type: 'integer', minimum: min, maximum: max }),
    v.transform(Number),
    v.integer(message),
    v.minValue(min, message),
    v.maxValue(max, message),
  )
}

/** Kafka's offsets are int64, so they stay decimal text. */
const offset = v.pipe(
  v.union(
    [
      v.pipe(v.string(), v.regex(/^\d{1,19}$/, 'must be an offset')),
      v.pipe(v.number(), v.safeInteger('must be an offset'), v.minValue(0, 'must be an offset')),
    ],
    'must be an offset',
  ),
  v.metadata({
    anyOf: [
      { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
      { type: 'string', pattern: '^[0-9]{1,19}$', description: `At most ${maxInt64}.` },
    ],
  }),
  v.transform((offset) => BigInt(offset)),
  v.check((offset) => offset <= maxInt64, 'must be an offset'),
  v.transform(String),
)

const rfc3339 = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/i

/** A moment; a date alone is its first moment in UTC. */
const moment = v.pipe(
  v.string('must be a time such as 2026-02-20T10:30:00Z'),
  v.metadata({ anyOf: ['date-time', 'date'].map((format) => ({ type: 'string', format })) }),
  // An unescaped "+" arrives as a space.
  v.transform((text) => text.replace(/ (?=\d\d:\d\d$)/, '+')),
  v.check(
    (text) => rfc3339.test(text) && isCalendarDate(text) && !Number.isNaN(Date.parse(text)),
    'must be a time such as 2026-02-20T10:30:00Z',
  ),
  v.check((text) => isStorableTime(new Date(text)), beyondStorableTimes),
  v.transform((text) => new Date(text).toISOString()),
)

const oneOrMoreStatuses = `must be one or more of ${statuses.join(', ')}`
const statusList = v.pipe(
  v.union([v.string(), v.array(v.string())], oneOrMoreStatuses),
  v.metadata({ anyOf: [{ enum: statuses }, { type: 'array', items: { enum: statuses }, minItems: 1 }] }),
  v.transform((list) =>
    [...new Set([list].flat().flatMap((item) => item.split(',').map((name) => name.trim())))].sort(),
  ),
  // One fault for the whole list, under the field's own name.
  v.check((list) => list.length > 0 && list.every(isStatus), oneOrMoreStatuses),
  v.transform((list) => list as Status[]),
)

const key = v.pipe(
  storableText(maxKeyChars),
  v.check(
    (text) => !text.startsWith(base64Prefix) || text.slice(base64Prefix.length).split(',').every(isBase64),
    'must be base64 behind "base64:"',
  ),
)

const payload = v.pipe(
  v.union([v.string(), v.looseObject({}), v.array(v.unknown())], 'must be JSON'),
  v.metadata({ anyOf: [{ type: 'string', contentMediaType: 'application/json' }, { type: ['object', 'array'] }] }),
  v.transform((value) => (typeof value === 'string' ? value : JSON.stringify(value))),
  v.maxLength(maxPayloadChars, `must be at most ${maxPayloadChars} characters`),
  v.check(
    (text) => text.isWellFormed() && projectPayload(Buffer.from(text)) !== null,
    'must be JSON that jsonb can hold',
  ),
)

const flag = v.pipe(
  v.union([v.boolean(), v.picklist(['true', 'false'])], 'must be true or false'),
  v.metadata({ anyOf: undefined, type: 'boolean' }),
  v.transform((value) => value === true || value === 'true'),
)

/** The fields, for schemas with further fields. Put `checkRanges` behind them. */
export const messageFilterEntries = {
  status: v.exactOptional(v.pipe(statusList, v.description('One or more statuses, repeated or with commas.'))),
  topic: v.exactOptional(
    v.pipe(
      storableText(255),
      v.description(
        'A topic, or a glob with * and ?. A known DLQ topic means what was read from it, any other name what came from there; a glob means DLQ topics where it has the shape of their names.',
      ),
    ),
  ),
  consumer_group: v.exactOptional(v.pipe(storableText(255), v.description('The consumer group that failed.'))),
  error_class: v.exactOptional(v.pipe(storableText(maxNameBytes), v.description('The class of the error, exactly.'))),
  group_id: v.exactOptional(
    v.pipe(
      v.string('must be the id of an error group'),
      v.metadata({ format: 'uuid' }),
      v.check(isUuid, 'must be the id of an error group'),
      v.toLowerCase(),
      v.description('The error group.'),
    ),
  ),
  partition: v.exactOptional(v.pipe(wholeNumber(0, maxInt32), v.description('The partition of the original record.'))),
  offset_from: v.exactOptional(v.pipe(offset, v.description('The first offset of the original record.'))),
  offset_to: v.exactOptional(v.pipe(offset, v.description('The last offset of the original record.'))),
  key: v.exactOptional(
    v.pipe(
      key,
      v.description(
        'The record key, exactly: text, base64 behind "base64:" (with commas, any of several), or {"json": …}, which is encoded as keys are.',
      ),
    ),
  ),
  from: v.exactOptional(v.pipe(moment, v.description('Created at this time or later.'))),
  to: v.exactOptional(v.pipe(moment, v.description('Created before this time.'))),
  arrived_from: v.exactOptional(
    v.pipe(
      moment,
      v.description('Arrived at this time or later, by the time of its record, as GET /api/v1/activity counts.'),
    ),
  ),
  arrived_to: v.exactOptional(v.pipe(moment, v.description('Arrived before this time, by the time of its record.'))),
  failed_from: v.exactOptional(v.pipe(moment, v.description('Failed last at this time or later.'))),
  failed_to: v.exactOptional(v.pipe(moment, v.description('Failed last before this time.'))),
  retry_count_min: v.exactOptional(v.pipe(wholeNumber(0, maxInt32), v.description('Attempts, at least.'))),
  retry_count_max: v.exactOptional(v.pipe(wholeNumber(0, maxInt32), v.description('Attempts, at most.'))),
  q: v.exactOptional(
    v.pipe(storableText(maxSearchChars), v.description("Text within the error's message or class, in any case.")),
  ),
  payload: v.exactOptional(
    v.pipe(payload, v.description('JSON that the payload contains, such as {"order_id":"123"}.')),
  ),
  archived: v.exactOptional(v.pipe(flag, v.description('Search the archive instead of the live messages.'))),
}

const filterObject = v.strictObject(messageFilterEntries)

export type MessageFilter = Readonly<v.InferOutput<typeof filterObject>>

const before = (from: never, to: never) => from < to

const ranges = [
  ['offset_from', 'offset_to', (from: never, to: never) => BigInt(from) <= BigInt(to), 'must be at least'],
  ['from', 'to', before, 'must come after'],
  ['arrived_from', 'arrived_to', before, 'must come after'],
  ['failed_from', 'failed_to', before, 'must come after'],
  ['retry_count_min', 'retry_count_max', (min: never, max: never) => min <= max, 'must be at least'],
] as const

type RangeField = (typeof ranges)[number][0 | 1]

/** Refuses a range that ends before it begins. A schema may have its own types for ends that `<` compares. */
export function checkRanges<Fields extends { readonly [Field in RangeField]?: unknown }>() {
  return v.rawCheck<Fields>(({ dataset, addIssue }) => {
    if (!dataset.typed) return
    const filter = dataset.value
    for (const [low, high, inOrder, words] of ranges) {
      if (
        filter[low] === undefined ||
        filter[high] === undefined ||
        inOrder(filter[low] as never, filter[high] as never)
      )
        continue
      addIssue({
        message: `${words} ${low}`,
        path: [{ type: 'object', origin: 'value', input: { ...dataset.value }, key: high, value: filter[high] }],
      })
    }
  })
}

/** A filter alone, as a run's selection has it. */
export const messageFilterSchema = v.pipe(filterObject, checkRanges())

/** The same text for the same filter, whatever the order of its fields. */
export function canonicalFilter(filter: MessageFilter): string {
  const said = Object.entries(filter).filter(([name, value]) => value !== undefined && !(name === 'archived' && !value))
  return JSON.stringify(Object.fromEntries(said.sort(([a], [b]) => (a < b ? -1 : 1))))
}

/** The keys that the filter's `key` means, normally one. */
export function keysBytes(key: string): Buffer[] {
  if (!key.startsWith(base64Prefix)) return [Buffer.from(key)]
  return key
    .slice(base64Prefix.length)
    .split(',')
    .map((base64) => Buffer.from(base64, 'base64'))
}

/** A filter's `key` for any of these. */
export function base64Keys(keys: readonly Buffer[]): string {
  return `${base64Prefix}${keys.map((key) => key.toString('base64')).join(',')}`
}

/** The text where it is {"json": …}; null where it is a key as it stands. */
export function jsonKeyOf(key: string): string | null {
  if (!/^\s*\{\s*"json"\s*:/.test(key)) return null
  try {
    return Object.keys(JSON.parse(key) as object).length === 1 ? key : null
  } catch {
    return null
  }
}

/** The column that the filter's `topic` is compared with. `isDlqTopic`: whether exactly that name is a DLQ topic. */
export function topicColumn(topic: string, isDlqTopic: boolean): 'dlq_topic' | 'original_topic' {
  const meansDlqTopics = isTopicGlob(topic) ? looksLikeDlqTopic(topic.replaceAll(/[*?]/g, 'x')) : isDlqTopic
  return meansDlqTopics ? 'dlq_topic' : 'original_topic'
}

export function isTopicGlob(topic: string): boolean {
  return /[*?]/.test(topic)
}

/** Text as SQL's LIKE takes it literally. */
export function escapeLike(text: string): string {
  return text.replaceAll(/[\\%_]/g, '\\$&')
}

/** A topic glob as SQL's LIKE has it. */
export function likePattern(glob: string): string {
  return escapeLike(glob).replaceAll('*', '%').replaceAll('?', '_')
}

function isStatus(name: string): name is Status {
  return (statuses as readonly string[]).includes(name)
}

function isBase64(text: string): boolean {
  return /^(?:[\w+/-]{4})*(?:[\w+/-]{2,3}={0,2})?$/.test(text)
}
