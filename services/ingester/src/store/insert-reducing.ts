// Inserts rows where PostgreSQL refuses some of them. It halves the rows until each refused one stands alone, and stores
// those in a reduced form: a poisonous record must not stop its partition.

import { type NewMessage, reduceMessage } from 'dlq-core/domain/message/new-message.ts'
import { insertMessages } from 'dlq-core/queries/ingest/message-insert.ts'
import type { Transaction } from 'dlq-core/runtime/database/database.ts'
import { isDataError } from 'dlq-core/runtime/database/database-errors.ts'

/** Stores every message, whole where possible. */
export async function insertReducing(
  sql: Transaction,
  messages: readonly NewMessage[],
): Promise<{ stored: number; reduced: number }> {
  if (messages.length === 0) return { stored: 0, reduced: 0 }
  try {
    return { stored: await sql.savepoint((sql) => insertMessages(sql, messages)), reduced: 0 }
  } catch (error) {
    if (!isDataError(error)) throw error
    if (messages.length === 1) {
      return { stored: await insertMessages(sql, [reduceMessage(messages[0]!, (error as Error).message)]), reduced: 1 }
    }
  }
  const middle = messages.length >> 1
  const left = await insertReducing(sql, messages.slice(0, middle))
  const right = await insertReducing(sql, messages.slice(middle))
  return { stored: left.stored + right.stored, reduced: left.reduced + right.reduced }
}
