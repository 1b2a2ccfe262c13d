// The values that settings may have. Numbers and lists may be text too, because environment variables are.

import { isIP } from 'node:net'
import * as v from 'valibot'
import { wildcardThatIsMissing } from '../../domain/failure/topic-names.ts'
import { parseDuration } from '../../domain/retry/duration.ts'

// v.metadata repeats in JSON Schema what the transformation behind it checks.

/** Everything behind the days; together less than 50 days. */
const shortParts = '([0-9]{1,3}h)?([0-9]{1,4}m)?([0-9]{1,5}s)?([0-9]{1,6}ms)?'

function durationJson({ minimum, maxDays, text }: { minimum: number; maxDays: number; text: string }) {
  return {
    anyOf: [
      { type: 'integer', minimum, maximum: maxDays * 86_400_000 },
      { type: 'string', pattern: `^(${text})$`, minLength: 1, examples: ['90s', '5m', '1h30m'] },
    ],
  }
}

// A pattern cannot add, so the last days before the bound must be alone: "366d", but not "365d24h".
const lastDaysOfAYear = '3[0-5][0-9]d|36[0-6]d'

/** Up to 366 days; for lists of durations, which are read one by one. */
export const anyLength = durationJson({
  minimum: 0,
  maxDays: 366,
  text: `[0-9]{1,10}|([0-2]?[0-9]{1,2}d)?${shortParts}|${lastDaysOfAYear}`,
})

const upTo36500Days = durationJson({
  minimum: 0,
  maxDays: 36_500,
  text: `[0-9]{1,12}|(([0-9]{1,4}|[0-2][0-9]{4}|3[0-5][0-9]{3})d)?${shortParts}|36[0-4][0-9]{2}d|36500d`,
})

const oneSecondOrMore = durationJson({
  minimum: 1000,
  maxDays: 366,
  text: `[1-9][0-9]{3,9}|(([1-9][0-9]?|[12][0-9]{2})d)?([1-9][0-9]{0,2}h)?([1-9][0-9]{0,3}m)?([1-9][0-9]{0,4}s)?|${lastDaysOfAYear}`,
})

const zeroOrOneSecondOrMore = {
  anyOf: [...oneSecondOrMore.anyOf, { const: 0 }, { type: 'string', pattern: '^0+(d|h|m|s|ms)?$' }],
}

const durationJsons = new Set<object>()

function durationThatIs(json: { anyOf: object[] }) {
  durationJsons.add(json)
  return v.pipe(
    v.union([v.number(), v.string()], 'must be a duration such as "500ms", "5m" or "1h30m"'),
    v.metadata(json),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      const milliseconds = parseDuration(String(dataset.value))
      if (milliseconds !== null) return milliseconds
      addIssue({ message: `${JSON.stringify(dataset.value)} is not a duration such as "500ms", "5m" or "1h30m"` })
      return NEVER
    }),
  )
}

/** Whether a setting's values are durations. */
export function isDuration(schema: v.GenericSchema | undefined): boolean {
  const inner = schema as
    | { wrapped?: v.GenericSchema; pipe?: readonly v.GenericSchema[]; metadata?: object }
    | undefined
  if (inner === undefined) return false
  if (inner.metadata !== undefined) return durationJsons.has(inner.metadata)
  return isDuration(inner.wrapped) || (inner.pipe?.some((item) => item !== schema && isDuration(item)) ?? false)
}

/** "500ms", "5m", "1h30m", or a plain number of milliseconds → milliseconds. */
export const anyDuration = durationThatIs(anyLength)

/** The same, up to 36500 days. */
export const decades = durationThatIs(upTo36500Days)

/** The same. The caller must check the lower bound: a second, or a second or 0. */
export const longDuration = durationThatIs(oneSecondOrMore)
export const longDurationOrNone = durationThatIs(zeroOrOneSecondOrMore)

/** Node's timers and PostgreSQL's timeouts count milliseconds in 31 bits: one day more, and a timer would fire at once. */
const maxTimerMs = 24 * 86_400_000

/** As `anyDuration`, for durations of timers. */
export const duration = v.pipe(anyDuration, v.maxValue(maxTimerMs, 'must be at most 24d'))

/** The same, for what would fail, or keep others busy, in less. */
export const secondOrMore = v.pipe(duration, v.minValue(1000, 'must be at least 1s'))
export const tenthOrMore = v.pipe(duration, v.minValue(100, 'must be at least 100ms'))

export function integer(what: string, min: number, max: number) {
  return v.pipe(
    v.union([v.number(), v.string()], `must be ${what} (${min} to ${max})`),
    v.metadata({ type: 'integer', minimum: min, maximum: max }),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      const value =
        typeof dataset.value === 'string' && dataset.value.trim() !== '' ? Number(dataset.value) : dataset.value
      if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value
      addIssue({ message: `${JSON.stringify(dataset.value)} is not ${what} (${min} to ${max})` })
      return NEVER
    }),
  )
}

export function decimal(what: string, min: number, max: number) {
  return v.pipe(
    v.union([v.number(), v.string()], `must be ${what} (${min} to ${max})`),
    v.metadata({ type: 'number', minimum: min, maximum: max }),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      const value = Number(dataset.value)
      if (Number.isFinite(value) && value >= min && value <= max) return value
      addIssue({ message: `${JSON.stringify(dataset.value)} is not ${what} (${min} to ${max})` })
      return NEVER
    }),
  )
}

const notAShare = 'must be a share such as "5%" or 0.05'

