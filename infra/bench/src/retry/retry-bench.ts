// How fast one retrier works off due messages, against a bare producer and against bare SQL.

import { setTimeout as sleep } from 'node:timers/promises'
import type { NewMessage } from 'dlq-core/new-message.ts'
import { insertMessages } from 'dlq-core/queries/message-insert.ts'
import { toRepublishedRecord } from 'dlq-core/republished-record.ts'
import type { Database } from 'dlq-core/runtime/database.ts'
import { createTopicsNamed } from 'dlq-testing/create-topics.ts'
import { groupIdOf } from './api-rows.ts'
import {
  type BenchDatabase,
  type BenchRun,
  connectBenchKafka,
  settleDatabase,
  startBenchService,
  withBenchDatabase,
} from './bench-run.ts'
import { floorRows } from './ingest-floor.ts'
import { type Measurement, measureService } from './measure.ts'
import { formatVariants, slowest } from './report.ts'
import { type FloorRecord, measureClaimAndSettle, measureProducer } from './retry-floor.ts'

const topicCount = 20
const partitionsPerTopic = 4
const batchSize = 500

/** Due messages of the same topics that come after those that are measured. */
const backlogRows = 1_000_000

/** Prints a table. */
export async function benchRetry(run: BenchRun): Promise<void> {
  // The first rows warm everybody up, the floors too.
  const size: Size = run.quick ? { warm: 500, measured: 2000 } : { warm: 5000, measured: 10_000 }
  const topics = Array.from({ length: topicCount }, (_, at) => `bench-${process.pid}-${at}`)
  run.print(`retry: ${size.measured} due messages over ${topicCount} topics, at most ${batchSize} per batch`)
  await createTopicsNamed(connectBenchKafka(run), topics, partitionsPerTopic)
  const floors = [variant('bare transactional producer'), variant('bare claim and settle')] as const
  const twoFloors = variant('bare claim and settle, 2 connections')
  const few = [variant('retrier'), variant('retrier, 2 processes')] as const
  const behind = few.map(({ name }) => variant(`${name}, ${backlogRows.toLocaleString('en')} due`))
  for (let round = 1; round <= run.rounds; round++) {
    run.print(`  round ${round} of ${run.rounds}`)
    const at = { size, topics }
    floors[0].rounds.push(await producerFloor(run, at))
    floors[1].rounds.push(await sqlFloor(run, { ...at, connections: 1 }))
    twoFloors.rounds.push(await sqlFloor(run, { ...at, connections: 2 }))
    await measureOneAndTwo(run, { ...at, backlog: 0, variants: few })
    if (!run.quick) await measureOneAndTwo(run, { ...at, backlog: backlogRows, variants: behind })
  }
  const floor = slowest([...floors])
  run.print(formatVariants([...floors, twoFloors, ...few, ...(run.quick ? [] : behind)], floor))
  run.print(`The floor is the slower one of the first two: ${floor.name}.`)
}

type Size = { warm: number; measured: number }
type At = { size: Size; topics: readonly string[] }
type Named = { name: string; rounds: Measurement[] }

function variant(name: string): Named {
  return { name, rounds: [] }
}

async function producerFloor(run: BenchRun, { size, topics }: At): Promise<Measurement> {
  const records = floorRecords(size.warm + size.measured, topics)
  return measureProducer(connectBenchKafka(run), { records, ...size, batchSize, postgresPid: run.stack.postgres?.pid })
}

async function sqlFloor(run: BenchRun, { size, topics, connections }: At & { connections: number }) {
  return withBenchDatabase(run, async (database) => {
    await insertDue(database, { size, topics })
    await makeReady(database)
    const options = { ...size, batchSize, connections, postgresPid: run.stack.postgres?.pid }
    return measureClaimAndSettle(database.sql, options)
  })
}

/** Measures one process, and then two, each on due rows that stand before the backlog. */
async function measureOneAndTwo(
  run: BenchRun,
  { size, topics, backlog, variants }: At & { backlog: number; variants: readonly Named[] },
): Promise<void> {
  await withBenchDatabase(run, async (database) => {
    if (backlog > 0) await insertBacklog(database, backlog, topics)
    for (const [at, { rounds }] of variants.entries()) {
      await insertDue(database, { size, topics })
      await database.sql`truncate dlq.dlq_attempts`
      await makeReady(database)
      rounds.push(await measureRetriers(run, database, { size, processes: at + 1 }))
    }
  })
}

