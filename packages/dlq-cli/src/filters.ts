// The API's filters as options: `consumer_group` is --consumer-group.
import type { Command } from 'commander'
import type { paths } from 'dlq-client/api-types.ts'
import { CliError, exitCodes } from './exit-codes.ts'

type Query = NonNullable<paths['/api/v1/messages']['get']['parameters']['query']>
export type Filter = Omit<Query, 'status' | 'cursor' | 'limit' | 'sort'> & {
  status?: ('PENDING' | 'RETRYING' | 'RESOLVED' | 'DEAD')[]
}

const statuses = ['PENDING', 'RETRYING', 'RESOLVED', 'DEAD'] as const

/** Name in the API, argument, text. */
const filters: readonly (readonly [keyof Filter, string, string])[] = [
  ['topic', '<name>', 'a topic, or a glob such as orders.*'],
  ['consumer_group', '<name>', 'the consumer group that failed'],
  ['error_class', '<name>', 'the class of the error, exactly'],
  ['group_id', '<id>', 'the error group'],
  ['key', '<key>', 'the key: text, or base64:…'],
  ['partition', '<number>', 'the partition of the original record'],
  ['offset_from', '<offset>', 'its offset, at least'],
  ['offset_to', '<offset>', 'its offset, below'],
  ['from', '<time>', 'stored at or after'],
  ['to', '<time>', 'stored before'],
  ['failed_from', '<time>', 'last failed at or after'],
  ['failed_to', '<time>', 'last failed before'],
  ['retry_count_min', '<number>', 'attempts, at least'],
  ['retry_count_max', '<number>', 'attempts, at most'],
  ['q', '<text>', "text in the error's message or class"],
  ['payload', '<json>', 'JSON that the payload contains'],
]
const numbers: ReadonlySet<string> = new Set(['partition', 'retry_count_min', 'retry_count_max'])

export function withFilters(command: Command): Command {
  command.option(`--status <statuses>`, `one or more of ${statuses.join(', ')}, with commas between`, readStatuses)
  for (const [name, argument, text] of filters) {
    const flag = `${name === 'q' ? '-q, ' : ''}--${name.replaceAll('_', '-')} ${argument}`
    if (numbers.has(name)) command.option(flag, text, readNumber)
    else command.option(flag, text)
  }
  return command.option('--archived', 'search the archive')
}

/** What the options filter by; an empty object if they do not. */
export function filterOf(options: Record<string, unknown>): Filter {
  const named = [...filters.map(([name]) => name), 'status', 'archived'].map((name) => [
    name,
    options[name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())],
  ])
  return Object.fromEntries(named.filter(([, value]) => value !== undefined)) as Filter
}

function readStatuses(text: string): Filter['status'] {
  const found = text.toUpperCase().split(',')
  const unknown = found.find((status) => !statuses.some((known) => known === status))
  if (unknown !== undefined)
    throw new CliError(exitCodes.usage, `no such status: ${unknown}. There are ${statuses.join(', ')}`)
  return found as Filter['status']
}

export function readNumber(text: string): number {
  const number = Number(text)
  if (text.trim() === '' || !Number.isFinite(number) || number < 0)
    throw new CliError(exitCodes.usage, `not a number: ${text}`)
  return number
}
