// What Avro and Protobuf cost an ingester, and what looking for originals does: each beside the same records as JSON, in turn.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseAvroSchema } from 'dlq-core/domain/payload/avro/avro-schema.ts'
import { compileAvroWriter } from 'dlq-core/domain/payload/avro/write-avro.ts'
import { createFramedProtobufCodec, describedProtos } from 'dlq-core/domain/payload/protobuf/protobuf-codec.ts'
import { int64 } from 'dlq-testing/rows/big-endian.ts'
import { orderJson, orderProto, orderSchema } from '../decode/order.ts'
import { type BenchDatabase, type BenchRun, withBenchDatabase } from '../measure/bench-run.ts'
import type { Measurement } from '../measure/measure.ts'
import { formatVariants } from '../measure/report.ts'
import { medianRatio } from '../measure/statistics.ts'
import { formatNumber } from '../measure/table.ts'
import { type BenchRecord, benchRecord } from './dead-letters.ts'
import { measureIngester, produceBacklog } from './ingest-bench.ts'

const partitions = 8
const avroId = 1
const protobufId = 2

/** Else a backlog is stored without projections, whatever its format is. */
const storesAtOnce = { policies: [{ pattern: '*', payload: 'stored' }] }

type Backlog = {
  name: string
  /** Or one for each call, which begins with one record of each partition. */
  topic: string | (() => string)
  produce?: (topic: string, count: number) => Promise<void>
  config: object
  rounds: Measurement[]
  aim: number | null
}

/** Prints a table, and each rate as a part of JSON's. */
export async function benchFormats(run: BenchRun): Promise<void> {
  const total = run.quick ? 5000 : 100_000
  run.print(`formats: ${total} records, values of ${orderJson.length} bytes as JSON`)
  const schemas = { registries: [{ name: 'main', url: 'http://127.0.0.1:1' }] }
  const frame = (id: number) => Buffer.from([0, 0, 0, 0, id])
  const avro = Buffer.concat([frame(avroId), compileAvroWriter(parseAvroSchema(orderSchema))(orderJson)])
  const inFrame = Buffer.concat([frame(protobufId), Buffer.from([0])])
  const codec = createFramedProtobufCodec(describedProtos([{ name: '', text: orderProto }]))
  const protobuf = Buffer.concat([inFrame, codec.write(orderJson, inFrame, 5)])
  const values = { json: Buffer.from(orderJson), avro, protobuf }
  const backlog = (name: string, format: keyof typeof values, config: object, aim: number | null): Backlog => ({
    ...{ name, topic: topicOf(format), config: { ...config, ...storesAtOnce }, rounds: [], aim },
  })
  for (const [format, value] of Object.entries(values))
    await produceBacklog(run, topicOf(format), total, (index, options) => ({ ...benchRecord(index, options), value }))
  await measureInTurns(run, total, [
    backlog('JSON, without the section schemas (floor)', 'json', {}, null),
    backlog('JSON, with the section schemas', 'json', { schemas }, 0.97),
    backlog('Avro', 'avro', { schemas }, 0.9),
    backlog('Protobuf', 'protobuf', { schemas }, 0.8),
  ])
}

