import { expect } from 'vitest'
import { eventually } from '../eventually.ts'
import { insertMessageRow } from '../rows/message-rows.ts'
import type { TestConsole } from './use-console.ts'

/**
 * Inserts a row and resolves to its id once the retrier has given it its error group. Until then every ETag of it is
 * about to end, and a page that is open would say that somebody has changed the message.
 */
export async function insertGroupedRow({ sql }: TestConsole, columns: Record<string, unknown>): Promise<string> {
  const id = await insertMessageRow(sql, columns)
  await eventually(async () => {
    const [row] = await sql`select group_id from dlq.dlq_messages where id = ${id}`
    expect(row!.group_id).not.toBeNull()
  })
  return id
}
