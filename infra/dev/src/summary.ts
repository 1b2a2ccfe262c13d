// The text for the terminal: counts per topic and status, addresses, and commands to try. Pure.

import type { StatusCount } from 'dlq-core/queries/reading/summary.ts'
import type { StackFile } from './stack-file.ts'

const statuses = ['PENDING', 'RETRYING', 'RESOLVED', 'DEAD'] as const
const maxTopics = 12

export type SummaryInput = {
  stack: StackFile
  counts: readonly StatusCount[]
  events: readonly string[]
  demo: boolean
}

/** The lines of the summary, for a terminal that is updated in place. */
export function summaryLines({ stack, counts, events, demo }: SummaryInput): string[] {
  return [
    `dlq-manager is running${demo ? ', with the demo' : ''}. Ctrl-C stops it.`,
    '',
    consoleLine(stack),
    ...countLines(counts),
    '',
    ...serverLines(stack),
    '',
    ...(events.length > 0 ? [...events.map((event) => `  ${event}`), ''] : []),
  ]
}

/** The console first, then the rest. */
export function placeLines(stack: StackFile): string[] {
  return ['', consoleLine(stack), '', ...serverLines(stack)]
}

function consoleLine({ console }: StackFile): string {
  return `  Console     ${console}          ← open this`
}

/** The addresses of all processes, and three commands to try. */
function serverLines({ api, ingester, retrier, databaseUrl, kafkaBrokers }: StackFile): string[] {
  return [
    `  API         ${api}`,
    `  ingester    ${ingester}/metrics`,
    `  retrier     ${retrier}/metrics`,
    `  PostgreSQL  ${withoutPassword(databaseUrl)}`,
    `  Kafka       ${kafkaBrokers.join(',')}`,
    '',
    '  Try:',
    `    curl '${api}/api/v1/dlq/orders.dlq.v1?page_size=3'`,
    `    curl -X POST '${api}/api/v1/dlq/orders.dlq.v1/retry-all'`,
    `    curl '${api}/readyz'`,
  ]
}

/** A table with one line per topic. */
export function countLines(counts: readonly StatusCount[]): string[] {
  const topics = [...Map.groupBy(counts, ({ original_topic }) => original_topic)]
  if (topics.length === 0) return ['  No dead letters yet.']
  const shown = topics.slice(0, maxTopics)
  const width = Math.max('original topic'.length, ...shown.map(([topic]) => topic.length))
  const row = (name: string, cells: readonly string[]) =>
    `  ${name.padEnd(width)}${cells.map((cell) => cell.padStart(10)).join('')}`
  const rows = shown.map(([topic, ofTopic]) =>
    row(
      topic,
      statuses.map((status) => String(ofTopic.find((count) => count.status === status)?.count ?? 0)),
    ),
  )
  const more = topics.length > maxTopics ? [`  … and ${topics.length - maxTopics} more topics`] : []
  return [row('original topic', statuses), ...rows, ...more]
}

/** One line for output that is not a terminal. */
export function countLine(counts: readonly StatusCount[]): string {
  const total = (status: string) => counts.reduce((sum, count) => sum + (count.status === status ? count.count : 0), 0)
  return statuses.map((status) => `${status} ${total(status)}`).join('  ')
}

function withoutPassword(databaseUrl: string): string {
  const url = new URL(databaseUrl)
  if (url.password) url.password = '***'
  return url.href
}
