// How fast one retrier publishes due messages, compared with a bare producer and with bare SQL.

import { setTimeout as sleep } from 'node:timers/promises'
import type { NewMessage } from 'dlq-core/domain/message/new-message.ts'
import { deriveAttemptId } from 'dlq-core/domain/record/message-id.ts'
import { insertMessages, withHeadersWritten } from 'dlq-core/queries/ingest/message-insert.ts'
import { loadConfig } from 'dlq-core/runtime/config/config.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { ServiceProcess } from 'dlq-testing/fleet/service-process.ts'
import { createTopicsNamed } from 'dlq-testing/kafka/create-topics.ts'
import { toRepublishedRecord } from '../../../../services/retrier/src/publish/republished-record.ts'
import { groupIdOf } from '../api/api-rows.ts'
import { floorRows } from '../ingest/ingest-floor.ts'
import {
  type BenchDatabase,
  type BenchRun,
  connectBenchKafka,
  settleDatabase,
  startBenchService,
  withBenchDatabase,
} from '../measure/bench-run.ts'
import { type Measurement, measureService } from '../measure/measure.ts'
import { formatVariants, slowest } from '../measure/report.ts'
import { type FloorRecord, measureClaimAndSettle, measureProducer } from './retry-floor.ts'

const topicCount = 20
export const partitionsPerTopic = 4
const batchSize = loadConfig({ env: {}, yaml: null, needs: [] }).config.retry.batch_size

/** Due messages of the same topics that are due after the measured ones. */
const backlogRows = 1_000_000

/** Prints a table. */
export async function benchRetry(run: BenchRun): Promise<void> {
  // The first rows warm up the retriers and the floors.
  const size: Size = run.quick
    ? { warm: batchSize, measured: 2 * batchSize }
    : { warm: 5 * batchSize, measured: 20 * batchSize }
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

export type Size = { warm: number; measured: number }
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

/** Measures one process, and then two, each on due rows in front of the backlog. */
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

export async function makeReady(database: BenchDatabase): Promise<void> {
  await database.sql`vacuum analyze dlq.dlq_messages`
  await settleDatabase(database)
}

/** Small rows, because they only have to be in the way. */
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

/** Row number `index` as the ingester stores it, due for some time, of one topic after the other. */
function dueRow(rows: readonly NewMessage[], index: number, topics: readonly string[]): NewMessage {
  const row = rows[index % rows.length]!
  return {
    ...row,
    id: `${row.id.slice(0, 24)}${index.toString(16).padStart(12, '0')}`,
    original_topic: topics[index % topics.length]!,
    original_partition: index % partitionsPerTopic,
    // The ingester sets it. Without it, the retrier would assign groups during the measurement.
    group_id: groupIdOf(1),
    // Due before any backlog, however long its insertion took.
    next_retry_at: new Date(Date.now() - 86_400_000),
  }
}

function floorRecords(total: number, topics: readonly string[]): FloorRecord[] {
  const rows = floorRows(total, { topic: 'bench.dlq.v1', originalTopic: topics[0]! })
  const records = rows.map(({ message }) =>
    toRepublishedRecord({
      ...withHeadersWritten(message),
      retry_count: 1,
      attempt_id: deriveAttemptId(message.id, 1),
    }),
  )
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

export async function insertDue(database: BenchDatabase, { size, topics }: At): Promise<void> {
  const total = size.warm + size.measured
  const letters = floorRows(total, { topic: 'bench.dlq.v1', originalTopic: topics[0]! })
  const rows = letters.map(({ message }) => message)
  // The rows of an earlier measurement are resolved and keep their ids.
  await database.sql`delete from dlq.dlq_messages where dlq_topic = 'bench.dlq.v1'`
  for (let start = 0; start < total; start += batchSize) {
    const count = Math.min(batchSize, total - start)
    const due = Array.from({ length: count }, (_, at) => dueRow(rows, start + at, topics))
    await insertMessages(database.sql, due)
  }
}

/** Measures how the retriers publish all that is due. */
async function measureRetriers(
  run: BenchRun,
  database: BenchDatabase,
  { size, processes }: { size: Size; processes: number },
): Promise<Measurement> {
  await using services = new AsyncDisposableStack()
  const retriers = await startRetriers(run, database, { services, processes })
  const measured = await measurePublished(run, database, {
    retriers,
    from: size.warm,
    total: size.warm + size.measured,
  })
  await untilPublished(database.sql)
  return measured
}

/** Starts retriers while everything is paused. The pause ends when all are connected; `services` stops them. */
export async function startRetriers(
  run: BenchRun,
  { url, sql }: BenchDatabase,
  { services, processes, root }: { services: AsyncDisposableStack; processes: number; root?: string },
): Promise<ServiceProcess[]> {
  const options = { name: 'retrier' as const, databaseUrl: url, env: {}, root }
  await sql`insert into dlq.dlq_policies (pattern, paused) values ('*', true)`
  const retriers = await Promise.all(
    Array.from({ length: processes }, async () =>
      services.adopt(await startBenchService(run, options), (service) => service.stop('SIGTERM', 15_000)),
    ),
  )
  await untilConnected(sql, retriers.length)
  await sql`delete from dlq.dlq_policies`
  return retriers
}

/**
 * Measures the retriers from published message `from` to published message `total`. A count of all attempts every 200 ms
 * is 2 of 65 µs that PostgreSQL takes for each; but where nothing is due behind `total`, a seldom look sees its end late.
 */
export async function measurePublished(
  run: BenchRun,
  { sql }: BenchDatabase,
  {
    retriers,
    from,
    total,
    pollMs = 200,
  }: { retriers: readonly ServiceProcess[]; from: number; total: number; pollMs?: number },
): Promise<Measurement> {
  const count = () => countPublished(sql)
  return measureService(retriers, { total, from, count, pollMs, postgresPid: run.stack.postgres?.pid })
}

export async function countPublished(sql: Database): Promise<number> {
  const [row] = await sql<[{ n: number }]>`
    select count(*)::int as n from dlq.dlq_attempts where outcome = 'published'`
  return row.n
}

/** Until each process holds slots, and none has taken another one since the look before: versions have different numbers. */
async function untilConnected(sql: Database, processes: number): Promise<void> {
  let before = 0
  await until(60, async () => {
    const [row] = await sql<{ slots: number; owners: number }[]>`
      select count(*)::int as slots, count(distinct owner)::int as owners
      from dlq.dlq_slots where batch > 0 and owner_until > now()`
    const { slots, owners } = row!
    if (owners === processes && slots === before) return null
    before = slots
    await sleep(1000)
    return `${owners} of ${processes} retriers hold slots`
  })
}

/** The backlog gets a finished topic's share of the last batches, so some of its messages may still be under way. */
async function untilPublished(sql: Database): Promise<void> {
  await until(10, async () => {
    const [row] = await sql<{ n: number }[]>`
      select count(*)::int as n from dlq.dlq_messages
      where dlq_topic = 'bench.dlq.v1' and (status, retry_count) <> ('RESOLVED', 1)`
    return row!.n > 0 ? `the retriers left ${row!.n} messages` : null
  })
}

/** Polls every 100 ms until no part is missing. Throws the last answer when the time is up. */
async function until(seconds: number, findMissing: () => Promise<string | null>): Promise<void> {
  const deadline = Date.now() + seconds * 1000
  for (let missing = await findMissing(); missing !== null; missing = await findMissing()) {
    if (Date.now() > deadline) throw new Error(missing)
    await sleep(100)
  }
}
