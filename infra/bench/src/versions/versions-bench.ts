// What a change costs or gives: the services of another checkout and ours in turns, over the same records, in the same
// rounds, each on a database that its own migrations made.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { ServiceProcess } from 'dlq-testing/fleet/service-process.ts'
import { createTopics } from 'dlq-testing/kafka/create-topics.ts'
import { countStored, readingAll } from '../ingest/ingest-bench.ts'
import { recordKinds } from '../ingest/real-dead-letters.ts'
import {
  type BenchDatabase,
  type BenchRun,
  connectBenchKafka,
  settleDatabase,
  startBenchService,
  tableBytes,
  withBenchDatabase,
  withWal,
} from '../measure/bench-run.ts'
import { type Measurement, measureService } from '../measure/measure.ts'
import { type Figure, formatComparison } from '../measure/report.ts'
import { measurePublished, startRetriers } from '../retry/retry-bench.ts'

const topicCount = 8
const partitionsPerTarget = 4
const recordsPerSend = 1000

/** A checkout with its dependencies installed. */
type Version = { name: string; root: string }

/**
 * What is stored is sent once: a part by one process, and a part by two. Whoever comes first pays more
 * (decision 79). Starting is over before each process has sent `warm`: V8 compiles for about a second, in each of them.
 * A `tail` is left when the measurement ends: what comes last is sent in smaller batches, and then nothing until somebody
 * looks, which is a larger part of a shorter time.
 */
type Sizes = { stored: number; warm: number; sent: number; tail: number }

const ours = fileURLToPath(new URL('../../../../', import.meta.url))

/**
 * Prints a table: medians of each version, and the median of the ratios of the rounds.
 *
 * @throws Error where no other checkout is named, or it has no services
 */
export async function benchVersions(run: BenchRun): Promise<void> {
  if (run.against === null) throw new Error('versions: --against names the folder of the other checkout')
  const versions: [Version, Version] = [
    { name: 'theirs', root: run.against },
    { name: 'ours', root: ours },
  ]
  const sizes: Sizes = run.quick
    ? { stored: 8000, warm: 500, sent: 2000, tail: 500 }
    : { stored: 170_000, warm: 20_000, sent: 40_000, tail: 10_000 }
  const prefix = `bench-${process.pid}`
  run.print(
    `versions: ${sizes.stored} records (${recordKinds[run.records].name}) on ${topicCount} topics, then ${sizes.sent} due messages of them`,
  )
  await produceRecords(run, prefix, sizes.stored)
  const figures = new Map<string, Figure>()
  for (let round = 1; round <= run.rounds; round++) {
    run.print(`  round ${round} of ${run.rounds}`)
    // Who goes first changes, because a machine that warms up or tires favours one of them.
    for (const version of round % 2 === 1 ? versions : versions.toReversed()) {
      const side = version.root === ours ? 'ours' : 'theirs'
      // So does the number of processes that go first, in another rhythm: each is measured first with each.
      const counts = Math.floor(round / 2) % 2 === 0 ? [1, 2] : [2, 1]
      const seen = await measureVersion(run, version, { prefix, sizes, counts })
      for (const { name, better, value } of seen) {
        const figure = figures.get(name) ?? { name, better, theirs: [], ours: [] }
        figure[side].push(value)
        figures.set(name, figure)
      }
    }
  }
  run.print(formatComparison([...figures.values()]))
}

type Seen = { name: string; better: 'higher' | 'lower'; value: number }

/** A database that was dropped, and records that were just written, leave the disk busy for a while. */
async function waitForDisk({ sql }: BenchDatabase): Promise<void> {
  await sql`checkpoint`
  await promisify(execFile)('sync')
}

async function measureVersion(
  run: BenchRun,
  version: Version,
  { prefix, sizes, counts }: { prefix: string; sizes: Sizes; counts: readonly number[] },
): Promise<Seen[]> {
  return withBenchDatabase(
    run,
    async (database) => {
      await waitForDisk(database)
      const ingest = await withWal(database, sizes.stored, () =>
        measureStoring(run, version, { database, prefix, sizes }),
      )
      const bytes = await tableBytes(database)
      const seen = [
        ...seenOf('stored', ingest),
        { name: 'stored: bytes/row', better: 'lower' as const, value: bytes / sizes.stored },
      ]
      for (const processes of counts) {
        const total = processes * sizes.warm + sizes.sent + sizes.tail
        await makeDue(database, total)
        const sent = await withWal(database, total, () => measureSending(run, version, { database, sizes, processes }))
        seen.push(...seenOf(processes === 1 ? 'sent' : 'sent by two', sent))
      }
      return seen
    },
    (databaseUrl) => migrate(version, databaseUrl),
  )
}

async function migrate({ root }: Version, databaseUrl: string): Promise<void> {
  const env = { ...process.env, DATABASE_URL: databaseUrl }
  await promisify(execFile)(process.execPath, [join(root, 'db/migrate.ts'), 'up'], { cwd: root, env })
}

