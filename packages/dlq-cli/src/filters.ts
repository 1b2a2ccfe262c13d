// The API's filters as options: `consumer_group` is --consumer-group.
import { type Command, InvalidArgumentError } from 'commander'
import type { paths } from 'dlq-client/api-types.ts'
import { CliError, exitCodes } from './exit-codes.ts'
import { durationMs } from './output/words.ts'

type Query = NonNullable<paths['/api/v1/messages']['get']['parameters']['query']>
export type Filter = Omit<Query, 'status' | 'cursor' | 'limit' | 'sort'> & {
  status?: ('PENDING' | 'RETRYING' | 'RESOLVED' | 'DEAD')[]
}

/** In ms since 1970. */
type Clock = () => Promise<number>

const statuses = ['PENDING', 'RETRYING', 'RESOLVED', 'DEAD'] as const

/** Name in the API, argument, text. */
const filters: readonly (readonly [keyof Filter, string, string])[] = [
  ['topic', '<name>', 'a topic, or a glob such as orders.*'],
  ['consumer_group', '<name>', 'the consumer group that failed'],
  ['error_class', '<name>', 'the class of the error, exactly'],
  ['group_id', '<id>', 'the error group'],
  ['key', '<key>', 'the key: text, base64:…, or {"json": …}'],
  ['partition', '<number>', 'the partition of the original record'],
  ['offset_from', '<offset>', 'its offset, at least'],
  ['offset_to', '<offset>', 'its offset, at most'],
  ['from', '<time>', 'stored at or after: a moment, or -24h, -10m'],
  ['to', '<time>', 'stored before'],
  ['arrived_from', '<time>', 'written to its DLQ topic at or after'],
  ['arrived_to', '<time>', 'written to its DLQ topic before'],
  ['failed_from', '<time>', 'last failed at or after'],
  ['failed_to', '<time>', 'last failed before'],
  ['retry_count_min', '<number>', 'attempts, at least'],
  ['retry_count_max', '<number>', 'attempts, at most'],
  ['q', '<text>', "text in the error's message or class"],
  ['payload', '<json>', 'JSON that the payload contains'],
]
const times: ReadonlySet<string> = new Set(['from', 'to', 'arrived_from', 'arrived_to', 'failed_from', 'failed_to'])
const numbers: ReadonlySet<string> = new Set(['partition', 'retry_count_min', 'retry_count_max'])

/** `isLive`: what the command does is done to live messages only. */
export function withFilters(command: Command, { isLive = false } = {}): Command {
  command.option(`--status <statuses>`, `one or more of ${statuses.join(', ')}, with commas between`, readStatuses)
  for (const [name, argument, text] of filters) {
    const flag = `${name === 'q' ? '-q, ' : ''}--${name.replaceAll('_', '-')} ${argument}`
    if (numbers.has(name)) command.option(flag, text, readNumber)
    else command.option(flag, text)
  }
  return isLive ? command : command.option('--archived', 'search the archive')
}

/** What the options filter by, with relative times as they are now; an empty object if they filter by nothing. */
export async function filterOf(options: Record<string, unknown>, { now }: { now: Clock }): Promise<Filter> {
  const named = [...filters.map(([name]) => name), 'status', 'archived'].map((name) => [
    name,
    options[name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())],
  ])
  const given = named.filter(([, value]) => value !== undefined)
  const filter: Record<string, unknown> = {}
  for (const [name, value] of given as [string, unknown][])
    filter[name] = times.has(name) ? await momentOf(name, String(value), now) : value
  return filter as Filter
}

/** `-24h` as the console has it. What is no relative time is the API's to judge. */
async function momentOf(name: string, text: string, now: Clock): Promise<string> {
  if (durationMs(text) !== null)
    throw new CliError(exitCodes.usage, `--${name.replaceAll('_', '-')}: ${text} ago is -${text}`)
  const ms = /^-\d{1,6}[smhd]$/.test(text) ? durationMs(text.slice(1)) : null
  return ms === null ? text : new Date((await now()) - ms).toISOString()
}

function readStatuses(text: string): Filter['status'] {
  const found = text.toUpperCase().split(',')
  const unknown = found.find((status) => !statuses.some((known) => known === status))
  if (unknown !== undefined)
    throw new CliError(exitCodes.usage, `no such status: ${unknown}. There are ${statuses.join(', ')}`)
  return found as Filter['status']
}

/** Reads the number of an option. commander names the option in its error. */
export function readNumber(text: string): number {
  const number = Number(text)
  if (text.trim() === '' || !Number.isFinite(number) || number < 0)
    throw new InvalidArgumentError('It must be a number, at least 0.')
  return number
}

/** Reads how many items of a list are wanted. */
export function readLimit(text: string): number {
  const limit = readNumber(text)
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw new InvalidArgumentError('It must be a whole number, at least 1.')
  return limit
}

/** Reads the time of an option in ms, from `least` to `most`. `such` is an example of one. */
export function readDuration(
  option: string,
  text: string,
  { such = '10m', least = 0, most = Number.POSITIVE_INFINITY } = {},
): number {
  const ms = durationMs(text)
  if (ms === null || ms < least || ms > most)
    throw new CliError(exitCodes.usage, `${option}: not a time such as ${such}: ${text}`)
  return ms
}
