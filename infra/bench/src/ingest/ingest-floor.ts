// The floors of the ingester: the same rows from memory, inserted by the plainest statements of the driver. Without
// Kafka, headers, positions and conflicts.

import { type DeadLetter, type NewMessage, readDeadLetter } from 'dlq-core/domain/message/new-message.ts'
import { defaultRetryPolicy } from 'dlq-core/domain/retry/retry-policy.ts'
import { copyMessages, withHeadersWritten } from 'dlq-core/queries/ingest/message-insert.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { BenchDatabase } from '../measure/bench-run.ts'
import { type Measurement, measureFloor } from '../measure/measure.ts'
import { benchRecord } from './dead-letters.ts'

const rowsPerStatement = 500
const connections = 2
/** Rows in memory. Larger measurements use them again under other ids. */
const maxDistinctRows = 20_000

/** The rows as the ingester would store them. */
export function floorRows(
  total: number,
  { topic, originalTopic, make = benchRecord }: { topic: string; originalTopic: string; make?: typeof benchRecord },
): DeadLetter[] {
  const settings = { policyOf: () => defaultRetryPolicy, mappings: [], dlqPatterns: [topic] }
  const now = new Date()
  return Array.from({ length: Math.min(total, maxDistinctRows) }, (_, index) => {
    const place = {
      cluster: 'bench',
      topic,
      partition: index % 8,
      offset: BigInt(index),
      timestamp: BigInt(now.getTime()),
    }
    return readDeadLetter({ ...place, ...make(index, { originalTopic }) }, settings, now, 0.5)
  })
}

/** All columns by COPY, as the ingester does, into a table without the triggers that count. */
export async function measureCopy(
  { sql }: BenchDatabase,
  { total, rows, postgresPid }: FloorOptions,
): Promise<Measurement> {
  await createMessageTable(sql)
  return measureInserts({ total, rows, postgresPid }, async (chunk) => {
    await sql.begin((sql) => copyMessages(sql, chunk, { table: 'bench.messages' }))
  })
}

/** All columns, into a table with the same columns, indexes and partitioning. */
export async function measureWholeRows(
  { sql }: BenchDatabase,
  { total, rows, postgresPid }: FloorOptions,
): Promise<Measurement> {
  await createMessageTable(sql)
  const columns = Object.keys(rows[0]!) as (keyof NewMessage)[]
  return measureInserts({ total, rows, postgresPid }, async (chunk) => {
    await sql`insert into bench.messages ${sql(chunk.map(withHeadersWritten), ...columns)}`
  })
}

async function createMessageTable(sql: Database): Promise<void> {
  await sql`drop schema if exists bench cascade`
  await sql`create schema bench`
  await sql`create table bench.messages (like dlq.dlq_messages including all) partition by range (id)`
  await sql`create table bench.messages_all partition of bench.messages for values from (minvalue) to (maxvalue)`
}

/** Only the value and a primary key, as a plain sink would store it. */
export async function measureValuesOnly(
  { sql }: BenchDatabase,
  { total, rows, postgresPid }: FloorOptions,
): Promise<Measurement> {
  await sql`drop schema if exists bench cascade`
  await sql`create schema bench`
  await sql`create table bench.record_values (id uuid primary key, record_value bytea)`
  return measureInserts({ total, rows, postgresPid }, async (chunk) => {
    await sql`insert into bench.record_values ${sql(chunk, 'id', 'record_value')}`
  })
}

type FloorOptions = { total: number; rows: readonly NewMessage[]; postgresPid: number | undefined }

async function measureInserts(
  { total, rows, postgresPid }: FloorOptions,
  insert: (chunk: NewMessage[]) => Promise<void>,
): Promise<Measurement> {
  const insertEvery = async (first: number) => {
    for (let start = first * rowsPerStatement; start < total; start += connections * rowsPerStatement) {
      const size = Math.min(rowsPerStatement, total - start)
      await insert(Array.from({ length: size }, (_, at) => rowAt(rows, start + at)))
    }
  }
  return measureFloor(
    async () => void (await Promise.all(Array.from({ length: connections }, (_, at) => insertEvery(at)))),
    { total, postgresPid },
  )
}

/** Row number `index`. A row that is used again gets another id of the same time. */
function rowAt(rows: readonly NewMessage[], index: number): NewMessage {
  const row = rows[index % rows.length]!
  const turn = Math.floor(index / rows.length)
  if (turn === 0) return row
  // Changes the digits instead of overwriting them, because they may equal the turn's digits already.
  const digits = Number.parseInt(row.id.slice(24, 28), 16) ^ turn
  return { ...row, id: `${row.id.slice(0, 24)}${digits.toString(16).padStart(4, '0')}${row.id.slice(28)}` }
}
