// How fast one retrier works off due messages, against a bare producer and against bare SQL.

import type { NewMessage } from 'dlq-core/new-message.ts'
import { insertMessages } from 'dlq-core/queries/message-insert.ts'
import { toRepublishedRecord } from 'dlq-core/republished-record.ts'
import { createTopics } from 'dlq-testing/create-topics.ts'
import {
  type BenchDatabase,
  type BenchRun,
  connectBenchKafka,
  settleDatabase,
  withBenchDatabase,
  withService,
} from './bench-run.ts'
import { floorRows } from './ingest-floor.ts'
import { type Measurement, measureService } from './measure.ts'
import { formatVariants, slowest } from './report.ts'
import { type FloorRecord, measureClaimAndSettle, measureProducer } from './retry-floor.ts'

const topicCount = 20
const partitionsPerTopic = 4
const batchSize = 500

/** Prints a table. */
export async function benchRetry(run: BenchRun): Promise<void> {
  const total = run.quick ? 5000 : 50_000
  const topics = Array.from({ length: topicCount }, (_, at) => `bench-${process.pid}-${at}`)
  run.print(`retry: ${total} due messages over ${topicCount} topics, ${batchSize} per batch`)
  const kafka = connectBenchKafka(run)
  await createTargets(run, topics)
  const postgresPid = run.stack.postgres?.pid
  const rounds = { retrier: [] as Measurement[], producer: [] as Measurement[], sql: [] as Measurement[] }
  for (let round = 1; round <= run.rounds; round++) {
    run.print(`  round ${round} of ${run.rounds}`)
    rounds.producer.push(await measureProducer(kafka, { records: floorRecords(total, topics), batchSize, postgresPid }))
    await withBenchDatabase(run, async (database) => {
      await insertDue(database, total, topics)
      rounds.sql.push(await measureClaimAndSettle(database.sql, { total, batchSize, postgresPid }))
    })
    await withBenchDatabase(run, async (database) => {
      await insertDue(database, total, topics)
      rounds.retrier.push(await measureRetrier(run, database, total))
    })
  }
  const producer = { name: 'bare idempotent producer', rounds: rounds.producer }
  const claimAndSettle = { name: 'bare claim and settle', rounds: rounds.sql }
  const floor = slowest([producer, claimAndSettle])
  run.print(formatVariants([producer, claimAndSettle, { name: 'retrier', rounds: rounds.retrier }], floor))
  run.print(`The floor is the slower one: ${floor.name}.`)
}

async function createTargets(run: BenchRun, topics: readonly string[]): Promise<void> {
  const admin = connectBenchKafka(run).admin()
  await admin.connect()
  try {
    await createTopics(
      admin,
      topics.map((topic) => ({ topic, numPartitions: partitionsPerTopic })),
    )
  } finally {
    await admin.disconnect()
  }
}

/** Row number `index` as the ingester stores it, due since a while, in turn of one topic and the next. */
function dueRow(rows: readonly NewMessage[], index: number, topics: readonly string[]): NewMessage {
  const row = rows[index % rows.length]!
  return {
    ...row,
    id: `${row.id.slice(0, 24)}${index.toString(16).padStart(12, '0')}`,
    original_topic: topics[index % topics.length]!,
    original_partition: index % partitionsPerTopic,
    next_retry_at: new Date(Date.now() - 60_000),
  }
}

function floorRecords(total: number, topics: readonly string[]): FloorRecord[] {
  const rows = floorRows(total, { topic: 'bench.dlq.v1', originalTopic: topics[0]! })
  const records = rows.map((row) => toRepublishedRecord({ ...row, retry_count: 1 }))
  return Array.from({ length: total }, (_, index) => {
    const { key, value, headers } = records[index % records.length]!
    return {
      topic: topics[index % topics.length]!,
      key: key!,
      value: value!,
      headers: headers.map(([name, value]) => [name, value]),
    }
  })
}

async function insertDue(database: BenchDatabase, total: number, topics: readonly string[]): Promise<void> {
  const rows = floorRows(total, { topic: 'bench.dlq.v1', originalTopic: topics[0]! })
  for (let start = 0; start < total; start += batchSize) {
    const size = Math.min(batchSize, total - start)
    const due = Array.from({ length: size }, (_, at) => dueRow(rows, start + at, topics))
    await insertMessages(database.sql, due)
  }
  await database.sql`vacuum analyze dlq.dlq_messages`
  await settleDatabase(database)
}

async function measureRetrier(run: BenchRun, { url, sql }: BenchDatabase, total: number): Promise<Measurement> {
  const count = async () => {
    const [row] = await sql<{ settled: number }[]>`select count(*)::int as settled from dlq.dlq_attempts`
    return row!.settled
  }
  const env = { DLQ_RETRY_BATCH_SIZE: String(batchSize) }
  const measured = await withService(run, { name: 'retrier', databaseUrl: url, env }, (service) =>
    measureService(service, { total, count, pollMs: 100, postgresPid: run.stack.postgres?.pid }),
  )
  const [row] = await sql<{ resolved: number }[]>`
    select count(*)::int as resolved from dlq.dlq_messages where status = 'RESOLVED'`
  if (row!.resolved !== total) throw new Error(`the retrier resolved ${row!.resolved} messages of ${total}`)
  return measured
}
