// How storing and retrying grow with one, two and four processes, each held to the same share of a core: then there is
// room for all of them on a small machine, and where the curve bends, PostgreSQL or what they share is the reason.

import type { ServiceProcess } from 'dlq-testing/fleet/service-process.ts'
import { createTopicsNamed } from 'dlq-testing/kafka/create-topics.ts'
import { produceBacklog } from '../ingest/ingest-bench.ts'
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
import { median } from '../measure/statistics.ts'
import { formatNumber, formatTable } from '../measure/table.ts'
import { insertDue, makeReady, measurePublished, partitionsPerTopic, startRetriers } from '../retry/retry-bench.ts'
import { holdToShare } from './hold-to-share.ts'
import { sampleWaits } from './wait-sampler.ts'

const processCounts = [1, 2, 4]
const topicCount = 20

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
    `scale: ${size.stored} records stored, ${size.sent} messages sent, each process held to ${size.share} of a core`,
  )
  const dlqTopic = `bench-scale-${process.pid}.dlq.v1`
  const targets = Array.from({ length: topicCount }, (_, at) => `bench-scale-${process.pid}-${at}`)
  await produceBacklog(run, dlqTopic, size.stored, recordKinds[run.records].make)
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
  const header = ['', 'rows/s', 'of one', 'service µs/row', 'PostgreSQL µs/row', 'what PostgreSQL waits for']
  run.print(formatTable(header, [...linesOf(storing), ...linesOf(sending)]))
}

const named = (service: string, processes: number) => `${processes} ${service}${processes === 1 ? '' : 's'}`

function linesOf(lines: readonly Line[]): string[][] {
  const medianOf = ({ rounds }: Line, read: (seen: Seen) => number | null) =>
    median(rounds.map((seen) => read(seen) ?? Number.NaN))
  const one = medianOf(lines[0]!, ({ rowsPerSecond }) => rowsPerSecond)
  return lines.map((line) => {
    const rate = medianOf(line, ({ rowsPerSecond }) => rowsPerSecond)
    return [
      ...[line.name, formatNumber(rate), formatNumber(rate / one, 2)],
      formatNumber(medianOf(line, ({ clientMicros }) => clientMicros)),
      formatNumber(medianOf(line, ({ postgresMicros }) => postgresMicros)),
      line.rounds.at(-1)!.waits,
    ]
  })
}

async function measureStoring(
  run: BenchRun,
  database: BenchDatabase,
  { dlqTopic, size, processes }: { dlqTopic: string; size: Sizes; processes: number },
): Promise<Seen> {
  const { url, sql } = database
  const env = {
    DLQ_KAFKA_DLQ_TOPIC_PATTERN: dlqTopic,
    DLQ_KAFKA_CONSUMER_GROUP: `bench-${process.pid}-${Date.now()}`,
  }
  const count = async () => {
    const [row] = await sql<{ stored: number }[]>`
      select coalesce(sum(next_offset), 0)::float8 as stored from dlq.dlq_positions where topic = ${dlqTopic}`
    return row!.stored
  }
  await using services = new AsyncDisposableStack()
  const ingesters = await Promise.all(
    Array.from({ length: processes }, async () =>
      services.adopt(await startBenchService(run, { name: 'ingester', databaseUrl: url, env }), (service) =>
        service.stop('SIGTERM', 15_000),
      ),
    ),
  )
  // The first third is start-up: members that come later take partitions over.
  return await held(database, ingesters, size, () =>
    measureService(ingesters, {
      ...{ total: size.stored, from: size.stored / 3, count, pollMs: 25 },
      postgresPid: run.stack.postgres?.pid,
    }),
  )
}

async function measureSending(
  run: BenchRun,
  database: BenchDatabase,
  { targets, size, processes }: { targets: readonly string[]; size: Sizes; processes: number },
): Promise<Seen> {
  await insertDue(database, { size: { warm: size.warm, measured: size.sent }, topics: targets })
  await makeReady(database)
  await using services = new AsyncDisposableStack()
  const retriers = await startRetriers(run, database, { services, processes })
  const of = { retriers, from: size.warm, total: size.warm + size.sent }
  return await held(database, retriers, size, () => measurePublished(run, database, of))
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