async function makeReady(database: BenchDatabase): Promise<void> {
  await database.sql`vacuum analyze dlq.dlq_messages`
  await settleDatabase(database)
}

/** Small ones: they are there to be in the way. */
async function insertBacklog({ sql }: BenchDatabase, count: number, topics: readonly string[]): Promise<void> {
  await sql.begin(async (sql) => {
    await sql`set local statement_timeout = 0`
    await sql`
      insert into dlq.dlq_messages (original_topic, error_message, record_value, record_headers, next_retry_at, group_id)
      select (${sql.array([...topics])}::text[])[1 + n % ${topics.length}::int], 'processing failed', 'x', '[]', now(),
             ${groupIdOf(1)}::uuid
      from generate_series(1, ${count}::int) n`
  })
}

/** Row number `index` as the ingester stores it, due since a while, in turn of one topic and the next. */
function dueRow(rows: readonly NewMessage[], index: number, topics: readonly string[]): NewMessage {
  const row = rows[index % rows.length]!
  return {
    ...row,
    id: `${row.id.slice(0, 24)}${index.toString(16).padStart(12, '0')}`,
    original_topic: topics[index % topics.length]!,
    original_partition: index % partitionsPerTopic,
    // As the ingester sets it: else the retrier would look for one of each meanwhile.
    group_id: groupIdOf(1),
    // Before any backlog, however long that took to insert.
    next_retry_at: new Date(Date.now() - 86_400_000),
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

async function insertDue(database: BenchDatabase, { size, topics }: At): Promise<void> {
  const total = size.warm + size.measured
  const rows = floorRows(total, { topic: 'bench.dlq.v1', originalTopic: topics[0]! })
  // Those of an earlier measurement are resolved; ids are theirs for good.
  await database.sql`delete from dlq.dlq_messages where dlq_topic = 'bench.dlq.v1'`
  for (let start = 0; start < total; start += batchSize) {
    const count = Math.min(batchSize, total - start)
    const due = Array.from({ length: count }, (_, at) => dueRow(rows, start + at, topics))
    await insertMessages(database.sql, due)
  }
}

type Measuring = { size: Size; processes: number }

/** The retriers are started on a pause, which ends when all are connected. */
async function measureRetriers(
  run: BenchRun,
  { url, sql }: BenchDatabase,
  { size, processes }: Measuring,
): Promise<Measurement> {
  const total = size.warm + size.measured
  const options = { name: 'retrier' as const, databaseUrl: url, env: { DLQ_RETRY_BATCH_SIZE: String(batchSize) } }
  await sql`insert into dlq.dlq_policies (pattern, paused) values ('*', true)`
  await using services = new AsyncDisposableStack()
  const retriers = await Promise.all(
    Array.from({ length: processes }, async () =>
      services.adopt(await startBenchService(run, options), (service) => service.stop('SIGTERM', 15_000)),
    ),
  )
  await untilConnected(sql, retriers.length * slotsPerProcess)
  await sql`delete from dlq.dlq_policies`
  const measured = await measureService(retriers, {
    ...{ total, from: size.warm, pollMs: 50, postgresPid: run.stack.postgres?.pid },
    count: async () => (await sql<{ n: number }[]>`select count(*)::int as n from dlq.dlq_attempts`)[0]!.n,
  })
  await untilPublished(sql)
  return measured
}

const slotsPerProcess = 2

async function untilConnected(sql: Database, slots: number): Promise<void> {
  await until(60, async () => {
    const [row] = await sql<{ n: number }[]>`
      select count(*)::int as n from dlq.dlq_slots where batch > 0 and owner_until > now()`
    return row!.n < slots ? `the retriers hold ${row!.n} of ${slots} slots` : null
  })
}

/** A topic that was done sooner has given its share of the last batches to the backlog, so some may still be under way. */
async function untilPublished(sql: Database): Promise<void> {
  await until(10, async () => {
    const [row] = await sql<{ n: number }[]>`
      select count(*)::int as n from dlq.dlq_messages
      where dlq_topic = 'bench.dlq.v1' and (status, retry_count) <> ('RESOLVED', 1)`
    return row!.n > 0 ? `the retriers left ${row!.n} messages` : null
  })
}

/** Asks every 100 ms what is missing. Throws it after so many seconds. */
async function until(seconds: number, findMissing: () => Promise<string | null>): Promise<void> {
  const deadline = Date.now() + seconds * 1000
  for (let missing = await findMissing(); missing !== null; missing = await findMissing()) {
    if (Date.now() > deadline) throw new Error(missing)
    await sleep(100)
  }
}
