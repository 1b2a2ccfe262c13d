// dlq_messages: storing new dead letters. The hottest statement of the ingester.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { NewMessage } from '../new-message.ts'
import { type CopyColumns, encodeCopy } from './copy-format.ts'
import type { Sql } from './sql.ts'

const columnTypes: CopyColumns<NewMessage> = {
  id: 'uuid',
  original_topic: 'text',
  error_message: 'text',
  max_retries: 'int4',
  payload: 'jsonb',
  dlq_cluster: 'text',
  dlq_topic: 'text',
  dlq_partition: 'int4',
  dlq_offset: 'int8',
  original_partition: 'int4',
  original_offset: 'int8',
  original_timestamp: 'timestamptz',
  original_topic_source: 'text',
  consumer_group: 'text',
  record_key: 'bytea',
  record_value: 'bytea',
  record_headers: 'json',
  record_timestamp: 'timestamptz',
  record_timestamp_type: 'text',
  record_source: 'text',
  error_class: 'text',
  error_stacktrace: 'text',
  group_id: 'uuid',
  next_retry_at: 'timestamptz',
  successor_of: 'uuid',
  order_key: 'int8',
}
const columns = Object.keys(columnTypes) as (keyof NewMessage)[]

/** Rows per statement: 500 × 26 parameters stay well under the protocol's 65,535. */
const rowsPerStatement = 500

/** One piece is written to the socket while PostgreSQL works on the one before. */
const rowsPerPiece = 100

/** Stores the messages; one whose id is there already is left as it is. Returns how many are new. */
export async function insertMessages(sql: Sql, messages: readonly NewMessage[]): Promise<number> {
  let inserted = 0
  for (let start = 0; start < messages.length; start += rowsPerStatement) {
    const rows = messages.slice(start, start + rowsPerStatement)
    // Redelivered records meet their own id: the id is derived from the record.
    const result = await sql`
      insert into dlq.dlq_messages ${sql(rows, ...columns)}
      on conflict (id) do nothing`
    inserted += result.count
  }
  return inserted
}

/**
 * Stores messages that are new: one whose id is there already refuses them all, as does any row that
 * PostgreSQL cannot hold. For inside a transaction, which is lost then. COPY takes 60 % of the CPU of
 * `insertMessages`, and no statement text that differs with the number of rows.
 *
 * @throws where anything was refused, though not always saying what: PostgreSQL's answer to the end of a
 *   COPY is lost on the driver's way, and the error is then that the transaction is aborted (25P02).
 */
export async function copyMessages(sql: Sql, messages: readonly NewMessage[]): Promise<number> {
  if (messages.length === 0) return 0
  const stream = await sql`copy dlq.dlq_messages (${sql(columns)}) from stdin (format binary)`.writable()
  const refused = new Promise<never>((_, reject) => stream.once('error', reject))
  // Awaited while something is written; it may also come in between.
  refused.catch(() => {})
  for (const piece of encodeCopy(columnTypes, messages, rowsPerPiece)) {
    await Promise.race([refused, new Promise<void>((resolve) => stream.write(piece, () => resolve()))])
  }
  stream.end()
  // The driver takes the next statement only when the stream has passed on its end. That statement waits
  // for the COPY and fails where the COPY did, of which the stream itself would never tell.
  await nextTurn()
  await Promise.race([refused, sql`select 1`])
  return messages.length
}

/** Makes the partition that the id belongs to, where a record's timestamp lies beyond those made ahead. */
export async function ensureMessagePartition(sql: Sql, id: string): Promise<void> {
  await sql`select dlq.ensure_message_partition(${id})`
}

/** Makes the partitions of this month and the next three. Returns how many were missing. */
export async function createMessagePartitions(sql: Sql): Promise<number> {
  const [row] = await sql<{ made: number }[]>`select dlq.create_message_partitions() as made`
  return row!.made
}
