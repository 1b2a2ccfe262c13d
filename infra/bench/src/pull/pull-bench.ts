// PostgreSQL as the queue itself, by one application on one connection: what its functions cost beside bare inserts of
// the same rows. Without Kafka and without services.

import type postgres from 'postgres'
import { type BenchDatabase, type BenchRun, settleDatabase, withBenchDatabase } from '../measure/bench-run.ts'
import { measureFloor } from '../measure/measure.ts'
import { formatVariants, type Variant } from '../measure/report.ts'

const topic = 'bench-orders'
const payload = JSON.stringify({ id: 4711, customer: 'c-17', lines: [{ sku: 'A-1', quantity: 2 }] })
const error = 'no such customer'
const batch = 50

type Connection = postgres.ReservedSql
type Leased = { id: string; lease_token: string }[]
/** Handles `total` dead letters. What is `due` lies ready before. */
type Case = { name: string; due: boolean; work: (sql: Connection, total: number) => Promise<void> }

const cases: [Case, ...Case[]] = [
  { name: 'bare insert, one each (floor)', due: false, work: (sql, total) => repeat(total, () => insertBare(sql)) },
  { name: 'dead_letter(), one each', due: false, work: (sql, total) => repeat(total, () => deadLetter(sql)) },
  { name: 'claim of one, and fail', due: true, work: (sql, total) => repeat(total, () => fail(sql)) },
  { name: 'claim of one, and resolve', due: true, work: (sql, total) => repeat(total, () => resolve(sql, 1)) },
  {
    name: `claim of ${batch}, and resolve`,
    due: true,
    work: (sql, total) => repeat(total / batch, () => resolve(sql, batch)),
  },
  { name: 'one insert for all of them', due: false, work: insertAll },
]

/** Prints a table. */
export async function benchPull(run: BenchRun): Promise<void> {
  const total = run.quick ? 200 : 4000
  run.print(`pull: ${total.toLocaleString('en')} dead letters, by one connection`)
  const variants = cases.map(({ name }) => ({ name, rounds: [] as Variant['rounds'][number][] }))
  const postgresPid = run.stack.postgres?.pid
  for (let round = 1; round <= run.rounds; round++) {
    run.print(`  round ${round} of ${run.rounds}`)
    await withBenchDatabase(run, async (database) => {
      await prepare(database)
      for (const [n, { due, work }] of cases.entries()) {
        if (due) await refill(database, total)
        const connection = await database.sql.reserve()
        try {
          variants[n]!.rounds.push(await measureFloor(() => work(connection, total), { total, postgresPid }))
        } finally {
          connection.release()
        }
      }
    })
  }
  run.print(formatVariants(variants, variants[0]!))
}

async function prepare({ sql }: BenchDatabase): Promise<void> {
  await sql`insert into dlq.dlq_policies (pattern, delivery) values (${topic}, 'pull')`
  await sql`create table bare (like dlq.dlq_messages including defaults including indexes)`
}

async function refill(database: BenchDatabase, total: number): Promise<void> {
  const { sql } = database
  await sql`delete from dlq.dlq_messages`
  await sql`
    insert into dlq.dlq_messages (original_topic, error_message, payload, next_retry_at)
    select ${topic}, ${error}, ${payload}::text::jsonb, now() from generate_series(1, ${total}::int)`
  await sql`vacuum analyze dlq.dlq_messages`
  await settleDatabase(database)
}

async function repeat(times: number, work: () => Promise<void>): Promise<void> {
  for (let done = 0; done < times; done++) await work()
}

async function insertBare(sql: Connection): Promise<void> {
  await sql`insert into bare (original_topic, error_message, payload, next_retry_at) values (${topic}, ${error}, ${payload}::text::jsonb, now())`
}

async function deadLetter(sql: Connection): Promise<void> {
  await sql`select dlq.dead_letter(${topic}, ${payload}::text::jsonb, ${error})`
}

async function insertAll(sql: Connection, total: number): Promise<void> {
  await sql`
    insert into dlq.dlq_messages (original_topic, error_message, payload)
    select ${topic}, ${error}, ${payload}::text::jsonb from generate_series(1, ${total}::int)`
}

async function fail(sql: Connection): Promise<void> {
  const leased = await claim(sql, 1)
  await sql`select dlq.fail_message(${leased[0]!.id}, ${leased[0]!.lease_token}, ${error})`
}

async function resolve(sql: Connection, count: number): Promise<void> {
  const leased = await claim(sql, count)
  const ids = leased.map(({ id }) => id)
  const resolved = await sql`select dlq.resolve_messages(${sql.array(ids)}::uuid[], ${leased[0]!.lease_token})`
  if (resolved.length !== count) throw new Error(`${resolved.length} of ${count} messages were resolved`)
}

async function claim(sql: Connection, count: number): Promise<Leased> {
  const leased = await sql<Leased>`select id, lease_token from dlq.claim_messages(${topic}, ${count})`
  if (leased.length !== count) throw new Error(`${leased.length} of ${count} messages were claimed`)
  return leased
}
