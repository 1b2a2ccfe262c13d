// What long work on a large database costs those who store messages meanwhile.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import { type SizeRow, sizeRow } from './size-rows.ts'

const everyMs = 20

/** Runs `work` while a message is stored every 20 ms. Returns the seconds that it took, and the longest wait of a message in ms. */
export async function storingBeside(
  sql: Database,
  { rows }: { rows: number },
  work: () => Promise<unknown>,
): Promise<{ seconds: number; longestMs: number }> {
  const now = Date.now()
  let isOver = false
  let longestMs = 0
  const store = async () => {
    for (let index = rows; !isOver; index += 1) {
      const row = sizeRow(index, { at: now, now })
      const startedAt = performance.now()
      await storeOne(sql, row)
      longestMs = Math.max(longestMs, performance.now() - startedAt)
      await sleep(everyMs)
    }
  }
  const working = async () => {
    const startedAt = performance.now()
    try {
      await work()
      return (performance.now() - startedAt) / 1000
    } finally {
      isOver = true
    }
  }
  const [seconds] = await Promise.all([working(), store()])
  await sql`delete from dlq.dlq_messages where id >= dlq.uuid_floor(${new Date(now)}) and dlq_offset >= ${rows}`
  return { seconds, longestMs }
}

/** Without a limit: the wait is what is measured. */
async function storeOne(sql: Database, row: SizeRow): Promise<void> {
  await sql.begin(async (sql) => {
    await sql`set local statement_timeout = 0`
    await sql`insert into dlq.dlq_messages ${sql(row)}`
  })
}
