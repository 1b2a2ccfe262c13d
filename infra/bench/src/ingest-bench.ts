// How fast one ingester stores a backlog, against bare inserts of the same rows in the same rounds.

import { createTopics } from 'dlq-testing/create-topics.ts'
import {
  type BenchDatabase,
  type BenchRun,
  connectBenchKafka,
  settleDatabase,
  withBenchDatabase,
  withService,
} from './bench-run.ts'
import { benchRecord } from './dead-letters.ts'
import { floorRows, measureValuesOnly, measureWholeRows } from './ingest-floor.ts'
import { type Measurement, measureService } from './measure.ts'
import { formatVariants, type Variant } from './report.ts'

const partitions = 8
const recordsPerSend = 1000
const existingRows = 1_000_000
const originalTopic = 'orders'

/** Settings of the ingester that are compared with each other. */
const settings: readonly { name: string; env: NodeJS.ProcessEnv }[] = [{ name: 'ingester, payload stored', env: {} }]

/** Prints a table. */
export async function benchIngest(run: BenchRun): Promise<void> {
  const total = run.quick ? 20_000 : 100_000
  const topic = `bench-${process.pid}.dlq.v1`
  run.print(`ingest: ${total} records of 1 KB JSON, 6 headers and a 2 KB stack trace, on ${partitions} partitions`)
  await produceBacklog(run, topic, total)

  const options = { total, rows: floorRows(total, { topic, originalTopic }), postgresPid: run.stack.postgres?.pid }
  const whole: Measurement[] = []
  const valuesOnly: Measurement[] = []
  const ingesters = settings.map(({ name, env }) => ({ name, env, rounds: [] as Measurement[] }))
  const onExisting: Measurement[] = []
  for (let round = 1; round <= run.rounds; round++) {
    run.print(`  round ${round} of ${run.rounds}`)
    await withBenchDatabase(run, async (database) => {
      whole.push(await measureWholeRows(database, options))
      await settleDatabase(database)
      valuesOnly.push(await measureValuesOnly(database, options))
      await settleDatabase(database)
    })
    for (const { env, rounds } of ingesters) {
      await withBenchDatabase(run, async (database) => {
        rounds.push(await measureIngester(run, database, { topic, total, env }))
        if (run.quick || env !== settings[0]!.env) return
        await growTable(database)
        await forgetPositions(database)
        onExisting.push(await measureIngester(run, database, { topic, total, env }))
      })
    }
  }
  const floor: Variant = { name: 'floor: bare inserts of the same rows', rounds: whole }
  const variants = [floor, ...ingesters, { name: 'bare inserts of id and value only', rounds: valuesOnly }]
  if (onExisting.length > 0) {
    variants.push({ name: `${ingesters[0]!.name}, onto ${existingRows} rows`, rounds: onExisting })
  }
  run.print(formatVariants(variants, floor))
}

async function produceBacklog(run: BenchRun, topic: string, total: number): Promise<void> {
  const kafka = connectBenchKafka(run)
  const admin = kafka.admin()
  const producer = kafka.producer({ idempotent: true })
  try {
    await Promise.all([admin.connect(), producer.connect()])
    await createTopics(admin, [{ topic, numPartitions: partitions }])
    for (let start = 0; start < total; start += recordsPerSend) {
      const messages = Array.from({ length: Math.min(recordsPerSend, total - start) }, (_, at) => {
        const { key, value, headers } = benchRecord(start + at, { originalTopic })
        return { key, value, headers, partition: (start + at) % partitions }
      })
      await producer.send({ topic, acks: -1, messages })
    }
  } finally {
    await Promise.all([admin.disconnect(), producer.disconnect()])
  }
}

async function measureIngester(
  run: BenchRun,
  { url, sql }: BenchDatabase,
  { topic, total, env }: { topic: string; total: number; env: NodeJS.ProcessEnv },
): Promise<Measurement> {
  const count = async () => {
    const [row] = await sql<{ stored: number }[]>`
      select coalesce(sum(next_offset), 0)::float8 as stored from dlq.dlq_positions where topic = ${topic}`
    return row!.stored
  }
  const serviceEnv = {
    DLQ_KAFKA_DLQ_TOPIC_PATTERN: topic,
    DLQ_KAFKA_CONSUMER_GROUP: `bench-${process.pid}-${Date.now()}`,
    ...env,
  }
  const measured = await withService(run, { name: 'ingester', databaseUrl: url, env: serviceEnv }, (service) =>
    measureService(service, { total, count, pollMs: 25, postgresPid: run.stack.postgres?.pid }),
  )
  const [row] = await sql<{ stored: number }[]>`
    select count(*)::int as stored from dlq.dlq_messages where dlq_topic = ${topic}`
  if (row!.stored !== total) throw new Error(`the ingester stored ${row!.stored} rows of ${total}`)
  return measured
}

/** Copies of the rows that are there, under ids of the same times, of a topic that is not read. */
async function growTable(database: BenchDatabase): Promise<void> {
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

async function forgetPositions({ sql }: BenchDatabase): Promise<void> {
  await sql`delete from dlq.dlq_positions`
}