/** "5%" or 0.05 → 0.05. */
export const share = v.pipe(
  v.union([v.number(), v.string()], notAShare),
  v.metadata({
    anyOf: [
      { type: 'number', minimum: 0, maximum: 1 },
      { type: 'string', pattern: '^([0-9]{1,3}([.][0-9]+)?%|[01]([.][0-9]+)?)$', examples: ['5%', '0.05'] },
    ],
  }),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const text = String(dataset.value)
    const isShare = typeof dataset.value === 'number' || /^(\d{1,3}(\.\d+)?%|[01](\.\d+)?)$/.test(text)
    const value = text.endsWith('%') ? Number(text.slice(0, -1)) / 100 : Number(text)
    if (isShare && value >= 0 && value <= 1) return value
    addIssue({ message: notAShare })
    return NEVER
  }),
)

export const boolean = v.pipe(
  v.union([v.boolean(), v.picklist(['true', 'false'])], 'must be true or false'),
  v.transform((value) => value === true || value === 'true'),
)

export const text = v.pipe(v.string('must be text'), v.minLength(1, 'must not be empty'))

/** `dlq` is a glob; `original` may use the text of its `*` as $1, $2 … */
export const topicMapping = v.pipe(
  v.strictObject({ dlq: text, original: text }),
  v.forward(
    v.check(
      (mapping) => wildcardThatIsMissing(mapping) === null,
      ({ input }) => `uses ${wildcardThatIsMissing(input)}, and dlq has no * for it`,
    ),
    ['original'],
  ),
)

/** Whether several hosts stand before the path. Of "user:pa/ss@host" what stands behind the slash is not looked at. */
function namesSeveralHosts(url: string): boolean {
  const place = /^[^/]*:\/\/([^/?#]*)/.exec(url)?.[1] ?? ''
  return place.split('@').at(-1)!.includes(',')
}

/** Characters of a password that end it, where they stand as they are. */
function isReadable(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { hash, pathname, search, username, password } = new URL(url)
  try {
    decodeURIComponent(username + password)
  } catch {
    return false
  }
  return hash === '' && !(pathname + search).includes('@')
}

export const databaseUrl = v.pipe(
  text,
  v.regex(/^postgres(ql)?:\/\//, 'must start with postgres://'),
  v.check(
    (url) => !namesSeveralHosts(url),
    'must name one host: one whose address follows the primary, such as a service or a proxy',
  ),
  v.check(
    (url) => namesSeveralHosts(url) || isReadable(url),
    'cannot be read: write %25, %2F, %23 and %3F for %, /, # and ? in a user and a password, or set them apart, as user and password',
  ),
)

/** A list, or text with commas. */
export const textList = v.pipe(
  v.union(
    [
      v.pipe(
        v.string(),
        v.transform((list) => list.split(',').map((item) => item.trim())),
      ),
      v.array(text),
    ],
    'must be a list of texts',
  ),
  v.array(v.pipe(v.string(), v.minLength(1, 'must not hold an empty entry'))),
  v.minLength(1, 'must not be empty'),
)

/** The least and the greatest number of minute, hour, day, month and weekday; 7 is Sunday, too. */
const cronFields = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 7],
] as const

/** As graphile-worker reads it, which ends the retrier where a field is out of its bounds. */
function isCronPattern(pattern: string): boolean {
  const fields = pattern.split(/ +/)
  return cronFields.every((bounds, i) => fields[i]?.split(',').every((part) => isCronPart(part, bounds)))
}

/** A number, a range, "*", or every n-th after the first. */
function isCronPart(part: string, [min, max]: (typeof cronFields)[number]): boolean {
  const every = /^\*(?:\/(\d+))?$/.exec(part)
  if (every !== null) return Number(every[1] ?? 1) > 0
  const [, from, to] = /^(\d+)(?:-(\d+))?$/.exec(part) ?? []
  if (from === undefined) return false
  return Number(from) >= min && Number(to ?? from) <= max && (to === undefined || Number(from) < Number(to))
}

const scheduleForm = 'must be a cron pattern such as "0 3 * * *" (UTC: minute, hour, day, month, weekday), or "off"'

export const schedule = v.pipe(
  text,
  v.regex(/^(off|([\d*,/-]+ +){4}[\d*,/-]+)$/, scheduleForm),
  v.check((value) => value === 'off' || isCronPattern(value), scheduleForm),
)

/** An address in another tool. `{…}` stands for what the console fills in. */
export function linkTemplate(names: readonly string[]) {
  return v.pipe(
    text,
    v.regex(/^https?:\/\//, 'must start with https:// or http://'),
    v.check(
      (template) => [...template.matchAll(/\{(\w+)\}/g)].every(([, name]) => names.includes(name!)),
      `may have no other names in braces than ${names.map((name) => `{${name}}`).join(', ')}`,
    ),
  )
}

export const hostNames = v.pipe(
  textList,
  v.everyItem((name) => /^([\w.-]+|\[[\da-f:.]+\])$/i.test(name), 'must be names of hosts, without ports'),
)

export const origins = v.pipe(
  textList,
  v.everyItem(
    (origin) => URL.canParse(origin) && new URL(origin).origin === origin,
    'must be origins as browsers send them, such as https://portal.example.com: in lower case, without a path',
  ),
)

export const networks = v.pipe(
  textList,
  v.everyItem(isNetwork, 'must be addresses or networks, such as 10.0.0.5 or 10.0.0.0/8'),
)

function isNetwork(name: string): boolean {
  const [address = '', bits, ...more] = name.split('/')
  const family = isIP(address)
  if (family === 0 || more.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128))
}
