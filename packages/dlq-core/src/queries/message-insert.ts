// dlq_messages: storing new dead letters. The hottest statement of the ingester.

import type { NewMessage } from '../new-message.ts'
import type { Sql } from './sql.ts'

const columns = [
  'id',
  'original_topic',
  'error_message',
  'max_retries',
  'payload',
  'dlq_cluster',
  'dlq_topic',
  'dlq_partition',
  'dlq_offset',
  'original_partition',
  'original_offset',
  'original_timestamp',
  'original_topic_source',
  'consumer_group',
  'record_key',
  'record_value',
  'record_headers',
  'record_timestamp',
  'error_class',
  'error_stacktrace',
  'group_id',
  'next_retry_at',
  'successor_of',
] as const satisfies readonly (keyof NewMessage)[]

/** Rows per statement: 500 × 23 parameters stay well under the protocol's 65,535. */
const rowsPerStatement = 500

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

/** Makes the partition that the id belongs to, where a record's timestamp lies beyond those made ahead. */
export async function ensureMessagePartition(sql: Sql, id: string): Promise<void> {
  await sql`select dlq.ensure_message_partition(${id})`
}

/** Makes the partitions of this month and the next three. Returns how many were missing. */
export async function createMessagePartitions(sql: Sql): Promise<number> {
  const [row] = await sql<{ made: number }[]>`select dlq.create_message_partitions() as made`
  return row!.made
}
