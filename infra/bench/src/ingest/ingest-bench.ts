// How fast one ingester stores a backlog, compared with plain inserts of the same rows in the same rounds.

import { setTimeout as sleep } from 'node:timers/promises'
import type { DeadLetter, NewMessage } from 'dlq-core/domain/message/new-message.ts'
import { createTopics } from 'dlq-testing/kafka/create-topics.ts'
import { createFramesRegister } from '../../../../services/ingester/src/registers/frames-register.ts'
import {
  type BenchDatabase,
  type BenchRun,
  connectBenchKafka,
  settleDatabase,
  tableBytes,
  withBenchDatabase,
  withService,
  withWal,
} from '../measure/bench-run.ts'
import { type Measurement, measureService } from '../measure/measure.ts'
import { formatVariants, type Variant } from '../measure/report.ts'
import { medianRatio } from '../measure/statistics.ts'
import { formatNumber } from '../measure/table.ts'
import { benchRecord } from './dead-letters.ts'
import { floorRows, measureCopy, measureValuesOnly, measureWholeRows } from './ingest-floor.ts'
import { type RecordKind, recordKinds } from './real-dead-letters.ts'

const partitions = 8
const recordsPerSend = 1000
export const originalTopic = 'orders'

/** Measures `measured` records of a backlog of `backlog`, and once all of it, for its memory. */
const sizes = {
  full: { backlog: 500_000, measured: 100_000, existingRows: 1_000_000 },
  quick: { backlog: 20_000, measured: 20_000, existingRows: 0 },
}

type Ingester = Variant & { env: NodeJS.ProcessEnv; rounds: Measurement[] }

/** Prints a table for each kind of records, the one like real dead letters first, and compares it with the limits. */
export async function benchIngest(run: BenchRun): Promise<void> {
  for (const kind of Object.keys(recordKinds) as RecordKind[]) await benchKind(run, kind)
}

async function benchKind(run: BenchRun, kind: RecordKind): Promise<void> {
  const { backlog, measured, existingRows } = run.quick ? sizes.quick : sizes.full
  const { name, make } = recordKinds[kind]
  const topic = `bench-${process.pid}-${kind}.dlq.v1`
  run.print(`ingest: ${measured} records on ${partitions} partitions: ${name}`)
  await produceBacklog(run, topic, backlog, make)

  const letters = floorRows(measured, { topic, originalTopic, make })
  const whole = letters.map(({ message }) => message)
  const options = { total: measured, postgresPid: run.stack.postgres?.pid, rows: whole }
  const variant = (name: string, env: NodeJS.ProcessEnv = {}): Ingester => ({ name, env, rounds: [] })
  const floor = variant('floor: bare inserts of the same rows, whole')
  const copied = variant('bare COPY of the same rows, as they are stored')
  const valuesOnly = variant('bare inserts of id and value only')
  const stored = variant('ingester, payload stored', { DLQ_RETRY_PAYLOAD: 'stored' })
  const uncounted = variant('ingester, payload stored, not counted', stored.env)
  const derived = variant('ingester, payload derived', { DLQ_RETRY_PAYLOAD: 'derived' })
  const onExisting = variant(`ingester, payload stored, onto ${existingRows} rows`)
  const wholeBacklog = variant(`ingester, payload stored, all of ${backlog} records`)
  for (let round = 1; round <= run.rounds; round++) {
    run.print(`  round ${round} of ${run.rounds}`)
    await withBenchDatabase(run, async (database) => {
      floor.rounds.push(await withWal(database, measured, () => measureWholeRows(database, options)))
      await settleDatabase(database)
      const rows = await storedRows(database, letters)
      copied.rounds.push(await withWal(database, measured, () => measureCopy(database, { ...options, rows })))
      await settleDatabase(database)
      valuesOnly.rounds.push(await withWal(database, measured, () => measureValuesOnly(database, options)))
      await settleDatabase(database)
    })
    await withBenchDatabase(run, async (database) => {
      stored.rounds.push(await measureIngester(run, database, { topic, total: measured, env: stored.env }))
      if (existingRows === 0) return
      await growTable(database, existingRows)
      await forgetPositions(database)
      onExisting.rounds.push(await measureIngester(run, database, { topic, total: measured, env: stored.env }))
    })
    await withBenchDatabase(run, async (database) => {
      // COPY into the partitioned table fires its triggers, and not those of its partitions.
      await database.sql`alter table dlq.dlq_messages disable trigger trg_dlq_summary_insert`
      uncounted.rounds.push(await measureIngester(run, database, { topic, total: measured, env: uncounted.env }))
    })
    await withBenchDatabase(run, async (database) => {
      derived.rounds.push(await measureIngester(run, database, { topic, total: measured, env: derived.env }))
    })
  }
  if (backlog > measured) {
    await withBenchDatabase(run, async (database) => {
      wholeBacklog.rounds.push(await measureIngester(run, database, { topic, total: backlog, env: stored.env }))
    })
  }
  const variants = [floor, copied, stored, uncounted, derived, valuesOnly, onExisting, wholeBacklog]
  run.print(
    formatVariants(
      variants.filter(({ rounds }) => rounds.length > 0),
      floor,
    ),
  )
  const rates = ({ rounds }: Variant) => rounds.map(({ rowsPerSecond }) => rowsPerSecond)
  run.print(`of the floor: ${formatNumber(medianRatio(rates(stored), rates(floor)), 2)} (aim: at least 0.60)`)
  const ofCopy = formatNumber(medianRatio(rates(stored), rates(copied)), 2)
  run.print(`of bare COPY of the same rows: ${ofCopy} (aim: at least 0.60)`)
  const counted = formatNumber(medianRatio(rates(stored), rates(uncounted)), 2)
  run.print(`counted, of the rate without the triggers: ${counted} (aim: at least 0.90)`)
  if (existingRows === 0) return
  const onto = formatNumber(medianRatio(rates(onExisting), rates(stored)), 2)
  run.print(`onto ${existingRows} rows, of the rate onto none: ${onto} (aim: at least 0.90)`)
  const peak = formatNumber(wholeBacklog.rounds[0]!.peakMemoryMiB)
  run.print(`most memory over a backlog of ${backlog} records: ${peak} MiB (aim: at most 256)`)
}

