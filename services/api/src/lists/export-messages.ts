// A filter's messages as a file: page after page along the list's cursor, no faster than the client reads, so
// that memory holds one page however many there are.

import type { MessageSearch } from 'dlq-core/queries/reading/message-scan.ts'
import { searchMessages } from 'dlq-core/queries/reading/message-search.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import type { PayloadReader } from 'dlq-core/runtime/schemas/payload-reader.ts'
import type { Context } from 'hono'
import { anonymous } from '../access/access.ts'
import { createSteps } from '../answers/next-step.ts'
import type { ApiEnv } from '../http/define-route.ts'
import { streamText } from '../http/stream-text.ts'
import { type Shown, shown } from '../masks/shown.ts'
import type { Sight } from '../masks/sight.ts'
import { listedFields, messageJson } from '../messages/message-json.ts'
import { type DecodedRow, decodeRows } from '../payloads/decode-rows.ts'
import { keyOf } from './find-page.ts'
import { csvHeader, csvLine } from './message-csv.ts'
import { wholeRows } from './message-list.ts'

export const exportFormats = ['ndjson', 'json', 'csv'] as const
export type ExportFormat = (typeof exportFormats)[number]

/** Messages of one statement, and what it reads of them; larger payloads are read a mebibyte at a time. */
const pageSize = 250
/** Sixty clients that stop reading, as many as may export at once, hold a page each. */
const pageBytes = 1024 * 1024
const examine = 20_000

type Writer = { type: string; begin: string; between: string; end: string; line: (row: Shown<DecodedRow>) => string }

const asJson = (row: Shown<DecodedRow>) => messageJson(row, listedFields(row))
const writers: Record<ExportFormat, Writer> = {
  ndjson: { type: 'application/x-ndjson', begin: '', between: '', end: '', line: (row) => `${asJson(row)}\n` },
  json: { type: 'application/json', begin: '[', between: ',\n', end: ']\n', line: asJson },
  csv: { type: 'text/csv; charset=utf-8; header=present', begin: csvHeader, between: '', end: '', line: csvLine },
}

export function exportMessages(
  c: Context<ApiEnv>,
  sql: Sql,
  {
    search,
    payloads,
    format,
    sight,
    signal,
  }: {
    search: MessageSearch
    payloads: PayloadReader | null
    format: ExportFormat
    sight: Sight
    signal: AbortSignal
  },
): Response {
  const { type, begin, between, end, line } = writers[format]
  const { actor } = c.get('access')
  // Who needs no token is everybody.
  const inTurn: InTurn = (work) => (actor === anonymous.actor ? work() : c.get('readingTurns')(actor, signal, work))
  const archived = search.filter.archived ?? false

  async function* pieces() {
    yield begin
    const step = createSteps()
    let written = 0
    for await (const row of allRows(sql, { search, payloads, signal, archived, inTurn })) {
      await step()
      yield (written === 0 ? '' : between) + line(shown(row, sight))
      written++
    }
    yield end
    await sight.unmasked?.ended(written)
  }
  return streamText(c, pieces(), {
    'content-type': type,
    'content-disposition': `attachment; filename="dead-letters.${format}"`,
  })
}

type InTurn = <T>(work: () => Promise<T>) => Promise<T>

async function* allRows(
  sql: Sql,
  {
    search,
    payloads,
    signal,
    archived,
    inTurn,
  }: {
    search: MessageSearch
    payloads: PayloadReader | null
    signal: AbortSignal
    archived: boolean
    inTurn: InTurn
  },
): AsyncGenerator<DecodedRow> {
  for (let after: readonly string[] | null = null; ; ) {
    // A cut-off answer tells the client that something is missing; a proper end would not.
    signal.throwIfAborted()
    const { rows, examinedTo } = await inTurn(() =>
      searchMessages(sql, { search, after, limit: pageSize, examine, pageBytes }),
    )
    yield* wholeRows(sql, await decodeRows(payloads, rows), { archived, payloads })
    if (examinedTo === null && rows.length < pageSize) return
    after = examinedTo ?? keyOf(rows.at(-1)!)
  }
}
