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
  ['payload', (row) => payloadJson(row)],
]

export const csvHeader = `${csvColumns.map(([name]) => name).join(',')}\r\n`

export function csvLine(row: Shown<MessageRow>): string {
  return `${csvColumns.map(([, read]) => csvCell(read(row))).join(',')}\r\n`
}

/**
 * A cell in the format of RFC 4180. Text that begins like a formula gets an apostrophe in front. Otherwise the sender
 * of a record could run a formula in an operator's spreadsheet (https://owasp.org/www-community/attacks/CSV_Injection).
 */
export function csvCell(value: string | number | bigint | null): string {
  if (value === null) return ''
  if (typeof value !== 'string') return String(value)
  const text = /^[=+\-@\t\r\n]/.test(value) ? `'${value}` : value
  return /[",\r\n']/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
