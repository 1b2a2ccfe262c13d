// An application that handles dead letters, for tests that kill it. Each handling is written down twice:
// when it begins, for itself, and as an effect in the transaction that settles the message.

import postgres from 'postgres'
import { processDeadLetters } from './process-dead-letters.ts'

const sql = postgres(process.env.DATABASE_URL!, {
  max: 4,
  onnotice: () => {},
  connection: { application_name: 'test-processor' },
})

const processing = processDeadLetters({
  sql,
  topic: process.env.TOPIC!,
  batchSize: 50,
  leaseMs: Number(process.env.LEASE_MS),
  pollMs: 100,
  inTransaction: true,
  async handler({ id, attempt }, { sql: transaction }) {
    await sql`insert into handlings (message_id, attempt, pid) values (${id}, ${attempt}, ${process.pid})`
    await transaction`insert into effects (message_id, attempt, pid) values (${id}, ${attempt}, ${process.pid})`
  },
})
process.on('SIGTERM', async () => {
  await processing.stop()
  await sql.end({ timeout: 5 })
})