type Costs = Measurement & { walBytes: number }

function seenOf(what: string, { rowsPerSecond, clientMicros, postgresMicros, walBytes }: Costs): Seen[] {
  return [
    { name: `${what}: rows/s`, better: 'higher', value: rowsPerSecond },
    { name: `${what}: client µs/row`, better: 'lower', value: clientMicros ?? Number.NaN },
    { name: `${what}: PostgreSQL µs/row`, better: 'lower', value: postgresMicros ?? Number.NaN },
    { name: `${what}: WAL bytes/row`, better: 'lower', value: walBytes },
  ]
}

async function measureStoring(
  run: BenchRun,
  { root }: Version,
  { database, prefix, sizes }: { database: BenchDatabase; prefix: string; sizes: Sizes },
): Promise<Measurement> {
  const env = readingAll(`${prefix}-*.dlq.v1`)
  await using services = new AsyncDisposableStack()
  const ingester: ServiceProcess = services.adopt(
    await startBenchService(run, { name: 'ingester', databaseUrl: database.url, env, root }),
    (service) => service.stop('SIGTERM', 15_000),
  )
  return await measureService(ingester, {
    // The first rows make the groups, and warm the service up.
    from: sizes.stored / 4,
    total: sizes.stored,
    count: () => countStored(database),
    // Seldom, because each look reads what all processes of the machine have used.
    pollMs: 100,
    postgresPid: run.stack.postgres?.pid,
  })
}

/**
 * Makes as many messages due as are measured, by plain SQL, in rows as freshly stored ones are. Payloads that ingestion
 * put off are stored before: else the version that puts them off is measured with work that is not sending.
 */
async function makeDue(database: BenchDatabase, count: number): Promise<void> {
  // One connection, because it takes longer than the services' timeout, which is a setting of the session.
  const sql = await database.sql.reserve()
  try {
    await sql`set statement_timeout = 0`
    await sql`truncate dlq.dlq_attempts`
    const [room] = await sql<{ exists: boolean }[]>`
      select to_regclass('dlq.dlq_deferred_payloads') is not null as exists`
    if (room!.exists) {
      await sql`
        update dlq.dlq_messages set payload = convert_from(record_value, 'utf8')::jsonb
        where payload is null and get_byte(record_value, 0) = ascii('{')`
      await sql`truncate dlq.dlq_deferred_payloads`
    }
    await sql`update dlq.dlq_messages set next_retry_at = now() + '1 year' where status = 'PENDING'`
    await sql`
      update dlq.dlq_messages set next_retry_at = now() - interval '1 day'
      where id in (select id from dlq.dlq_messages where status = 'PENDING' order by id limit ${count})`
    await sql`vacuum (full, analyze) dlq.dlq_messages`
    await sql`reset statement_timeout`
  } finally {
    sql.release()
  }
  await settleDatabase(database)
}

async function measureSending(
  run: BenchRun,
  { root }: Version,
  { database, sizes, processes }: { database: BenchDatabase; sizes: Sizes; processes: number },
): Promise<Measurement> {
  await using services = new AsyncDisposableStack()
  const retriers = await startRetriers(run, database, { services, processes, root })
  const from = processes * sizes.warm
  const measured = await measurePublished(run, database, { retriers, from, total: from + sizes.sent, pollMs: 500 })
  // What a row costs in WAL is asked when all have been sent.
  await measurePublished(run, database, { retriers, from, total: from + sizes.sent + sizes.tail })
  return measured
}

/** Dead letters of topics whose names allow them to send, the same number on each. */
async function produceRecords(run: BenchRun, prefix: string, total: number): Promise<void> {
  const kafka = connectBenchKafka(run)
  const admin = kafka.admin()
  const producer = kafka.producer({ idempotent: true })
  const targets = Array.from({ length: topicCount }, (_, at) => `${prefix}-${at}`)
  try {
    await Promise.all([admin.connect(), producer.connect()])
    await createTopics(admin, [
      ...targets.map((topic) => ({ topic: `${topic}.dlq.v1`, numPartitions: 1 })),
      ...targets.map((topic) => ({ topic, numPartitions: partitionsPerTarget })),
    ])
    for (let start = 0; start < total; start += recordsPerSend) {
      const count = Math.min(recordsPerSend, total - start)
      await producer.sendBatch({
        acks: -1,
        topicMessages: targets.map((originalTopic, topicAt) => ({
          topic: `${originalTopic}.dlq.v1`,
          messages: Array.from({ length: count }, (_, at) => start + at)
            .filter((index) => index % topicCount === topicAt)
            .map((index) => recordKinds[run.records].make(index, { originalTopic })),
        })),
      })
    }
  } finally {
    await Promise.all([admin.disconnect(), producer.disconnect()])
  }
}
