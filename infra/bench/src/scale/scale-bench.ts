// How storing and retrying grow with one, two and four processes, each held to the same share of a core: then there is
// room for all of them on a small machine, and where the curve bends, PostgreSQL or what they share is the reason.

import type { ServiceProcess } from 'dlq-testing/fleet/service-process.ts'
import { createTopicsNamed } from 'dlq-testing/kafka/create-topics.ts'
import { countStored, produceBacklog, readingAll } from '../ingest/ingest-bench.ts'
import { recordKinds } from '../ingest/real-dead-letters.ts'
import {
  type BenchDatabase,
  type BenchRun,
  connectBenchKafka,
  settleDatabase,
  startBenchService,
  withBenchDatabase,
} from '../measure/bench-run.ts'
import { type Measurement, measureService } from '../measure/measure.ts'
import { median, medianRatio } from '../measure/statistics.ts'
import { formatNumber, formatTable } from '../measure/table.ts'
import { countPublished, insertDue, makeReady, partitionsPerTopic, startRetriers } from '../retry/retry-bench.ts'
import { holdToShare } from './hold-to-share.ts'
import { sampleWaits } from './wait-sampler.ts'

const processCounts = [1, 2, 4]
const topicCount = 20
/** Counting is PostgreSQL's work too, and would be charged to the rows: 35,000 attempts take some 3 ms. */
const pollMs = { stored: 100, sent: 500 }

/** For each process. A process that has little to do measures its start. */
type Sizes = { stored: number; warm: number; sent: number; share: number }
type Seen = Measurement & { waits: string }
type Line = { name: string; rounds: Seen[] }

const sizes = {
  full: { stored: 60_000, warm: 5000, sent: 30_000, share: 0.12 },
  quick: { stored: 8000, warm: 500, sent: 4000, share: 0.12 },
}

/** Prints a table: medians over the rounds, each beside that of one process. */
export async function benchScale(run: BenchRun): Promise<void> {
  const size = run.quick ? sizes.quick : sizes.full
  run.print(
    `scale: ${size.stored} records stored and ${size.sent} messages sent by each process, held to ${size.share} of a core`,
  )
  const dlqTopic = `bench-scale-${process.pid}.dlq.v1`
  const targets = Array.from({ length: topicCount }, (_, at) => `bench-scale-${process.pid}-${at}`)
  await produceBacklog(run, dlqTopic, size.stored * Math.max(...processCounts), recordKinds[run.records].make)
  await createTopicsNamed(connectBenchKafka(run), targets, partitionsPerTopic)
  const storing = processCounts.map((n): Line => ({ name: named('ingester', n), rounds: [] }))
  const sending = processCounts.map((n): Line => ({ name: named('retrier', n), rounds: [] }))
  for (let round = 1; round <= run.rounds; round += 1) {
    run.print(`  round ${round} of ${run.rounds}`)
    for (const [at, processes] of processCounts.entries()) {
      await withBenchDatabase(run, async (database) => {
        storing[at]!.rounds.push(await measureStoring(run, database, { dlqTopic, size, processes }))
      })
      await withBenchDatabase(run, async (database) => {
        sending[at]!.rounds.push(await measureSending(run, database, { targets, size, processes }))
      })
    }
  }
  const header = ['', 'rows/s', 'of one', 'service µs/row', 'PostgreSQL µs/row', 'PostgreSQL cores', 'its backends']
  run.print(formatTable(header, [...linesOf(storing), ...linesOf(sending)]))
}

const named = (service: string, processes: number) => `${processes} ${service}${processes === 1 ? '' : 's'}`

function linesOf(lines: readonly Line[]): string[][] {
  const figures = ({ rounds }: Line, read: (seen: Seen) => number | null) =>
    rounds.map((seen) => read(seen) ?? Number.NaN)
  const rate = ({ rowsPerSecond }: Seen) => rowsPerSecond
  return lines.map((line) => [
    ...[line.name, formatNumber(median(figures(line, rate)))],
    formatNumber(medianRatio(figures(line, rate), figures(lines[0]!, rate)), 2),
    formatNumber(median(figures(line, ({ clientMicros }) => clientMicros))),
    formatNumber(median(figures(line, ({ postgresMicros }) => postgresMicros))),
    formatNumber(median(figures(line, (seen) => ((seen.postgresMicros ?? Number.NaN) * seen.rowsPerSecond) / 1e6)), 2),
    line.rounds.at(-1)!.waits,
  ])
}

async function measureStoring(
  run: BenchRun,
  database: BenchDatabase,
  { dlqTopic, size, processes }: { dlqTopic: string; size: Sizes; processes: number },
): Promise<Seen> {
  const env = readingAll(dlqTopic)
  await using services = new AsyncDisposableStack()
  const ingesters = await Promise.all(
    Array.from({ length: processes }, async () =>
      services.adopt(await startBenchService(run, { name: 'ingester', databaseUrl: database.url, env }), (service) =>
        service.stop('SIGTERM', 15_000),
      ),
    ),
  )
  // The first third is start-up: members that come later take partitions over.
  return await held(database, ingesters, size, () =>
    measureService(ingesters, {
      ...{ total: size.stored * processes, from: (size.stored * processes) / 3, pollMs: pollMs.stored },
      count: () => countStored(database, dlqTopic),
      postgresPid: run.stack.postgres?.pid,
    }),
  )
}

async function measureSending(
  run: BenchRun,
  database: BenchDatabase,
  { targets, size, processes }: { targets: readonly string[]; size: Sizes; processes: number },
): Promise<Seen> {
  const [warm, measured] = [size.warm * processes, size.sent * processes]
  await insertDue(database, { size: { warm, measured }, topics: targets })
  await makeReady(database)
  await using services = new AsyncDisposableStack()
  const retriers = await startRetriers(run, database, { services, processes })
  return await held(database, retriers, size, () =>
    measureService(retriers, {
      ...{ total: warm + measured, from: warm, pollMs: pollMs.sent },
      count: () => countPublished(database.sql),
      postgresPid: run.stack.postgres?.pid,
    }),
  )
}

/** Measures services while each is held to its share, and looks at what they wait for. */
async function held(
  database: BenchDatabase,
  services: readonly ServiceProcess[],
  { share }: Sizes,
  measure: () => Promise<Measurement>,
): Promise<Seen> {
  await using holds = new AsyncDisposableStack()
  for (const { pid } of services) holds.use(holdToShare(pid, share))
  const waits = sampleWaits(database.sql)
  try {
    const measured = await measure()
    return { ...measured, waits: await waits.stop() }
  } finally {
    await waits.stop()
    await settleDatabase(database)
  }
}