/** Prints a table of ingestion with and without the policy `record: origin-if-available`. */
export async function benchOrigins(run: BenchRun): Promise<void> {
  const total = run.quick ? 400 : 10_000
  // Originals that are further apart than 1,000 offsets are fetched one by one, so there are fewer of them.
  const scattered = run.quick ? 40 : 400
  const apart = 1500
  run.print(`origins: ${total} dead letters of neighbouring records, ${scattered} of records ${apart} offsets apart`)
  const originals = { near: `bench-${process.pid}-near`, far: `bench-${process.pid}-far` }
  const config = { policies: [{ pattern: '*', record: 'origin-if-available' }] }
  await produceBacklog(run, originals.near, total, (index, options) => ({
    ...benchRecord(index, options),
    headers: [],
  }))
  const empty = { key: Buffer.from('k'), value: Buffer.from('{}'), headers: [] }
  await produceBacklog(run, originals.far, scattered * apart, () => empty)
  const letters = (original: string, spread: number) => (index: number) => letterOf(index, { original, spread })
  const topic = `${originals.near}.dlq.v1`
  await produceBacklog(run, topic, total, letters(originals.near, 1))
  await measureInTurns(run, total, [
    { name: 'near, copies only (floor)', topic, config: {}, rounds: [], aim: null },
    { name: 'near, with originals', topic, config, rounds: [], aim: null },
  ])
  // They fit into one batch, and a rate needs two moments: so each call has a topic of its own, which gets them while the
  // ingester reads it. The first record of each partition is there before.
  const farTopic = () => `${originals.far}-${Date.now()}.dlq.v1`
  const produce = (topic: string, count: number) => produceBacklog(run, topic, count, letters(originals.far, apart))
  // Their names say nothing of the original topic.
  const trusting = { kafka: { routes: 'trust' } }
  await measureInTurns(run, partitions + scattered, [
    { name: 'far, copies only (floor)', topic: farTopic, produce, config: trusting, rounds: [], aim: null },
    {
      name: 'far, with originals',
      topic: farTopic,
      produce,
      config: { ...config, ...trusting },
      rounds: [],
      aim: null,
    },
  ])
}

function topicOf(format: string): string {
  return `bench-${process.pid}-${format}.dlq.v1`
}

/** The dead letter of the record that `produceBacklog` has written as number `index * spread`, nearly. */
function letterOf(index: number, { original, spread }: { original: string; spread: number }): BenchRecord {
  const record = benchRecord(index, { originalTopic: original })
  const offset = Math.floor(index / partitions) * spread
  const headers = record.headers.map(([name, value]): (typeof record.headers)[number] =>
    name === 'kafka_dlt-original-offset' ? [name, int64(BigInt(offset))] : [name, value],
  )
  return { ...record, headers }
}

async function measureInTurns(run: BenchRun, total: number, backlogs: Backlog[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'dlq-bench-'))
  try {
    for (let round = 0; round < run.rounds; round += 1)
      // Who goes first changes, because a machine that warms up or tires favours one of them.
      for (const { topic: given, produce, config, rounds } of round % 2 === 0 ? backlogs : backlogs.toReversed())
        await withBenchDatabase(run, async (database) => {
          await storeSchemas(database)
          const file = join(folder, 'config.yaml')
          writeFileSync(file, JSON.stringify(config))
          const topic = typeof given === 'string' ? given : given()
          await produce?.(topic, partitions)
          const begin = produce && { begin: () => produce(topic, total - partitions) }
          rounds.push(await measureIngester(run, database, { topic, total, env: { DLQ_CONFIG: file }, ...begin }))
        })
  } finally {
    rmSync(folder, { recursive: true })
  }
  const [floor] = backlogs as [Backlog]
  run.print(formatVariants(backlogs, floor))
  const rates = ({ rounds }: Backlog) => rounds.map(({ rowsPerSecond }) => rowsPerSecond)
  for (const backlog of backlogs.slice(1)) {
    const share = formatNumber(medianRatio(rates(backlog), rates(floor)), 2)
    run.print(`${backlog.name}: ${share} of the floor${backlog.aim === null ? '' : ` (aim: at least ${backlog.aim})`}`)
  }
}

async function storeSchemas({ sql }: BenchDatabase): Promise<void> {
  await sql`
    insert into dlq.dlq_schemas (registry, id_kind, schema_id, state, type, definition, schema_references)
    values ('main', 'id', ${String(avroId)}, 'known', 'avro', ${orderSchema}, '[]'),
           ('main', 'id', ${String(protobufId)}, 'known', 'protobuf', ${orderProto}, '[]')`
}
