// Inserts rows into dlq_messages. Every column has a default; a test names only the columns that it needs.
import type postgres from 'postgres'

/** Columns of dlq.dlq_messages. */
export type MessageColumns = Readonly<Record<string, unknown>>

/**
 * Inserts one message and returns its id. It is PENDING and due only when somebody asks, unless said otherwise. A
 * RETRYING one is held by a slot that no retrier of a test has.
 */
export async function insertMessageRow(sql: postgres.Sql, columns: MessageColumns = {}): Promise<string> {
  const row = {
    ...{ original_topic: 'orders.events.v1', error_message: 'processing failed', next_retry_at: null },
    ...(columns.status === 'RETRYING' && columns.lease_until === undefined && { lease_slot: 1000, lease_batch: 1 }),
    ...columns,
  }
  const [inserted] = await sql<[{ id: string }]>`insert into dlq.dlq_messages ${sql(row)} returning id`
  return inserted.id
}

/** The columns of one message; throws where there is none. */
export async function readMessageRow(sql: postgres.Sql, id: string): Promise<postgres.Row> {
  const [row] = await sql`select * from dlq.dlq_messages where id = ${id}`
  if (!row) throw new Error(`no message ${id}`)
  return row
}
