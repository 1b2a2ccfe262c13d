import { processDeadLetters } from 'dlq-client/process-dead-letters'
import postgres from 'postgres'

const sql = postgres(process.env.DATABASE_URL ?? '')

/** In the application's own transaction: a rollback leaves no dead letter. */
async function giveUp(order: { id: string }, error: Error) {
  await sql`
    select dlq.dead_letter('order.created', ${sql.json(order)}, ${error.message}, p_stack_trace => ${error.stack ?? null})`
}

// One pass every 6 hours by one instance of many, 50 dead letters at most, 240 attempts each.
const processing = processDeadLetters({
  sql,
  topic: 'order.created',
  handler: async (message) => {
    await enrich(message.payload)
  },
  batchSize: 50,
  every: 6 * 3_600_000,
  maxRetries: 240,
})
// … at shutdown:
await processing.stop()

declare function enrich(order: unknown): Promise<void>

export { giveUp }
