// Dead letters that Java's client wrote, as most are: in transactions that overlap on one partition, and with each of
// its compression codecs. Without Java, because Kafka runs in a container, kafkajs writes the same records.
import { randomBytes, randomInt } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { decodeHeaders } from 'dlq-core/domain/record/header-json.ts'
import { deriveMessageId } from 'dlq-core/domain/record/message-id.ts'
import { registerCodecs } from 'dlq-core/runtime/fetching/kafka-codecs.ts'
import { eventually } from 'dlq-testing/eventually.ts'
import { useFleet } from 'dlq-testing/fleet/test-fleet.ts'
import { compileJava, type JavaProgram } from 'dlq-testing/kafka/java.ts'
import kafkajs, { type Producer } from 'kafkajs'
import { afterAll, beforeAll, expect, test } from 'vitest'

const { CompressionTypes } = kafkajs
const soak = process.env.DLQ_SOAK === '1'
const report = soak ? console.log : () => {}
const producers = 4
const transactions = soak ? 4000 : 400
const compressedRecords = soak ? 20_000 : 1000
const codecs = {
  gzip: CompressionTypes.GZIP,
  snappy: CompressionTypes.Snappy,
  lz4: CompressionTypes.LZ4,
  zstd: CompressionTypes.ZSTD,
}
const keys = [null, Buffer.alloc(0), Buffer.from([0, 0, 0, 0]), Buffer.from([0, 0, 0, 1]), Buffer.from('key')]

const fleet = useFleet('java', { env: { DLQ_RETRY_AUTO_RETRY: 'false' } })
let java: JavaProgram | null = null
/** The end of the part of the log that earlier tests have read. */
let done = -1n

beforeAll(async () => {
  registerCodecs()
  java = await compileJava(fileURLToPath(new URL('../kafka/DeadLetterWriter.java', import.meta.url)))
  await fleet.services.start('ingester')
})
afterAll(() => java?.[Symbol.asyncDispose]())

/** A record that was written, or stored. */
type Letter = { offset: bigint; timestamp: bigint; key: Buffer | null; value: Buffer | null; noise: Buffer }

async function runJava(program: JavaProgram, args: readonly string[]): Promise<Letter[]> {
  const [mode = '', ...more] = args
  const output = await program.run([mode, fleet.topics.brokers.join(), fleet.dlq, ...more])
  const bytes = (text: string | undefined) => (text === '-' ? null : Buffer.from(text!.slice(1), 'base64'))
  return output
    .trim()
    .split('\n')
    .map((line) => {
      const [offset, timestamp, key, value, noise] = line.split(' ')
      const place = { offset: BigInt(offset!), timestamp: BigInt(timestamp!) }
      return { ...place, key: bytes(key), value: bytes(value), noise: bytes(noise)! }
    })
}

function letterOf(text: string) {
  const noise = randomBytes(randomInt(50))
  const value = randomInt(10) === 0 ? null : Buffer.from(`${text}${noise.toString('base64')}`)
  return { key: keys[randomInt(keys.length)]!, value, noise, timestamp: BigInt(Date.now()) }
}

type Send = (message: kafkajs.ProducerRecord) => Promise<kafkajs.RecordMetadata[]>

async function sendLetters(
  send: Send,
  letters: readonly Omit<Letter, 'offset'>[],
  compression = CompressionTypes.None,
) {
  const messages = letters.map(({ noise, timestamp, ...letter }) => ({
    ...letter,
    headers: { noise },
    timestamp: String(timestamp),
  }))
  const [sent] = await send({ topic: fleet.dlq, compression, messages })
  return letters.map((letter, i) => ({ ...letter, offset: BigInt(sent!.baseOffset!) + BigInt(i) }))
}

async function withProducer<T>(config: kafkajs.ProducerConfig, work: (producer: Producer) => Promise<T>): Promise<T> {
  const retry = { initialRetryTime: 5, multiplier: 1.5, maxRetryTime: 200, retries: 300 }
  const producer = fleet.topics.kafka.producer({ ...config, retry })
  await producer.connect()
  try {
    return await work(producer)
  } finally {
    await producer.disconnect()
  }
}

