// Lists of messages as JSON: one text where the payloads are small; where one is large, piece by piece, with the
// large ones read one at a time, so that a page of a thousand megabytes takes no more memory than one of them.

import { getPayload, type MessageRow } from 'dlq-core/queries/reading/message-search.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import type { PayloadReader } from 'dlq-core/runtime/schemas/payload-reader.ts'
import type { Context } from 'hono'
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
  if (!rows.some(({ large }) => large)) return sendJsonText(c, `{"messages":[${decoded.map(textOf).join(',')}${end}`)

  // Before the stream begins, which is when the read is recorded.
  for (const row of decoded) sight.unmasked?.note(row.id, row)
  async function* pieces() {
    yield '{"messages":['
    for (const [at, row] of decoded.entries())
      yield `${at === 0 ? '' : ','}${textOf(await withPayload(sql, row, { archived, payloads }))}`
    yield end
  }
  return streamText(c, pieces(), { 'content-type': 'application/json' })
}

/** The row with its payload, also where that is large. */
export async function withPayload(
  sql: Sql,
  row: DecodedRow,
  { archived, payloads }: { archived: boolean; payloads: PayloadReader | null },
): Promise<DecodedRow> {
  if (!row.large) return row
  // It may have been deleted or archived since the page was read.
  const whole = await getPayload(sql, { id: row.id, archived })
  const [decoded] = await decodeRows(payloads, [{ ...row, ...whole }])
  return decoded!
}
