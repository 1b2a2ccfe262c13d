import zlib from 'node:zlib'
import kafkajs, { type KafkaMessage } from 'kafkajs'
import { afterEach, expect, test } from 'vitest'
import type { FetchPlace } from '../kafka/questions/fetch-records.ts'
import type { TopicReader } from '../kafka/topic-reader.ts'
import { boundedReader } from './bounded-reader.ts'
import { createDecodePool } from './decode-budget.ts'
import { fetchOriginals } from './fetch-originals.ts'
import { registerCodecs } from './kafka-codecs.ts'

afterEach(() => registerCodecs())

const gzip = () =>
  kafkajs.CompressionCodecs[kafkajs.CompressionTypes.GZIP]() as { decompress(bytes: Buffer): Promise<Buffer> }
const batches = 12
const batch = zlib.gzipSync(Buffer.alloc(20_000, 'a'))

async function unpacked(offset: string): Promise<Partial<KafkaMessage>> {
  const record = { key: null, value: null, headerPairs: [], timestamp: '0', offset }
  try {
    await gzip().decompress(batch)
    return { ...record, value: Buffer.from(offset) }
  } catch (error) {
    // As kafkajs delivers a batch that cannot be decoded (patches/README.md, 0015).
    const reason = (error as Error).message
    return { ...record, undecodable: { reason, firstOffset: offset, lastOffset: offset, bytes: batch.length } }
  }
}

/** Each batch of the partition has one record. Packed they are small, so a fetch gets all that follow. */
const reader = {
  async fetchRecords({ offset }: FetchPlace) {
    const messages = []
    for (let at = Number(offset); at < batches; at++) messages.push(await unpacked(String(at)))
    return { kind: 'records', messages, nextOffset: BigInt(batches), highWatermark: BigInt(batches), isAborted: false }
  },
} as unknown as TopicReader

const wanted = Array.from({ length: batches }, (_, at) => ({ topic: 'orders', partition: 0, offset: BigInt(at) }))

async function countReadable(from: Pick<TopicReader, 'fetchRecords'>): Promise<number> {
  const originals = await fetchOriginals(from, wanted)
  return [...originals.values()].filter((original) => typeof original !== 'string').length
}

test('all originals are read, however much their batches and the fetch around them unpack to', async () => {
  registerCodecs({ maxBatchBytes: 50_000 })
  const fetches = createDecodePool(50_000)
  const originals = createDecodePool(50_000)
  await fetches.within(async () => {
    // Without bounds of its own, with those of the fetch around it: two have room.
    expect(await countReadable(reader)).toBe(2)
    expect(await countReadable(boundedReader(reader, originals))).toBe(batches)
  })
})
