// Finds queries that become slower with the number of rows. Each query runs on a database of 23 million rows and on one
// of a million, one after the other in the same call.

import { randomUUID } from 'node:crypto'
import { defaultRetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { claimBatch } from 'dlq-core/queries/retry/batches.ts'
import { listDueTopics } from 'dlq-core/queries/retry/due-topics.ts'
import { takeSlot } from 'dlq-core/queries/retry/slots.ts'
import type { Sql } from 'dlq-core/queries/sql.ts'
import type { ServiceProcess } from 'dlq-testing/fleet/service-process.ts'
import { archiveSettled } from '../../../../services/retrier/src/cron/archive-settled.ts'
import { casesOf, connections } from '../api/api-bench.ts'
import type { Case } from '../api/steady-load.ts'
import { loadSteadily } from '../api/steady-load.ts'
import { forgetPositions, measureIngester, originalTopic, produceBacklog } from '../ingest/ingest-bench.ts'
import { type BenchRun, settleDatabase, startBenchService } from '../measure/bench-run.ts'
import type { Measurement } from '../measure/measure.ts'
import { median, medianRatio } from '../measure/statistics.ts'
import { formatNumber, formatTable } from '../measure/table.ts'
import { openSizeDatabase, type SizeDatabase, spoilDatabase } from './size-database.ts'
import { months } from './size-rows.ts'
import { storingBeside } from './storing-beside.ts'

/** Requests per second, few enough for the machine, so that the latency is that of an answer and not of a queue. */
const evenRate = 50
const claimSize = 500
const claimTopics = 20
/** Records of one measurement of the ingester. */
const ingested = 40_000

type Sizes = readonly [small: SizeDatabase, large: SizeDatabase]

/** Prints tables. */
export async function benchSize(run: BenchRun): Promise<void> {
  const smallRows = run.rows > 1_000_000 ? 1_000_000 : Math.floor(run.rows / 10)
  run.print(`size: ${formatNumber(smallRows)} rows and ${formatNumber(run.rows)} rows`)
  await using small = await openSizeDatabase(run, smallRows)
  await using large = await openSizeDatabase(run, run.rows)
  const sizes: Sizes = [small, large]
  await benchReads(run, sizes)
  await benchCounts(run, sizes)
  await benchClaims(run, sizes)
  await benchIngestion(run, sizes)
  await benchArchive(run, sizes)
}

function titles([small, large]: Sizes, what: string): string[] {
  return [`${what} at ${formatNumber(small.rows)}`, `at ${formatNumber(large.rows)}`, 'ratio']
}

/** Each case on one API after the other, so that both have the same machine. */
async function benchReads(run: BenchRun, sizes: Sizes): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const isWanted = ({ name }: Case) => run.only === null || run.only.some((text) => name.includes(text))
  const env = { DLQ_LOG_LEVEL: 'warn', DLQ_AUTH_RATE_LIMIT: '1000000', KAFKA_BROKERS: undefined }
  const apis: { service: ServiceProcess; cases: readonly Case[] }[] = []
  for (const database of sizes) {
    const options = { name: 'api' as const, databaseUrl: database.url, env }
    const service = stack.adopt(await startBenchService(run, options), (service) => service.stop('SIGTERM', 15_000))
    await service.ready()
    const cases = [...(await casesOf(database, database.rows)), ...otherCases]
    apis.push({ service, cases: cases.filter(isWanted) })
  }
  const seconds = run.quick ? 2 : 5
  const rows: string[][] = []
  for (const at of apis[0]!.cases.keys()) {
    const latencies: { p50: number; p99: number }[] = []
    for (const { service, cases } of apis) {
      const { paths, rate = evenRate } = cases[at]!
      await loadSteadily(service.url, paths, { seconds: 2, rate, connections })
      latencies.push(await loadSteadily(service.url, paths, { seconds, rate, connections }))
    }
    const names = [...new Set(apis.map(({ cases }) => cases[at]!.name))]
    rows.push([names.join(' | '), ...latencies.flatMap(({ p50, p99 }) => [formatNumber(p50, 1), formatNumber(p99, 1)])])
  }
  const columns = sizes.flatMap(({ rows }) => [`${formatNumber(rows)}: p50 ms`, 'p99 ms'])
  run.print(formatTable([`answers at ${evenRate}/s (aim: p99 at most 25 and 50 ms)`, ...columns], rows))
  const reads = await Promise.all(apis.map(({ service }) => fleetReadMs(service)))
  run.print(`reading the gauges of the fleet took ${reads.map((ms) => `${formatNumber(ms, 1)} ms`).join(' and ')}`)
}

/** How long the API took to read the gauges that the scrapes above showed. */
async function fleetReadMs({ url }: ServiceProcess): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(/^dlq_fleet_read_seconds (\S+)/m.exec(text)?.[1]) * 1000
}

const otherCases: readonly Case[] = [
  { name: '/dlq-status (aim: p99 at most 20 ms)', paths: ['/dlq-status'] },
  { name: '/metrics (aim: at most 20 ms)', paths: ['/metrics'] },
]

