// How our kafkajs writes a request of records: patches 0039 to 0041.
import { createRequire } from 'node:module'
import fc from 'fast-check'
import type { HeaderPair, KafkaMessage } from 'kafkajs'
import { afterEach, describe, expect, test, vi } from 'vitest'

const require = createRequire(import.meta.url)
const Decoder = require('kafkajs/src/protocol/decoder')
const Encoder = require('kafkajs/src/protocol/encoder')
const createRequest = require('kafkajs/src/protocol/request')
const produce = require('kafkajs/src/protocol/requests/produce/v7/request')
const decodeMessages = require('kafkajs/src/protocol/requests/fetch/v4/decodeMessages')
const crc32C = require('kafkajs/src/protocol/recordBatch/crc32C')
const murmur2 = require('kafkajs/src/producer/partitioners/default/murmur2')

type Sent = { key: Buffer | null; value: Buffer | null; headers: HeaderPair[]; timestamp: string }
type TopicData = { topic: string; partitions: { partition: number; firstSequence: number; messages: Sent[] }[] }

async function bytesOf(topicData: TopicData[], options: { compression?: number } = {}): Promise<Buffer> {
  const request = produce({
    ...{ acks: -1, timeout: 30_000, transactionalId: 'slot-1', producerId: '7', producerEpoch: 3, topicData },
    ...options,
  })
  const encoder = await createRequest({ correlationId: 5, clientId: 'dlq', request })
  return encoder.buffer
}

/** Reads a request as a broker does. */
async function readRequest(bytes: Buffer) {
  const decoder = new Decoder(bytes)
  expect(decoder.readInt32()).toBe(bytes.length - 4)
  const head = [decoder.readInt16(), decoder.readInt16(), decoder.readInt32(), decoder.readString()]
  expect(head).toEqual([0, 7, 5, 'dlq'])
  expect([decoder.readString(), decoder.readInt16(), decoder.readInt32()]).toEqual(['slot-1', -1, 30_000])
  const topics = []
  for (let left = decoder.readInt32(); left > 0; left--) {
    const topic = decoder.readString()
    const partitions = []
    for (let left = decoder.readInt32(); left > 0; left--) {
      const partition = decoder.readInt32()
      const batch: Buffer = decoder.readBytes()
      // The checksum is of everything behind it.
      expect(batch.readUInt32BE(17)).toBe(bitwiseCrc(batch.subarray(21)))
      expect(batch.readInt32BE(8)).toBe(batch.length - 12)
      const messages: KafkaMessage[] = await decodeMessages(new Decoder(new Encoder().writeBytes(batch).buffer))
      partitions.push({ partition, messages })
    }
    topics.push({ topic, partitions })
  }
  expect(decoder.canReadInt32()).toBe(false)
  return topics
}

/** CRC-32C bit by bit (RFC 3720, appendix B.4). */
function bitwiseCrc(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1
  }
  return ~crc >>> 0
}

const anyBytes = fc.option(fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)))
const anySent: fc.Arbitrary<Sent> = fc.record({
  key: anyBytes,
  value: anyBytes,
  headers: fc.array(
    fc.tuple(
      fc.string({ unit: 'binary' }).map((name) => name.toWellFormed()),
      anyBytes,
    ),
    { maxLength: 5 },
  ),
  timestamp: fc.integer({ min: 1_000_000_000_000, max: 9_000_000_000_000 }).map(String),
})
const anyTopics: fc.Arbitrary<TopicData[]> = fc.array(
  fc.record({
    topic: fc.string({ minLength: 1, maxLength: 20 }),
    partitions: fc.array(
      fc.record({
        partition: fc.nat(9),
        firstSequence: fc.nat(),
        messages: fc.array(anySent, { minLength: 1, maxLength: 4 }),
      }),
      { minLength: 1, maxLength: 3 },
    ),
  }),
  { minLength: 1, maxLength: 3 },
)

describe('a request of records', () => {
  afterEach(() => vi.restoreAllMocks())

  const gzip = 1
  test.each([0, gzip])('holds what was sent, in its order (compression %i)', async (compression) => {
    await fc.assert(
      fc.asyncProperty(anyTopics, async (topicData) => {
        const topics = await readRequest(await bytesOf(topicData, { compression }))
        expect(
          topics.map(({ topic, partitions }) => ({
            topic,
            partitions: partitions.map(({ partition, messages }) => ({
              partition,
              messages: messages.map(({ key, value, headerPairs, timestamp }) => [key, value, headerPairs, timestamp]),
            })),
          })),
        ).toEqual(
          topicData.map(({ topic, partitions }) => ({
            topic,
            partitions: partitions.map(({ partition, messages }) => ({
              partition,
              messages: messages.map(({ key, value, headers, timestamp }) => [key, value, headers, timestamp]),
            })),
          })),
        )
      }),
      { numRuns: 60 },
    )
  })

  test('takes a buffer of its size, and a copy behind its header', async () => {
    const message = { key: Buffer.from('key'), value: Buffer.alloc(1000), headers: [], timestamp: '1700000000000' }
    const partition = (partition: number) => ({
      ...{ partition, firstSequence: 0 },
      messages: Array.from({ length: 30 }, () => message),
    })
    const topicData = ['orders', 'payments'].map((topic) => ({ topic, partitions: [0, 1, 2].map(partition) }))
    const made = vi.spyOn(Buffer, 'allocUnsafe')
    const { length } = await bytesOf(topicData)
    expect(length).toBeGreaterThan(180_000)
    const total = made.mock.calls.reduce((sum, [size]) => sum + size, 0)
    expect(total).toBeLessThan(2 * length + 2000)
  })
})

test('checksums are those of CRC-32C, whatever the length', () => {
  // The check value of the catalogue of parametrised CRC algorithms.
  expect(crc32C(Buffer.from('123456789'))).toBe(0xe3069283)
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      expect(crc32C(Buffer.from(bytes))).toBe(bitwiseCrc(bytes))
    }),
  )
})

// Of Kafka's own tests (UtilsTest.testMurmur2).
test.each([
  ['21', -973932308],
  ['foobar', -790332482],
  ['a-little-bit-long-string', -985981536],
  ['a-little-bit-longer-string', -1486304829],
  ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58897971],
  ['abc', 479470107],
])('keys have the hashes that Java gives them: %s', (key, hash) => {
  expect(murmur2(Buffer.from(key))).toBe(hash)
  expect(murmur2(key)).toBe(hash)
})
