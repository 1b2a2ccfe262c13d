// Small records that are large outside of Kafka. Memory of the services stays below the limits of the chart, whatever
// is in Kafka, and what comes after is handled.
import { readFileSync } from 'node:fs'
import zlib from 'node:zlib'
import type { ServiceProcess } from 'dlq-testing/fleet/service-process.ts'
import { useFleet } from 'dlq-testing/fleet/test-fleet.ts'
import { numberedDeadLetter } from 'dlq-testing/rows/spring-dead-letter.ts'
import kafkajs from 'kafkajs'
import { afterEach, expect, test } from 'vitest'

const mebibyte = 1024 * 1024
/** Each bomb takes some tenths of a second, on a machine that does nothing else. */
const patience = { timeout: 240_000, interval: 100 }
const testMs = 480_000
/** infra/helm/dlq-manager/values.yaml, of the ingester and of the retrier. */
const limitMiB = 384
/** Node gives its heap about this much of such a limit. */
const env = { NODE_OPTIONS: '--max-old-space-size=192' }

const fleet = useFleet('bombs', { env: { DLQ_RETRY_AUTO_RETRY: 'false', DLQ_RETRY_INITIAL_DELAY: '1s' } })

const { ZSTD } = kafkajs.CompressionTypes
const codecBefore = kafkajs.CompressionCodecs[ZSTD]
afterEach(() => {
  kafkajs.CompressionCodecs[ZSTD] = codecBefore
})

function varint(n: number): Buffer {
  const bytes: number[] = []
  // Zigzag, of a number that is not negative.
  let rest = n * 2
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80)
  return Buffer.from([...bytes, rest])
}

/** A batch's one record, without key and headers, with a value of zeros; compressed piece by piece. */
async function compressRecord(valueBytes: number): Promise<Buffer> {
  const minusOne = Buffer.from([1])
  const before = Buffer.concat([Buffer.from([0, 0, 0]), minusOne, varint(valueBytes)])
  const after = Buffer.from([0])
  const zeros = Buffer.alloc(mebibyte)
  const compressor = zlib.createZstdCompress()
  const compressed = compressor.toArray()
  compressor.write(Buffer.concat([varint(before.length + valueBytes + after.length), before]))
  for (let left = valueBytes; left > 0; left -= mebibyte) compressor.write(zeros.subarray(0, Math.min(left, mebibyte)))
  compressor.end(after)
  return Buffer.concat((await compressed) as Buffer[])
}

/** Sends a batch whose content was compressed before. */
async function sendCompressed(content: Buffer): Promise<void> {
  kafkajs.CompressionCodecs[ZSTD] = () => ({ compress: async () => content, decompress: async () => Buffer.alloc(0) })
  await fleet.producer.send({ topic: fleet.dlq, compression: ZSTD, messages: [{ value: 'a bomb' }] })
}

/** The most memory that the process has held. */
function peakMiB({ pid }: ServiceProcess): number {
  return Number(/^VmHWM:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
}

const sendPlain = (n: number) =>
  fleet.producer.send({
    topic: fleet.dlq,
    messages: [
      numberedDeadLetter(n, { topic: fleet.original, partitions: 1, group: 'bombs', value: Buffer.from('{}') }),
    ],
  })

test(
  'the ingester stores batches that unpack to 200 MiB as undecodable, large values by their size, and goes on',
  async () => {
    const bomb = await compressRecord(200 * mebibyte)
    const large = await compressRecord(30 * mebibyte)
    const greatest = await compressRecord(16 * mebibyte)
    expect(bomb.length).toBeLessThan(26_000)
    for (let n = 0; n < 4; n++) await sendCompressed(bomb)
    for (let n = 0; n < 2; n++) await sendCompressed(large)
    for (let n = 0; n < 2; n++) await sendCompressed(greatest)
    await sendPlain(1)

    const ingester = await fleet.services.start('ingester', 'ingester', env)
    const { sql } = fleet.database
    await expect.poll(async () => (await sql`select from dlq.dlq_messages`).length, patience).toBe(9)
    expect([
      ...(await sql`
      select dlq_offset::int as first, error_class, unstored_value_bytes::int as unstored,
             octet_length(record_value) as bytes, next_retry_at
      from dlq.dlq_messages where dlq_offset in (0, 4, 6, 8) order by dlq_offset`),
    ]).toEqual([
      { first: 0, error_class: 'UndecodableBatch', unstored: null, bytes: expect.any(Number), next_retry_at: null },
      { first: 4, error_class: null, unstored: 30 * mebibyte, bytes: null, next_retry_at: null },
      { first: 6, error_class: null, unstored: null, bytes: 16 * mebibyte, next_retry_at: null },
      { first: 8, error_class: expect.any(String), unstored: null, bytes: 2, next_retry_at: null },
    ])
    expect(ingester.hasExited()).toBe(false)
    expect(peakMiB(ingester)).toBeLessThan(limitMiB)
    // Nor has it lost its session while it decoded: a consumer sends no heartbeat meanwhile.
    const metrics = await (await fetch(`${ingester.url}/metrics`)).text()
    expect(metrics).toMatch(/^dlq_ingest_rebalances_total 1$/m)
    expect(metrics).toMatch(/^dlq_ingest_consumer_crashes_total 0$/m)
  },
  testMs,
)

test(
  'the retrier refuses what is too large alone, and sends what is beside it',
  async () => {
    const { sql } = fleet.database
    await fleet.services.get('ingester').stop('SIGTERM', 30_000)
    await sql`delete from dlq.dlq_messages`
    const insert = (value: string, count: number) => sql`
    insert into dlq.dlq_messages (original_topic, error_message, record_value, record_headers, next_retry_at)
    select ${fleet.original}, 'failed', convert_to(repeat('x', ${value}::int), 'UTF8'), '[]', now() - interval '1 hour'
    from generate_series(1, ${count})`
    await insert(String(100 * mebibyte), 2)
    await insert(String(16 * mebibyte), 2)
    await insert('10', 20)
    await sql`
    insert into dlq.dlq_messages (original_topic, error_message, record_headers, next_retry_at, unstored_value_bytes)
    values (${fleet.original}, 'failed', '[]', now() - interval '1 hour', 31457280)`

    const retrier = await fleet.services.start('retrier', 'retrier', env)
    const settled = async () => [
      ...(await sql`
      select status, count(*)::int as n from dlq.dlq_messages where next_retry_at is null group by 1 order by 1`),
    ]
    await expect.poll(settled, patience).toEqual([
      { status: 'PENDING', n: 5 },
      { status: 'RESOLVED', n: 20 },
    ])
    const reasons = await sql<
      { error: string }[]
    >`select distinct error from dlq.dlq_attempts where outcome = 'failed' order by 1`
    expect(reasons.map(({ error }) => error)).toEqual(
      expect.arrayContaining([
        'its 104857603 bytes are too many to be sent',
        'its 31457280 bytes are too many to be sent',
      ]),
    )
    expect(retrier.hasExited()).toBe(false)
    expect(peakMiB(retrier)).toBeLessThan(limitMiB)
  },
  testMs,
)