async function transactWithKafkajs(index: number): Promise<Letter[]> {
  const config = { transactionalId: `${fleet.dlq}-${index}`, idempotent: true, maxInFlightRequests: 1 }
  return withProducer(config, async (producer) => {
    const committed: Letter[] = []
    for (let i = 0; i < transactions / producers; i += 1) {
      const transaction = await producer.transaction()
      const sent: Letter[] = []
      const send: Send = (message) => transaction.send(message)
      for (let sends = randomInt(1, 4); sends > 0; sends -= 1) {
        const letters = Array.from({ length: randomInt(1, 3) }, () =>
          letterOf(`${i % 2 ? 'aborted' : 'committed'} ${i} `),
        )
        sent.push(...(await sendLetters(send, letters)))
      }
      if (randomInt(4) === 0) await sleep(randomInt(20))
      if (i % 2 === 0) await transaction.commit()
      else await transaction.abort()
      if (i % 2 === 0) committed.push(...sent)
    }
    return committed
  })
}

async function writeTransactions(): Promise<Letter[]> {
  if (java) return runJava(java, ['transactions', String(producers), String(transactions)])
  const committed = await Promise.all(Array.from({ length: producers }, (_, index) => transactWithKafkajs(index)))
  return committed.flat()
}

async function writeCompressed(codec: keyof typeof codecs): Promise<Letter[]> {
  if (java) return runJava(java, ['compressed', codec, String(compressedRecords)])
  return withProducer({}, async (producer) => {
    const written: Letter[] = []
    const send: Send = (message) => producer.send(message)
    for (let n = 0; n < compressedRecords; n += 500) {
      const letters = Array.from({ length: 500 }, () => letterOf(`${codec} ${'again and '.repeat(randomInt(200))}`))
      written.push(...(await sendLetters(send, letters, codecs[codec])))
    }
    return written
  })
}

/** One line of everything that was written, or stored. */
function lineOf({ id, offset, key, value, noise }: Omit<Letter, 'timestamp'> & { id: string }): string {
  return [id, offset, ...[key, value, noise].map((bytes) => bytes?.toString('base64') ?? 'null')].join(' ')
}

function lineOfWritten(letter: Letter): string {
  const { offset, timestamp } = letter
  return lineOf({
    ...letter,
    id: deriveMessageId({ cluster: fleet.cluster, topic: fleet.dlq, partition: 0, offset, timestamp }),
  })
}

async function endOfLog(): Promise<bigint> {
  const [partition] = await fleet.topics.admin.fetchTopicOffsets(fleet.dlq)
  return BigInt(partition!.high)
}

/** The rows of records that were written since the last call, once ingestion has reached the end of the log. */
async function storedLines(): Promise<string[]> {
  const { sql } = fleet.database
  const end = await endOfLog()
  const position = async () => {
    const [row] = await sql<{ next_offset: string }[]>`select next_offset from dlq.dlq_positions`
    return BigInt(row?.next_offset ?? 0)
  }
  await eventually(async () => expect(await position()).toBe(end))
  const rows = await sql<{ id: string; offset: string; key: Buffer | null; value: Buffer | null; headers: string }[]>`
    select id, dlq_offset as offset, record_key as key, record_value as value, record_headers::text as headers
      from dlq.dlq_messages
     where dlq_offset > ${String(done)}`
  done = end - 1n
  return rows.map(({ headers, offset, ...row }) =>
    lineOf({ ...row, offset: BigInt(offset), noise: decodeHeaders(headers)[0]![1]! }),
  )
}

test('of transactions that overlap on one partition exactly the committed records are stored, byte for byte', async () => {
  const committed = await writeTransactions()
  const stored = await storedLines()
  const heldBack = Number(await endOfLog()) - committed.length
  report(
    `${java ? 'Java' : 'kafkajs'}: ${transactions} transactions, ${committed.length} records committed, ${heldBack} aborted or markers`,
  )
  expect(committed.some(({ key }) => key?.equals(Buffer.alloc(4)))).toBe(true)
  expect(stored.sort()).toEqual(committed.map(lineOfWritten).sort())
})

test.each(Object.keys(codecs) as (keyof typeof codecs)[])(
  'records compressed with %s are stored byte for byte',
  async (codec) => {
    const written = await writeCompressed(codec)
    const stored = await storedLines()
    expect(written).toHaveLength(compressedRecords)
    expect(stored.sort()).toEqual(written.map(lineOfWritten).sort())
  },
)
