// What the fleet tells of, in words: kinds of events, channels, routes and deliveries.

import { counted, listed, numberText } from '../words.ts'

export const eventTypes = [
  ...['group.new', 'group.regressed', 'group.burst', 'group.paused', 'group.resumed', 'dead.threshold', 'loss.near'],
  ...['loss.happened', 'run.finished', 'run.failed', 'run.paused', 'sent.unread', 'service.silent', 'topic.found'],
  'delivery.dead',
] as const

/** Those that begin and end; the others happen once. */
export const lastingTypes: ReadonlySet<string> = new Set([
  ...['group.burst', 'dead.threshold', 'loss.near', 'loss.happened', 'run.paused', 'sent.unread', 'service.silent'],
])

const words: Readonly<Record<string, string>> = {
  'group.new': 'a new error group',
  'group.regressed': 'a group came back',
  'group.burst': 'a group fails far more often',
  'group.paused': 'retries of a group stopped',
  'group.resumed': 'retries of a group go on',
  'dead.threshold': 'many DEAD messages',
  'loss.near': 'records are deleted soon',
  'loss.happened': 'records were deleted unread',
  'run.finished': 'a run ended',
  'run.failed': 'a run failed',
  'run.paused': 'a run paused',
  'sent.unread': 'nobody reads what was sent',
  'service.silent': 'no ingester answers',
  'topic.found': 'a topic that nobody reads',
  'delivery.dead': 'a notification was not taken',
}

/** "a new error group"; a kind that is newer than the page stays as it is. */
export function eventTypeWords(type: string): string {
  return words[type] ?? type
}

export type RouteFacts = {
  readonly types: readonly string[]
  readonly topics: readonly string[]
  readonly owners: readonly string[]
  readonly min_severity: 'info' | 'warning' | 'critical'
  readonly digest: string
  readonly repeat_every: string
  readonly quiet: string | null
  readonly dead_threshold: number | null
}

/** "everything of orders.*, from warning on". */
export function routeWords({ types, topics, owners, min_severity }: RouteFacts): string {
  const what = types.length === 0 ? 'everything' : listed(types)
  return [
    `${what}${topics.length === 0 ? '' : ` of ${listed(topics)}`}`,
    ...(owners.length === 0 ? [] : [`owned by ${listed(owners)}`]),
    ...(min_severity === 'info' ? [] : [`from ${min_severity} on`]),
  ].join(', ')
}

/** "together every 5m, again every 4h, quiet 22:00-07:00". */
export function routeTimes({ digest, repeat_every, quiet, dead_threshold }: RouteFacts): string {
  return [
    `together every ${digest}`,
    `again every ${repeat_every}`,
    ...(quiet === null ? [] : [`quiet ${quiet}`]),
    ...(dead_threshold === null ? [] : [`from ${numberText(dead_threshold)} DEAD on`]),
  ].join(', ')
}

const kinds: Readonly<Record<string, string>> = {
  begin: 'told',
  again: 'told again',
  end: 'its end',
  test: 'a test',
}

/** "told, 3 events". */
export function deliveryWords({ kind, events }: { kind: string; events: number }): string {
  const what = kinds[kind] ?? kind
  return kind === 'test' ? what : `${what}, ${counted(events, 'event')}`
}

/** How many were read, and whether there may be more. */
type Read = { count: number; more: boolean }

/** What lasts, and whom nobody told. Null where it is not known, or not told to this token. */
export function eventsVerdict({
  lasting,
  channels,
  dead,
}: {
  lasting: Read
  channels: number | null
  dead: Read | null
}): string {
  return [
    lasting.count === 0
      ? 'Nothing lasts that somebody should have heard of.'
      : `${readText(lasting, 'condition has not ended', 'conditions have not ended')}.`,
    ...(channels === 0 ? ['No channel is configured: nobody is told.'] : []),
    ...(dead === null || dead.count === 0
      ? []
      : [`${readText(dead, 'notification was', 'notifications were')} not taken.`]),
  ].join(' ')
}

function readText({ count, more }: Read, one: string, many: string): string {
  return `${more ? 'At least ' : ''}${counted(count, one, many)}`
}

/** The number that was typed; null for none. What is no number stays as it is: the API refuses it, and names the field. */
export function numberTyped(text: string): number | null {
  const typed = text.trim()
  if (typed === '') return null
  const number = Number(typed)
  return Number.isFinite(number) ? number : (typed as unknown as number)
}

/** "orders.*, payments" as its parts. */
export function listOf(text: string): string[] {
  return text
    .split(/[\s,]+/)
    .map((part) => part.trim())
    .filter((part) => part !== '')
}