/** The rows without the frames and headers that the ingester stores once. */
async function storedRows({ sql }: BenchDatabase, letters: readonly DeadLetter[]): Promise<NewMessage[]> {
  const frames = createFramesRegister(sql, { now: Date.now })
  await frames.learn(letters)
  return frames.shorten(letters.map(({ message }) => message))
}

export async function produceBacklog(run: BenchRun, topic: string, total: number, make = benchRecord): Promise<void> {
  const kafka = connectBenchKafka(run)
  const admin = kafka.admin()
  const producer = kafka.producer({ idempotent: true })
  try {
    await Promise.all([admin.connect(), producer.connect()])
    await createTopics(admin, [{ topic, numPartitions: partitions }])
    for (let start = 0; start < total; start += recordsPerSend) {
      const messages = Array.from({ length: Math.min(recordsPerSend, total - start) }, (_, at) => {
        const { key, value, headers } = make(start + at, { originalTopic })
        return { key, value, headers, partition: (start + at) % partitions }
      })
      await producer.send({ topic, acks: -1, messages })
    }
  } finally {
    await Promise.all([admin.disconnect(), producer.disconnect()])
  }
}

/** Settings of ingesters that read these DLQ topics from their beginning, whoever has read them before. */
export function readingAll(dlqTopics: string): NodeJS.ProcessEnv {
  return { DLQ_KAFKA_DLQ_TOPIC_PATTERN: dlqTopics, DLQ_KAFKA_CONSUMER_GROUP: `bench-${process.pid}-${Date.now()}` }
}

/** How many records of the DLQ topic are stored; of all topics where none is named. */
export async function countStored({ sql }: BenchDatabase, dlqTopic: string | null = null): Promise<number> {
  const [row] = await sql<{ stored: number }[]>`
    select coalesce(sum(next_offset), 0)::float8 as stored from dlq.dlq_positions
    where ${dlqTopic}::text is null or topic = ${dlqTopic}`
  return row!.stored
}

/** `begin`: produces what is measured, once the ingester has stored a first record of each partition. For backlogs of a single batch. */
export async function measureIngester(
  run: BenchRun,
  database: BenchDatabase,
  { topic, total, env, begin }: { topic: string; total: number; env: NodeJS.ProcessEnv; begin?: () => Promise<void> },
): Promise<Measurement> {
  const { url, sql } = database
  const bytesBefore = await tableBytes(database)
  const count = () => countStored(database, topic)
  const serviceEnv = { ...readingAll(topic), ...env }
  const measured = await withService(run, { name: 'ingester', databaseUrl: url, env: serviceEnv }, async (service) => {
    while (begin !== undefined && (await count()) < partitions && !service.hasExited()) await sleep(25)
    const [measurement] = await Promise.all([
      withWal(database, total, () =>
        measureService(service, {
          // The first rows make the groups, and warm the service up, as the floors are.
          from: begin === undefined ? total / 4 : 1,
          total,
          count,
          // Seldom, because each look reads what all processes of the machine have used.
          pollMs: begin === undefined ? 100 : 25,
          postgresPid: run.stack.postgres?.pid,
        }),
      ),
      begin?.(),
    ])
    return measurement
  })
  const [row] = await sql<{ stored: number }[]>`
    select count(*)::int as stored from dlq.dlq_messages
    where original_topic = ${originalTopic} and dlq_topic = ${topic}`
  // More time, where the backlog is longer than the measured part.
  if (row!.stored < total) throw new Error(`the ingester stored ${row!.stored} rows of ${total}`)
  return { ...measured, storedBytes: ((await tableBytes(database)) - bytesBefore) / row!.stored }
}

/** Copies of the existing rows, under ids of the same times, for a topic that is not read. */
async function growTable(database: BenchDatabase, existingRows: number): Promise<void> {
  const [table] = await database.sql<{ columns: string }[]>`
    select string_agg(quote_ident(column_name), ', ') as columns from information_schema.columns
    where table_schema = 'dlq' and table_name = 'dlq_messages' and column_name not in ('id', 'dlq_topic')`
  const columns = database.sql.unsafe(table!.columns)
  // One connection, because it takes minutes and the services' timeout is a setting of the session.
  const sql = await database.sql.reserve()
  try {
    await sql`set statement_timeout = 0`
    await sql`
      with gone as (delete from dlq.dlq_messages returning *)
      insert into dlq.dlq_messages (id, dlq_topic, ${columns})
      select (left(id::text, 15) || substr(gen_random_uuid()::text, 16))::uuid, 'bench-existing.dlq.v1', ${columns}
      from gone cross join generate_series(1, greatest(1, ${existingRows}::int / (select count(*) from gone)::int))`
    await sql`vacuum analyze dlq.dlq_messages`
    await sql`checkpoint`
    await sql`reset statement_timeout`
  } finally {
    sql.release()
  }
}

export async function forgetPositions({ sql }: BenchDatabase): Promise<void> {
  await sql`delete from dlq.dlq_positions`
}
