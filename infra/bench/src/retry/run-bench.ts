// How fast a run takes its messages, compared with one bare UPDATE of the same rows, and the API's latency meanwhile.
// The retrier has no Kafka and counts every record as published; another benchmark measures Kafka.

import { setTimeout as sleep } from 'node:timers/promises'
import type { RunJson } from '../../../../services/api/src/runs/run-json.ts'
import { groupIdOf } from '../api/api-rows.ts'
import {
  type BenchDatabase,
  type BenchRun,
  settleDatabase,
  withBenchDatabase,
  withService,
} from '../measure/bench-run.ts'
import { type Measurement, measureFloor } from '../measure/measure.ts'
import { formatVariants } from '../measure/report.ts'
import { percentile } from '../measure/statistics.ts'

const topic = 'bench-orders'
const pollMs = 20

type Watched = { seconds: number; taken: number; latenciesMs: number[]; inexact: number; run: RunJson }

/** Prints a table. */
export async function benchRuns(run: BenchRun): Promise<void> {
  const total = run.quick ? 20_000 : 1_000_000
  run.print(`runs: ${total.toLocaleString('en')} PENDING messages of one topic`)
  const floor = variant('bare UPDATE of the same rows')
  const alone = variant('run: taken, sent later')
  const both = variant('run: taken and sent')
  const postgresPid = run.stack.postgres?.pid
  for (let round = 1; round <= run.rounds; round++) {
    run.print(`  round ${round} of ${run.rounds}`)
    await withRows(run, total, async ({ sql }) => {
      const update = async () => {
        await sql.begin(async (sql) => {
          await sql`set local statement_timeout = 0`
          await sql`
            update dlq.dlq_messages set next_retry_at = now(), retry_requested = true
            where original_topic = ${topic} and status = 'PENDING' and retry_count < max_retries`
        })
      }
      floor.rounds.push(await measureFloor(update, { total, postgresPid }))
    })
    for (const [taking, sendsLater] of [
      [alone, true],
      [both, false],
    ] as const) {
      await withRows(run, total, async (database) => {
        const watched = await watchRun(run, database, { total, sendsLater })
        taking.rounds.push({ ...empty, rowsPerSecond: watched.taken / watched.seconds })
        const p99 = percentile(watched.latenciesMs, 0.99)
        run.print(
          `    ${taking.name}: GET /api/v1/runs/:id p99 ${p99.toFixed(0)} ms of ${watched.latenciesMs.length}; inexact answers: ${watched.inexact}`,
        )
        const { resolved, waiting } = watched.run.progress
        if (resolved !== total || waiting !== 0) throw new Error(`${resolved} of ${total} resolved, ${waiting} waiting`)
      })
    }
  }
  run.print(formatVariants([floor, alone, both], floor))
}

const empty: Measurement = { rowsPerSecond: 0, clientMicros: null, postgresMicros: null, peakMemoryMiB: null }

function variant(name: string): { name: string; rounds: Measurement[] } {
  return { name, rounds: [] }
}

/** As the ingester stores them, with an error group. Without it, the retrier would assign groups meanwhile. */
async function withRows(run: BenchRun, total: number, work: (database: BenchDatabase) => Promise<void>): Promise<void> {
  await withBenchDatabase(run, async (database) => {
    const { sql } = database
    await sql.begin(async (sql) => {
      await sql`set local statement_timeout = 0`
      await sql`
        insert into dlq.dlq_messages (
          original_topic, error_message, record_key, record_value, record_headers, original_partition, original_offset,
          original_topic_source, group_id)
        select ${topic}, 'processing failed', convert_to('key ' || n, 'UTF8'), convert_to(repeat('x', 400), 'UTF8'), '[]',
               n % 6, n, 'header', ${groupIdOf(1)}::uuid
        from generate_series(1, ${total}::int) n`
    })
    await sql`vacuum analyze dlq.dlq_messages`
    await settleDatabase(database)
    await work(database)
  })
}

/**
 * Starts retrier and API, requests a retry of all, and watches the run until it has ended. `sendsLater`: its rate lets
 * it send almost no message until it has taken all, so that this measures the taking without the sending.
 */
async function watchRun(
  run: BenchRun,
  { url: databaseUrl }: BenchDatabase,
  { total, sendsLater }: { total: number; sendsLater: boolean },
): Promise<Watched> {
  const withoutKafka = { ...run, stack: { ...run.stack, kafkaBrokers: [] } }
  const env = { DLQ_RETRY_WITHOUT_KAFKA: 'resolve' }
  return withService(withoutKafka, { name: 'retrier', databaseUrl, env }, (retrier) =>
    withService(withoutKafka, { name: 'api', databaseUrl, env: {} }, async (api) => {
      await Promise.all([retrier.ready(), api.ready()])
      const selection = { filter: { topic } }
      const asked = sendsLater
        ? await send(`${api.url}/api/v1/runs`, 'POST', { kind: 'retry', selection, rate_per_second: 1 })
        : await send(`${api.url}/api/v1/dlq/${topic}/retry-all`, 'POST')
      const location = asked.headers.get('location')
      if (location === null) throw new Error(`retry-all answered ${asked.status}: ${await asked.text()}`)
      const latenciesMs: number[] = []
      let [seconds, taken, inexact, isHeldBack] = [0, 0, 0, sendsLater]
      for (;;) {
        const startedAt = performance.now()
        const seen = (await (await fetch(`${api.url}${location}`)).json()) as RunJson
        latenciesMs.push(performance.now() - startedAt)
        const { progress } = seen
        if (progress.waiting < 0 || progress.waiting + progress.resolved + progress.failed !== progress.taken)
          inexact += 1
        if (progress.taken < total || seconds === 0) {
          taken = progress.taken
          seconds = seen.started_at === null ? 0 : (Date.now() - Date.parse(seen.started_at)) / 1000
        }
        if (isHeldBack && progress.taken === total) {
          await send(`${api.url}${location}`, 'PATCH', { rate_per_second: null })
          isHeldBack = false
        }
        if (seen.ended_at !== null) return { seconds, taken, latenciesMs, inexact, run: seen }
        await sleep(pollMs)
      }
    }),
  )
}

function send(url: string, method: string, body: object = {}): Promise<Response> {
  const headers = { prefer: 'wait=0', 'content-type': 'application/json' }
  return fetch(url, { method, headers, body: JSON.stringify(body) })
}
