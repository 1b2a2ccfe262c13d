// How fast one topic's messages are published while those of another topic are refused again and again, against the
// same retrier at the same time without them: stretches with and without refused messages follow each other, so that
// both see the same machine.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import { createTopics } from 'dlq-testing/kafka/create-topics.ts'
import { groupIdOf } from '../api/api-rows.ts'
import { type BenchDatabase, type BenchRun, connectBenchKafka, withBenchDatabase } from '../measure/bench-run.ts'
import type { Measurement } from '../measure/measure.ts'
import { formatVariants } from '../measure/report.ts'
import {
  countPublished,
  insertDue,
  makeReady,
  measurePublished,
  partitionsPerTopic,
  startRetriers,
} from './retry-bench.ts'

const refusedCount = 1000
const leastShare = 0.9

type Variant = {
  name: string
  /** How old the refused records are when somebody asks for them. */
  refusedAgeMs: number
  alone: Measurement[]
  beside: Measurement[]
}

type Size = { warm: number; stretch: number; pairs: number }

/** Prints a table. Throws where the refused take more than a tenth of the rate, except in a quick run. */
export async function benchRefused(run: BenchRun): Promise<void> {
  const size: Size = run.quick ? { warm: 500, stretch: 1500, pairs: 2 } : { warm: 5000, stretch: 3000, pairs: 10 }
  run.print(
    `refused: ${size.pairs} times ${size.stretch} due messages of one topic without, and beside ${refusedCount}`,
  )
  run.print('of another topic that are refused, and asked for again every second')
  const variants: Variant[] = [
    { name: 'that the configuration refuses', refusedAgeMs: 3_600_000, alone: [], beside: [] },
    // Near the limit our clock does not decide, so Kafka is asked.
    { name: 'that only Kafka refuses', refusedAgeMs: 5000, alone: [], beside: [] },
  ]
  for (let round = 1; round <= run.rounds; round++) {
    run.print(`  round ${round} of ${run.rounds}`)
    for (const variant of variants) await measureVariant(run, variant, size, round)
  }
  for (const { name, alone, beside } of variants) {
    const rows = [
      { name: `without those ${name}`, rounds: alone },
      { name: `beside those ${name}`, rounds: beside },
    ] as const
    run.print(formatVariants(rows, rows[0]))
    run.print(`all stretches together: ${shareOf({ alone, beside }).toFixed(3)} of the rate without them`)
  }
  const slow = variants.filter((variant) => shareOf(variant) < leastShare)
  if (slow.length > 0 && !run.quick)
    throw new Error(`below ${leastShare} of the rate without: beside those ${slow.map(({ name }) => name).join(', ')}`)
}

/** The rate of all stretches together, so that what the first refusals cost counts too. */
function shareOf({ alone, beside }: Pick<Variant, 'alone' | 'beside'>): number {
  const timeOf = (stretches: readonly Measurement[]) =>
    stretches.reduce((sum, { rowsPerSecond }) => sum + 1 / rowsPerSecond, 0) / stretches.length
  return timeOf(alone) / timeOf(beside)
}

async function measureVariant(
  run: BenchRun,
  { refusedAgeMs, alone, beside }: Variant,
  { warm, stretch, pairs }: Size,
  round: number,
): Promise<void> {
  const [honest, strict] = [`bench-honest-${process.pid}`, `bench-strict-${process.pid}-${refusedAgeMs}-${round}`]
  await createBenchTopics(run, { honest, strict })
  await withBenchDatabase(run, async (database) => {
    // What is published between two stretches, and after the last one, is not measured.
    const measured = 2 * pairs * (stretch + warm)
    await insertDue(database, { size: { warm, measured }, topics: [honest] })
    await insertRefused(database.sql, strict)
    await makeReady(database)
    await using services = new AsyncDisposableStack()
    const retriers = await startRetriers(run, database, { services, processes: 1 })
    await measurePublished(run, database, { retriers, from: 1, total: warm })
    const measure = async () => {
      const from = await countPublished(database.sql)
      return measurePublished(run, database, { retriers, from, total: from + stretch })
    }
    const measureBeside = async () => {
      await using _ = await askAgainAndAgain(database, { topic: strict, ageMs: refusedAgeMs })
      beside.push(await measure())
    }
    for (let pair = 0; pair < pairs; pair++) {
      // Each comes first in turn, because whatever grows meanwhile slows down the second one.
      if (pair % 2 === 1) await measureBeside()
      alone.push(await measure())
      if (pair % 2 === 0) await measureBeside()
    }
  })
}

async function createBenchTopics(run: BenchRun, { honest, strict }: { honest: string; strict: string }): Promise<void> {
  const admin = connectBenchKafka(run).admin()
  await admin.connect()
  try {
    const configEntries = [{ name: 'message.timestamp.before.max.ms', value: '1000' }]
    const exists = (await admin.listTopics()).includes(honest)
    await createTopics(admin, [
      ...(exists ? [] : [{ topic: honest, numPartitions: partitionsPerTopic }]),
      { topic: strict, numPartitions: partitionsPerTopic, configEntries },
    ])
  } finally {
    await admin.disconnect()
  }
}

/** They wait until somebody asks for them. */
async function insertRefused(sql: Database, topic: string): Promise<void> {
  await sql`
    insert into dlq.dlq_messages (
      original_topic, error_message, record_key, record_value, record_headers, original_partition, max_retries,
      group_id, next_retry_at)
    select ${topic}, 'processing failed', convert_to('key ' || n, 'UTF8'), convert_to(repeat('x', 400), 'UTF8'), '[]',
           n % ${partitionsPerTopic}::int, 1000000, ${groupIdOf(1)}::uuid, null
    from generate_series(1, ${refusedCount}::int) n`
}

/**
 * Asks for all that waits for a person, at once and then every second; asked for so long ago that it comes before
 * everything else. What the retrier itself has put off it does not touch. Disposing of it waits until none is due.
 */
async function askAgainAndAgain(
  { sql }: BenchDatabase,
  { topic, ageMs }: { topic: string; ageMs: number },
): Promise<AsyncDisposable> {
  const ask = () => sql`
    update dlq.dlq_messages
    set next_retry_at = now() - interval '2 days', record_timestamp = now() - ${ageMs}::float8 * interval '1 ms'
    where original_topic = ${topic} and status = 'PENDING' and next_retry_at is null`
  await ask()
  let asking: Promise<unknown> = Promise.resolve()
  const timer = setInterval(() => {
    asking = asking.then(ask)
  }, 1000)
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer)
      await asking
      const rest = () => sql`
        update dlq.dlq_messages set next_retry_at = null
        where original_topic = ${topic} and status = 'PENDING' and next_retry_at is not null`
      const countSent = async () =>
        (
          await sql<[{ n: number }]>`
            select count(*)::int as n from dlq.dlq_messages where original_topic = ${topic} and status <> 'PENDING'`
        )[0].n
      do await rest()
      while ((await countSent()) > 0 && (await sleep(20, true)))
      await rest()
    },
  }
}
