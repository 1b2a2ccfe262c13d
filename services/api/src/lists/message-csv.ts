// Messages as lines of CSV (RFC 4180).

import type { MessageRow } from 'dlq-core/queries/reading/message-search.ts'
import type { Shown } from '../masks/shown.ts'
import { payloadJson } from '../messages/message-json.ts'
import { timestamp } from '../messages/timestamp.ts'

const csvColumns: readonly [name: string, read: (row: MessageRow) => string | number | bigint | null][] = [
  ['id', (row) => row.id],
  ['original_topic', (row) => row.original_topic],
  ['status', (row) => row.status],
  ['error_class', (row) => row.error_class],
  ['error_message', (row) => row.error_message],
  ['retry_count', (row) => row.retry_count],
  ['max_retries', (row) => row.max_retries],
  ['consumer_group', (row) => row.consumer_group],
  ['dlq_topic', (row) => row.dlq_topic],
  ['dlq_partition', (row) => row.dlq_partition],
  ['dlq_offset', (row) => row.dlq_offset],
  ['original_partition', (row) => row.original_partition],
  ['original_offset', (row) => row.original_offset],
  ['group_id', (row) => row.group_id],
  ['created_at', (row) => timestamp(row.created_at)],
  ['updated_at', (row) => timestamp(row.updated_at)],
  ['last_retry_at', (row) => row.last_retry_at && timestamp(row.last_retry_at)],
  ['next_retry_at', (row) => row.next_retry_at && timestamp(row.next_retry_at)],
  ['first_failed_at', (row) => timestamp(row.first_failed_at)],
  ['last_failed_at', (row) => timestamp(row.last_failed_at)],
  ['failure_count', (row) => row.failure_count],
  ['payload', (row) => jsonInOneCell(payloadJson(row))],
]

export const csvHeader = `${csvColumns.map(([name]) => name).join(',')}\r\n`

export function csvLine(row: Shown<MessageRow>): string {
  return `${csvColumns.map(([, read]) => csvCell(read(row))).join(',')}\r\n`
}

/** What spreadsheets take for the beginning of a formula; some of them also the wide characters. */
const formulaSigns = '=+\\-@＝＋－＠'
const beginsFormula = new RegExp(`^[${formulaSigns}\\t\\r\\n]`)
const beginsFormulaWithin = new RegExp(`(?<=[;\\r\\n])(?="*[${formulaSigns}])`, 'g')
const signBehindSemicolon = new RegExp(`(?<=;)[${formulaSigns}]`, 'g')

/**
 * A cell in the format of RFC 4180. Text that begins like a formula gets an apostrophe in front. Otherwise the sender
 * of a record could run a formula in an operator's spreadsheet (https://owasp.org/www-community/attacks/CSV_Injection).
 * Where cells are separated by semicolons, as in much of Europe, the quotes of such a cell do not count, because they do
 * not begin one: a semicolon or the end of a line within the text begins another cell, so the same holds behind it.
 */
export function csvCell(value: string | number | bigint | null): string {
  if (value === null) return ''
  if (typeof value !== 'string') return String(value)
  const text = (beginsFormula.test(value) ? `'${value}` : value).replace(beginsFormulaWithin, "'")
  return /[";,\t\r\n']/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** The same JSON: a semicolon stands only within its texts, and there any character can be written by its number. */
export function jsonInOneCell(json: string): string {
  return json.replace(signBehindSemicolon, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
