// Lists of messages as JSON: one text where the payloads are small; where one is large, piece by piece, with the
// large ones read a mebibyte at a time, so that a page of a thousand megabytes takes no more memory than one of them.

import { type MessageRow, readLarge } from 'dlq-core/queries/reading/message-search.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import type { PayloadReader } from 'dlq-core/runtime/schemas/payload-reader.ts'
import type { Context } from 'hono'
import { createSteps, mapInSteps } from '../answers/next-step.ts'
import { streamText } from '../http/stream-text.ts'
import { type Shown, shown } from '../masks/shown.ts'
import type { Sight } from '../masks/sight.ts'
import { listedFields, messageJson, previewJson, sendJsonText } from '../messages/message-json.ts'
import { type DecodedRow, decodeRows } from '../payloads/decode-rows.ts'

/** `fields`: the specification's ten, the longer list, or that with previews. `tail`: the members beside the messages. */
export async function sendMessages(
  c: Context,
  sql: Sql,
  {
    rows,
    payloads,
    archived,
    fields,
    tail,
    sight,
  }: {
    rows: readonly MessageRow[]
    payloads: PayloadReader | null
    archived: boolean
    fields: 'specified' | 'listed' | 'previewed'
    tail: object
    sight: Sight
  },
): Promise<Response> {
  const jsonOf = (row: Shown<DecodedRow>) =>
    row.previewed === null
      ? messageJson(row, fields === 'specified' ? {} : listedFields(row))
      : previewJson({ ...row, previewed: row.previewed })
  const textOf = (row: DecodedRow) => jsonOf(shown(row, sight))
  const end = `],${JSON.stringify(tail).slice(1)}`
  const decoded = await decodeRows(payloads, rows)
  if (!rows.some(({ large }) => large)) {
    const texts = await mapInSteps(decoded, textOf)
    return sendJsonText(c, `{"messages":[${texts.join(',')}${end}`)
  }

  // Before the stream begins, which is when the read is recorded.
  for (const row of decoded) sight.unmasked?.note(row.id, row)
  async function* pieces() {
    yield '{"messages":['
    const step = createSteps()
    let comma = ''
    for await (const row of wholeRows(sql, decoded, { archived, payloads })) {
      await step()
      yield `${comma}${textOf(row)}`
      comma = ','
    }
    yield end
  }
  return streamText(c, pieces(), { 'content-type': 'application/json' })
}

/** Large rows are read together up to this. */
const maxTogetherBytes = 1024 * 1024

/** The rows with what was left out of large ones; without those that are gone by then. */
export async function* wholeRows(
  sql: Sql,
  rows: readonly DecodedRow[],
  { archived, payloads }: { archived: boolean; payloads: PayloadReader | null },
): AsyncGenerator<DecodedRow> {
  for (let at = 0; at < rows.length; ) {
    const part = rows.slice(at, at + readTogether(rows, at))
    const ids = part.filter(({ large }) => large).map(({ id }) => id)
    // They may have been deleted or archived since the page was read.
    const read = new Map((ids.length === 0 ? [] : await readLarge(sql, { ids, archived })).map((row) => [row.id, row]))
    const whole = part.filter(({ id }) => read.has(id)).map((row) => ({ ...row, ...read.get(row.id) }))
    const decoded = new Map((await decodeRows(payloads, whole)).map((row) => [row.id, row]))
    for (const row of part) if (!row.large || decoded.has(row.id)) yield decoded.get(row.id) ?? row
    at += part.length
  }
}

/** How many rows from here on: one whose size nobody knows stands alone. */
function readTogether(rows: readonly DecodedRow[], from: number): number {
  let bytes = 0
  for (let at = from; at < rows.length; at += 1) {
    const { large, large_bytes: own } = rows[at]!
    if (large) bytes += own ?? Number.POSITIVE_INFINITY
    if (bytes > maxTogetherBytes) return Math.max(1, at - from)
  }
  return rows.length - from
}
