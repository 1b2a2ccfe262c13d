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

/** Messages of the same topics that are not due. */
const waitingRows = 1_000_000

/** Prints a table. */
export async function benchRetry(run: BenchRun): Promise<void> {
  const total = run.quick ? 5000 : 50_000
  const topics = Array.from({ length: topicCount }, (_, at) => `bench-${process.pid}-${at}`)
  run.print(`retry: ${total} due messages over ${topicCount} topics, ${batchSize} per batch`)
  const kafka = connectBenchKafka(run)
  await createTargets(run, topics)
  const postgresPid = run.stack.postgres?.pid
  const [producer, sql] = [variant('bare transactional producer'), variant('bare claim and settle')]
  const [one, two] = [variant('retrier'), variant('retrier, 2 processes')]
  const behind = variant(`retrier, ${waitingRows.toLocaleString('en')} more that wait`)
  const rows = { total, topics, waiting: 0 }
  for (let round = 1; round <= run.rounds; round++) {
    run.print(`  round ${round} of ${run.rounds}`)
    producer.rounds.push(await measureProducer(kafka, { records: floorRecords(total, topics), batchSize, postgresPid }))
    await withRows(run, rows, async (database) => {
      sql.rounds.push(await measureClaimAndSettle(database.sql, { total, batchSize, postgresPid }))
    })
    await withRows(run, rows, async (database) => {
      one.rounds.push(await measureRetriers(run, database, { total, processes: 1 }))
    })
    await withRows(run, rows, async (database) => {
      two.rounds.push(await measureRetriers(run, database, { total, processes: 2 }))
    })
    if (run.quick) continue
    await withRows(run, { ...rows, waiting: waitingRows }, async (database) => {
      behind.rounds.push(await measureRetriers(run, database, { total, processes: 1 }))
    })
  }
  const floor = slowest([producer, sql])
  run.print(formatVariants([producer, sql, one, two, ...(run.quick ? [] : [behind])], floor))
  run.print(`The floor is the slower one: ${floor.name}.`)
}

function variant(name: string): { name: string; rounds: Measurement[] } {
  return { name, rounds: [] }
}

type Rows = { total: number; topics: readonly string[]; waiting: number }

async function withRows(
  run: BenchRun,
  { total, topics, waiting }: Rows,
  work: (database: BenchDatabase) => Promise<void>,
): Promise<void> {
  await withBenchDatabase(run, async (database) => {
    await insertDue(database, total, topics)
    if (waiting > 0) await insertWaiting(database, waiting, topics)
    await database.sql`vacuum analyze dlq.dlq_messages`
    await settleDatabase(database)
    await work(database)
  })
}

async function insertWaiting({ sql }: BenchDatabase, count: number, topics: readonly string[]): Promise<void> {
  await sql.begin(async (sql) => {
    await sql`set local statement_timeout = 0`
    await sql`
      insert into dlq.dlq_messages (original_topic, error_message, record_value, next_retry_at)
      select (${sql.array([...topics])}::text[])[1 + n % ${topics.length}::int], 'processing failed', 'x',
             now() + n * interval '1 s'
      from generate_series(3601, ${3600 + count}::int) n`
  })
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
}

type Measuring = { total: number; processes: 1 | 2 }

async function measureRetriers(
  run: BenchRun,
  { url, sql }: BenchDatabase,
  { total, processes }: Measuring,
): Promise<Measurement> {
  const count = async () => {
    const [row] = await sql<{ settled: number }[]>`select count(*)::int as settled from dlq.dlq_attempts`
    return row!.settled
  }
  const options = { name: 'retrier' as const, databaseUrl: url, env: { DLQ_RETRY_BATCH_SIZE: String(batchSize) } }
  const measuring = { total, count, pollMs: 100, postgresPid: run.stack.postgres?.pid }
  const measured = await withService(run, options, (first) =>
    processes === 1
      ? measureService(first, measuring)
      : withService(run, options, (second) => measureService([first, second], measuring)),
  )
  const [row] = await sql<{ resolved: number }[]>`
    select count(*)::int as resolved from dlq.dlq_messages where status = 'RESOLVED'`
  if (row!.resolved !== total) throw new Error(`the retrier resolved ${row!.resolved} messages of ${total}`)
  return measured
}
