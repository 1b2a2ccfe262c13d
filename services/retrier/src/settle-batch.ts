// Everything that became of a batch, written in one transaction.

import { type SettledAttempt, settleAttempts } from 'dlq-core/queries/attempts.ts'
import { type BatchLease, releaseBatch, type SettledMessage, settleMessages } from 'dlq-core/queries/batches.ts'
import type { Database } from 'dlq-core/runtime/database.ts'

export type BatchOutcome = BatchLease & {
  messages: readonly SettledMessage[]
  attempts: readonly SettledAttempt[]
  /** Ids of what was not published, whose attempt is given back. */
  released: readonly string[]
}

/** Returns how many messages the lease still held: `settled` of `messages`, `released` of `released`. */
export async function settleBatch(
  sql: Database,
  { slot, epoch, batch, messages, attempts, released }: BatchOutcome,
): Promise<{ settled: number; released: number }> {
  const lease = { slot, epoch, batch }
  return sql.begin(async (sql) => {
    // Sent together, and run one after the other.
    const [settled, givenBack] = await Promise.all([
      settleMessages(sql, { ...lease, messages }),
      released.length === 0 ? 0 : releaseBatch(sql, { ...lease, ids: released }),
      // Also of messages that came back before this: what is written down is where their records stand.
      settleAttempts(sql, { attempts }),
    ])
    return { settled: settled.length, released: givenBack }
  })
}
