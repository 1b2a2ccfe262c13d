// Lists of messages as JSON: one text where the payloads are small; where one is large, piece by piece, with the
// large ones read one at a time, so that a page of a thousand megabytes takes no more memory than one of them.

import { getPayload, type MessageRow } from 'dlq-core/queries/reading/message-search.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import type { Context } from 'hono'
import { streamText } from '../http/stream-text.ts'
import { listedFields, messageJson, previewJson, sendJsonText } from '../messages/message-json.ts'

/** `fields`: the specification's ten, the longer list, or that with previews. `tail`: the members beside the messages. */
export function sendMessages(
  c: Context,
  sql: Sql,
  {
    rows,
    archived,
    fields,
    tail,
  }: { rows: readonly MessageRow[]; archived: boolean; fields: 'specified' | 'listed' | 'previewed'; tail: object },
): Response {
  const textOf = (row: MessageRow) =>
    row.previewed === null
      ? messageJson(row, fields === 'specified' ? {} : listedFields(row))
      : previewJson({ ...row, previewed: row.previewed })
  const end = `],${JSON.stringify(tail).slice(1)}`
  if (!rows.some(({ large }) => large)) return sendJsonText(c, `{"messages":[${rows.map(textOf).join(',')}${end}`)

  async function* pieces() {
    yield '{"messages":['
    for (const [at, row] of rows.entries())
      yield `${at === 0 ? '' : ','}${textOf(await withPayload(sql, row, { archived }))}`
    yield end
  }
  return streamText(c, pieces(), { 'content-type': 'application/json' })
}

/** The row with its payload, also where that is large. */
export async function withPayload(sql: Sql, row: MessageRow, { archived }: { archived: boolean }): Promise<MessageRow> {
  if (!row.large) return row
  // It may have been deleted or archived since the page was read.
  return { ...row, ...((await getPayload(sql, { id: row.id, archived })) ?? {}) }
}
