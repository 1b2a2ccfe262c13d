// `dlq tail`: dead letters as they arrive. A message's id says when its record was written, not when it was stored,
// so tail asks by the time of storing, from a little before the last answer, and leaves out what it has shown.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command } from 'commander'
import { eachMessage } from 'dlq-client/each.ts'
import { exactJson } from 'dlq-client/json/exact-json.ts'
import { defineCommand, onCall, withOutput } from '../define-command.ts'
import { CliError, exitCodes } from '../exit-codes.ts'
import { type Filter, filterOf, readDuration, readLimit, withFilters } from '../filters.ts'
import { outlasting } from '../outlast.ts'
import { plain, plainJson } from '../output/words.ts'
import type { CommonOptions, Session } from '../session.ts'
import type { ListedMessage } from './ls.ts'

/** Transactions that store messages may end in another order than they began, by this much. */
const overlapMs = 30_000
const pollMs = 1000

export function addTail(program: Command): void {
  const tail = withFilters(
    withOutput(
      defineCommand(program, 'tail', {
        summary: 'new dead letters as they are stored; one JSON object a line with --json',
        description:
          'Until Ctrl-C. A reader that has gone, such as head, is noticed at the next line: --limit ends by itself.',
        examples: ['dlq tail --since 1h --json', 'dlq tail --topic orders', 'dlq tail --since 1h --limit 1 --json'],
      }),
    ),
    { isLive: true },
  )
    .option('--since <time>', 'begin with those of the last minutes', '0s')
    .option('--limit <number>', 'end after this many messages', readLimit)
  onCall<CommonOptions & { since: string; limit?: number; from?: string; to?: string }>(
    tail,
    async (session, _, options) => {
      if (options.from ?? options.to) throw new CliError(exitCodes.usage, 'tail begins --since, and has no end')
      const sinceMs = readDuration('--since', options.since)
      await follow(session, await filterOf(options, session), {
        since: (await session.now()) - sinceMs,
        limit: options.limit ?? Number.POSITIVE_INFINITY,
      })
    },
  )
}

type Bounds = { since: number; limit: number }

async function follow(session: Session, filter: Filter, { since, limit }: Bounds): Promise<void> {
  const { api, terminal, json } = session
  /** Ids of the overlap, with the time they were stored. */
  const shown = new Map<string, number>()
  let left = limit
  let from = since
  const showNew = outlasting(async () => {
    // By the server's clock: the newest that was stored, and where nothing was, no later than before.
    let newest = from + overlapMs
    for await (const message of eachMessage(api, { ...filter, from: new Date(from).toISOString(), sort: 'oldest' })) {
      if (shown.has(message.id)) continue
      const storedAt = Date.parse(message.created_at)
      shown.set(message.id, storedAt)
      newest = Math.max(newest, storedAt)
      await terminal.write(`${json ? plainJson(exactJson.stringify(message)) : lineOf(message)}\n`)
      left -= 1
      if (left <= 0) return
    }
    from = Math.max(since, newest - overlapMs)
    for (const [id, at] of shown) if (at < from) shown.delete(id)
  }, terminal)
  while (left > 0) {
    await showNew()
    if (left > 0) await sleep(pollMs, undefined, { signal: terminal.signal })
  }
}

function lineOf(message: ListedMessage): string {
  const { created_at, status, original_topic, original_partition, original_offset, error_class, error_message } =
    message
  const place = [original_topic, original_partition, original_offset].filter((part) => part !== null).join('/')
  const error = error_class ? `${error_class}: ${error_message}` : error_message
  return `${created_at} ${status} ${plain(place)} ${message.id} ${plain(error)}`
}
