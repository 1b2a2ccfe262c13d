// How fast one topic's messages are published while those of another topic are refused again and again, against the
// same retrier without them.

import type { Database } from 'dlq-core/runtime/database/database.ts'
import { createTopics } from 'dlq-testing/kafka/create-topics.ts'
import { groupIdOf } from '../api/api-rows.ts'
import { type BenchRun, connectBenchKafka, withBenchDatabase } from '../measure/bench-run.ts'
import type { Measurement } from '../measure/measure.ts'
import { formatVariants } from '../measure/report.ts'
import { insertDue, makeReady, measureRetriers, partitionsPerTopic, type Size } from './retry-bench.ts'

const refusedCount = 1000
const leastShare = 0.9

type Variant = {
  name: string
  /** How old the refused records are; null: there are none. */
  refusedAgeMs: number | null
  rounds: Measurement[]
}

/** Prints a table. Throws where the refused take more than a tenth of the rate, except in a quick run. */
export async function benchRefused(run: BenchRun): Promise<void> {
  const size: Size = run.quick ? { warm: 500, measured: 5000 } : { warm: 5000, measured: 40_000 }
  const [honest, strict] = [`bench-honest-${process.pid}`, `bench-strict-${process.pid}`] as const
  run.print(`refused: ${size.measured} due messages of one topic, beside ${refusedCount} of another that are refused`)
  await createBenchTopics(run, { honest, strict })
  const variants: Variant[] = [
    { name: 'retrier, nothing refused', refusedAgeMs: null, rounds: [] },
    { name: 'beside 1,000 that the configuration refuses', refusedAgeMs: 3_600_000, rounds: [] },
    // Near the limit our clock does not decide, so Kafka is asked.
    { name: 'beside 1,000 that only Kafka refuses', refusedAgeMs: 30_000, rounds: [] },
  ]
  for (let round = 1; round <= run.rounds; round++) {
    run.print(`  round ${round} of ${run.rounds}`)
    for (const { refusedAgeMs, rounds } of variants) {
      await withBenchDatabase(run, async (database) => {
        await insertDue(database, { size, topics: [honest] })
        const meanwhile = () => askAgainAndAgain(database.sql, { topic: strict, ageMs: refusedAgeMs! })
        if (refusedAgeMs !== null) await insertRefused(database.sql, strict)
        await makeReady(database)
        const measuring = { size, processes: 1, ...(refusedAgeMs !== null && { meanwhile }) }
        rounds.push(await measureRetriers(run, database, measuring))
      })
    }
  }
  run.print(formatVariants(variants, variants[0]!))
  const rateOf = ({ rounds }: Variant) => rounds.reduce((sum, { rowsPerSecond }) => sum + rowsPerSecond, 0)
  const slow = variants.filter((variant) => rateOf(variant) < leastShare * rateOf(variants[0]!))
  if (slow.length > 0 && !run.quick)
    throw new Error(`below ${leastShare} of the rate alone: ${slow.map(({ name }) => name).join(', ')}`)
}

async function createBenchTopics(run: BenchRun, { honest, strict }: { honest: string; strict: string }): Promise<void> {
  const admin = connectBenchKafka(run).admin()
  await admin.connect()
  try {
    const configEntries = [{ name: 'message.timestamp.before.max.ms', value: '1000' }]
    await createTopics(admin, [
      { topic: honest, numPartitions: partitionsPerTopic },
      { topic: strict, numPartitions: partitionsPerTopic, configEntries },
    ])
  } finally {
    await admin.disconnect()
  }
}

async function insertRefused(sql: Database, topic: string): Promise<void> {
  await sql`
    insert into dlq.dlq_messages (
      original_topic, error_message, record_key, record_value, record_headers, original_partition, max_retries, group_id)
    select ${topic}, 'processing failed', convert_to('key ' || n, 'UTF8'), convert_to(repeat('x', 400), 'UTF8'), '[]',
           n % ${partitionsPerTopic}::int, 1000000, ${groupIdOf(1)}::uuid
    from generate_series(1, ${refusedCount}::int) n`
}

/** Makes all that was refused due again every second, and due for longer than anything else. */
function askAgainAndAgain(sql: Database, { topic, ageMs }: { topic: string; ageMs: number }): AsyncDisposable {
  const ask = () => sql`
    update dlq.dlq_messages
    set next_retry_at = now() - interval '2 days', record_timestamp = now() - ${ageMs}::float8 * interval '1 ms'
    where original_topic = ${topic} and status = 'PENDING'`
  let asking: Promise<unknown> = ask()
  const timer = setInterval(() => {
    asking = asking.then(ask)
  }, 1000)
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await asking
    },
  }
}