/** The answer of /dlq-status, counted from the messages themselves. */
async function benchCounts(run: BenchRun, sizes: Sizes): Promise<void> {
  const seconds: number[] = []
  for (const { sql } of sizes) {
    const connection = await sql.reserve()
    await connection`set statement_timeout = 0`
    const startedAt = performance.now()
    await connection`
      select original_topic, consumer_group, status, count(*) from dlq.dlq_messages group by 1, 2, 3`
    seconds.push((performance.now() - startedAt) / 1000)
    await connection`reset statement_timeout`
    connection.release()
  }
  const cells = [...seconds.map((value) => formatNumber(value, 2)), formatNumber(seconds[1]! / seconds[0]!, 2)]
  run.print(formatTable(['', ...titles(sizes, 'seconds')], [['group by in place of /dlq-status', ...cells]]))
}

/** Rolls claims back, so that the databases stay as they are. */
async function benchClaims(run: BenchRun, sizes: Sizes): Promise<void> {
  const times = run.quick ? 5 : 20
  const measures: readonly [name: string, work: (sql: Sql, shares: readonly string[]) => Promise<unknown>][] = [
    ['topics that have something due', (sql) => listDueTopics(sql)],
    [`a retrier’s claim of ${claimSize} of ${claimTopics} topics`, claimForSlot],
    [
      'dlq.claim_messages() of 500',
      (sql, [topic]) => sql`select id from dlq.claim_messages(${topic!}, ${claimSize}::int)`,
    ],
  ]
  const rows: string[][] = []
  for (const [name, work] of measures) {
    const medians: number[] = []
    for (const { sql } of sizes) {
      const topics = (await listDueTopics(sql)).slice(0, claimTopics).map(({ original_topic }) => original_topic)
      const spent: number[] = []
      for (let time = 0; time < times; time += 1) spent.push(await takingBack(sql, (sql) => work(sql, topics)))
      medians.push(median(spent))
    }
    rows.push([name, ...medians.map((ms) => formatNumber(ms, 1)), formatNumber(medians[1]! / medians[0]!, 2)])
  }
  run.print(formatTable(['', ...titles(sizes, 'ms')], rows))
}

async function claimForSlot(sql: Sql, topics: readonly string[]): Promise<void> {
  const { slot, epoch } = await takeSlot(sql, { owner: 'bench', leaseMs: 60_000 })
  const quota = Math.ceil(claimSize / topics.length)
  const shares = topics.map((topic) => ({ topic, quota, maxInFlight: null, ordered: false, pausedGroups: [] }))
  const claimed = await claimBatch(sql, { slot, epoch, token: randomUUID(), shares, maxBytes: 2 ** 30 })
  if (claimed === null) throw new Error('nothing was due')
}

/** The time in ms, without the preparation and the rollback. */
async function takingBack(sql: SizeDatabase['sql'], work: (sql: Sql) => Promise<unknown>): Promise<number> {
  let spent = 0
  await sql
    .begin(async (sql) => {
      await sql`insert into dlq.dlq_policies (pattern, delivery) values ('*', 'pull') on conflict do nothing`
      const startedAt = performance.now()
      await work(sql)
      spent = performance.now() - startedAt
      throw new TakeBack()
    })
    .catch((error) => {
      if (!(error instanceof TakeBack)) throw error
    })
  return spent
}

class TakeBack extends Error {}

/** Deletes the stored rows again; the next call uses their space. */
async function benchIngestion(run: BenchRun, sizes: Sizes): Promise<void> {
  const topic = `size-${process.pid}.dlq.v1`
  const total = run.quick ? ingested / 4 : ingested
  await produceBacklog(run, topic, total)
  const rounds: Measurement[][] = sizes.map(() => [])
  for (let round = 0; round < run.rounds; round += 1)
    for (const [at, database] of sizes.entries()) {
      rounds[at]!.push(await measureIngester(run, database, { topic, total, env: {} }))
      await database.sql.begin(async (sql) => {
        await sql`set local statement_timeout = 0`
        // The original topic as well, because only it has an index.
        await sql`delete from dlq.dlq_messages where original_topic = ${originalTopic} and dlq_topic = ${topic}`
      })
      await forgetPositions(database)
      await settleDatabase(database)
    }
  const rates = rounds.map((of) => of.map(({ rowsPerSecond }) => rowsPerSecond))
  const cells = [...rates.map((of) => formatNumber(median(of))), formatNumber(medianRatio(rates[1]!, rates[0]!), 2)]
  run.print(formatTable(['', ...titles(sizes, 'rows/s')], [['one ingester', ...cells]]))
}

/** Moves the oldest quarter of the messages into the archive, as the retrier's job does. It comes last: they are gone then. */
async function benchArchive(run: BenchRun, sizes: Sizes): Promise<void> {
  const retentionMs = (months - months / 4) * (365.25 / 12) * 86_400_000
  const policyOf = () => ({ ...defaultRetryPolicy, retentionMs })
  const rows: string[][] = []
  for (const database of sizes) {
    await spoilDatabase(database)
    let moved = 0
    const { seconds, longestMs } = await storingBeside(database.sql, database, async () => {
      const { archived } = await archiveSettled(
        { sql: database.sql, policyOf },
        { now: new Date(), signal: new AbortController().signal },
      )
      moved = archived
    })
    rows.push([
      formatNumber(database.rows),
      ...[moved, seconds, moved / seconds, longestMs].map((value) => formatNumber(value)),
    ])
  }
  const columns = ['a quarter archived, of', 'messages', 's', 'messages/s', 'longest wait of one stored meanwhile, ms']
  run.print(formatTable(columns, rows))
}
