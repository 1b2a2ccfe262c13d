// `dlq ls`: messages of a filter, as a table or as a file.
import { type Command, Option } from 'commander'
import { DlqApiError, dataOf } from 'dlq-client/api-client.ts'
import type { components } from 'dlq-client/api-types.ts'
import { defineCommand, onCall, withOutput, withWatch } from '../define-command.ts'
import { CliError, exitCodes } from '../exit-codes.ts'
import { type Filter, filterOf, readLimit, withFilters } from '../filters.ts'
import { ago, plainLines } from '../output/words.ts'
import { readPages } from '../read-pages.ts'
import { type CommonOptions, requireFile, type Session } from '../session.ts'

export type ListedMessage = components['schemas']['ListedMessage']
type MessagePage = components['schemas']['MessagePage']
type Options = CommonOptions & { limit: number; sort: 'newest' | 'oldest' | 'next_due'; export?: 'ndjson' | 'csv' }

export function addLs(program: Command): void {
  const ls = withFilters(
    withWatch(
      withOutput(
        defineCommand(program, 'ls', {
          summary: 'messages, by any filter',
          examples: [
            'dlq ls --topic orders --status DEAD',
            'dlq ls --from -24h --to -10m',
            'dlq ls -q Invalid --sort oldest --limit 5 --wide',
            'dlq ls --status DEAD --json | grep next_cursor',
            'dlq ls --topic orders --export csv > dead-letters.csv',
            'dlq ls --status PENDING,DEAD --export ndjson | wc -l',
          ],
        }),
      ),
    ),
  )
    .option('--limit <number>', 'how many', readLimit, 20)
    .addOption(new Option('--sort <order>', 'the order').choices(['newest', 'oldest', 'next_due']).default('newest'))
    .addOption(new Option('--export <format>', 'all of them, as a file on stdout').choices(['ndjson', 'csv']))
  onCall<Options>(ls, async (session, _, options) => {
    if (options.export) {
      const lost = (['limit', 'sort', 'watch'] as const).find((name) => ls.getOptionValueSource(name) === 'cli')
      if (lost !== undefined)
        throw new CliError(
          exitCodes.usage,
          `--export writes all of them, once: leave out --${lost}, or use --json instead`,
        )
      return exportTo(session, await filterOf(options, session), options.export)
    }
    await session.watched(async () => {
      const query = { ...(await filterOf(options, session)), sort: options.sort }
      const page = await readMessages(session, query, options.limit)
      await session.print(page, ({ messages }) => messageTable(messages, session))
      const { next_cursor: next, bounded } = page.pagination
      session.noteMore(next, bounded ? 'the search stopped after half a second: narrow the filter' : undefined)
    })
  })
}

/** The first `limit` messages, as one page; fewer where a search has stopped. */
async function readMessages(
  { api }: Session,
  filter: Filter & Pick<Options, 'sort'>,
  limit: number,
): Promise<MessagePage> {
  const { items, first, last } = await readPages(limit, {
    atOnce: 1000,
    ask: (page) => dataOf(api.GET('/api/v1/messages', { params: { query: { ...filter, ...page } } })),
    itemsOf: ({ messages }) => messages,
    nextOf: ({ pagination: { bounded, next_cursor } }) => (bounded ? null : next_cursor),
  })
  const { total, prev_cursor } = first.pagination
  return { messages: items, pagination: { ...last.pagination, total, prev_cursor, limit } }
}

/** In a terminal, the class in short: its package would take the place of what happened. */
function errorText(
  { error_class: name, error_message: text }: ListedMessage,
  { width }: Pick<Session, 'width'>,
): string {
  return name ? `${width === null ? name : name.slice(name.lastIndexOf('.') + 1)}: ${text}` : text
}

function messageTable(messages: readonly ListedMessage[], session: Pick<Session, 'table' | 'width'>): string {
  const now = Date.now()
  return session.table(
    messages,
    [
      { title: 'ID', value: ({ id }) => id, whole: true },
      { title: 'STATUS', value: ({ status }) => status, rank: 1, below: true },
      { title: 'TOPIC', value: ({ original_topic }) => original_topic, rank: 3 },
      { title: 'GROUP', value: ({ consumer_group }) => consumer_group, rank: 5 },
      { title: 'ATTEMPTS', value: (row) => `${row.retry_count}/${row.max_retries}`, right: true, rank: 6 },
      { title: 'FAILED', value: ({ last_failed_at }) => ago(last_failed_at, now), right: true, rank: 4 },
      { title: 'NEXT', value: ({ next_retry_at }) => ago(next_retry_at, now), right: true, rank: 7 },
      { title: 'ERROR', value: (message) => errorText(message, session), rank: 2, enough: 20, below: true },
    ],
    'no messages',
  )
}

/** As fast as the reader takes it. An answer that breaks off ends with an error, never as if it were whole. */
async function exportTo(session: Session, filter: Filter, format: 'ndjson' | 'csv'): Promise<void> {
  const { api, terminal } = session
  const { data, error, response } = await api.GET('/api/v1/messages/export', {
    params: { query: { ...filter, format } },
    parseAs: 'stream',
  })
  if (!data) throw new DlqApiError(response.status, error)
  await requireFile(session, response)
  const isShown = terminal.columns !== null
  const decoder = new TextDecoder()
  for await (const chunk of data as unknown as AsyncIterable<Uint8Array>)
    await terminal.write(isShown ? plainLines(decoder.decode(chunk, { stream: true })) : chunk)
}
