// A report about an error group, in Markdown, for a ticket.

import { actionWords } from '../audit/audit-words.ts'
import type { StatusCounts } from '../states.ts'
import { numberText } from '../words.ts'

type Report = {
  group: {
    title: string
    error_class: string | null
    message: string
    dlq_topics: readonly string[]
    counts: StatusCounts
    first_seen_at: string
    last_seen_at: string
    state: string
    owner: string | null
    note: string | null
  }
  newest: { id: string; error_message: string; error_stacktrace: string | null } | null
  audit: readonly { at: string; actor: string; action: string; reason: string | null }[]
  url: string
}

const maxTraceLines = 12

export function groupReport({ group, newest, audit, url }: Report): string {
  const { counts } = group
  const trace = newest?.error_stacktrace?.split('\n').slice(0, maxTraceLines).join('\n')
  return [
    `## ${group.title}`,
    '',
    url,
    '',
    `- ${numberText(counts.DEAD)} DEAD (given up), ${numberText(counts.PENDING)} waiting, ${numberText(counts.RETRYING)} being sent, ${numberText(counts.RESOLVED)} sent and not back`,
    `- first ${group.first_seen_at}, last ${group.last_seen_at}`,
    `- DLQ topics: ${group.dlq_topics.join(', ')}`,
    `- state: ${group.state}, owner: ${group.owner ?? 'nobody'}${group.note === null ? '' : `, note: ${group.note}`}`,
    ...(newest === null
      ? []
      : ['', `Newest (${newest.id}):`, '', fence(newest.error_message + (trace ? `\n\n${trace}` : ''))]),
    ...(audit.length === 0
      ? []
      : [
          '',
          ...audit.map(
            ({ at, actor, action, reason }) =>
              `- ${at} ${actor} ${actionWords(action)}${reason === null ? '' : ` (${reason})`}`,
          ),
        ]),
    '',
  ].join('\n')
}

/** A fence that is longer than any within the text. */
function fence(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const ticks = '`'.repeat(longest + 1)
  return `${ticks}\n${text}\n${ticks}`
}
