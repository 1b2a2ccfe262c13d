// The patch of kafkajs turns a batch that cannot be decoded into one message, whose offset lets the consumer continue
// behind the batch. The tests build batches byte by byte.
import { createRequire } from 'node:module'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import kafkajs, { type KafkaMessage } from 'kafkajs'
import { beforeEach, describe, expect, test } from 'vitest'
import { registerCodecs } from '../fetching/kafka-codecs.ts'

const require = createRequire(import.meta.url)
const Batch = require('kafkajs/src/consumer/batch')
const Decoder = require('kafkajs/src/protocol/decoder')
const Encoder = require('kafkajs/src/protocol/encoder')
const decodeMessages = require('kafkajs/src/protocol/requests/fetch/v4/decodeMessages')
const encodeRecord = require('kafkajs/src/protocol/recordBatch/record/v0')
const { RecordBatch } = require('kafkajs/src/protocol/recordBatch/v0')

const { CompressionCodecs, CompressionTypes } = kafkajs
const attributesAt = 21
const countAt = 57
const recordsAt = 61
const controlFlag = 0x20
const transactionalFlag = 0x10
const mebibyte = 1024 * 1024

beforeEach(() => registerCodecs())

type BatchOptions = { firstOffset: number; values: string[]; attributes?: number; producerId?: number; body?: Buffer }

/** A record batch with one record per value; `body` takes the place of its records. */
async function batchOf({ firstOffset, values, attributes = 0, producerId = -1, body }: BatchOptions): Promise<Buffer> {
  const records = values.map((value, offsetDelta) =>
    encodeRecord({ key: null, value: Buffer.from(value), offsetDelta }),
  )
  const { buffer }: { buffer: Buffer } = await RecordBatch({
    records,
    producerId,
    lastOffsetDelta: values.length - 1,
    firstTimestamp: 1000,
    maxTimestamp: 2000,
  })
  const batch = Buffer.concat([buffer.subarray(0, recordsAt), body ?? buffer.subarray(recordsAt)])
  batch.writeBigInt64BE(BigInt(firstOffset), 0)
  batch.writeInt32BE(batch.length - 12, 8)
  batch.writeInt16BE(attributes, attributesAt)
  return batch
}

const decode = (...batches: Buffer[]): Promise<KafkaMessage[]> =>
  decodeMessages(new Decoder(new Encoder().writeBytes(Buffer.concat(batches)).buffer))

const consumed = (messages: KafkaMessage[], fetchedOffset: number, abortedTransactions: object[] = []) =>
  new Batch('t', String(fetchedOffset), { partition: 0, highWatermark: '100', messages, abortedTransactions })

const good = (firstOffset: number) => batchOf({ firstOffset, values: ['a', 'b'] })
const bad = (options: Partial<BatchOptions> = {}) =>
  batchOf({
    firstOffset: 12,
    values: ['x', 'y', 'z'],
    attributes: CompressionTypes.GZIP,
    body: Buffer.from('garbage'),
    ...options,
  })

test('a batch that cannot be decoded is one message with its bytes, and the batches around it are read', async () => {
  const batch = await bad()
  const messages = await decode(await good(10), batch, await good(15))
  expect(messages.map(({ offset }) => offset)).toEqual(['10', '11', '14', '15', '16'])
  expect(messages[2]).toMatchObject({
    key: null,
    value: batch,
    headers: {},
    headerPairs: [],
    timestamp: '2000',
    timestampType: 'create',
    undecodable: { firstOffset: '12', lastOffset: '14', bytes: batch.length },
  })
  expect(messages[0]).not.toHaveProperty('undecodable')
})

describe('the reason names the fault', () => {
  const decodeOne = async (options: Partial<BatchOptions>) => (await decode(await bad(options)))[0]?.undecodable?.reason

  test.each([5, 6, 7])('compression type %d is unknown', async (attributes) => {
    expect(await decodeOne({ attributes })).toBe(`Unknown compression type ${attributes}`)
  })

  test.each(['GZIP', 'Snappy', 'LZ4', 'ZSTD'] as const)('%s data are damaged', async (name) => {
    expect(await decodeOne({ attributes: CompressionTypes[name] })).toContain(`${name} batch of 7 bytes`)
  })

  test.each([
    ['GZIP', gzipSync],
    ['ZSTD', zstdCompressSync],
  ] as const)('%s data unpack to more than the bound', async (name, compress) => {
    registerCodecs({ maxBatchBytes: 1000 })
    const body = compress(Buffer.alloc(1_000_000))
    expect(await decodeOne({ attributes: CompressionTypes[name], body })).toContain('at most 1000 bytes')
  })

  test('the compressed bytes are no list of records', async () => {
    expect(await decodeOne({ body: gzipSync('garbage') })).toBe('A record ends behind its batch')
  })

  test('records that were not compressed are cut off', async () => {
    const whole = await batchOf({ firstOffset: 12, values: ['x', 'y', 'z'] })
    expect(await decodeOne({ attributes: 0, body: whole.subarray(recordsAt, -1) })).toBe(
      'A record ends behind its batch',
    )
  })

  test.each([-2, 2 ** 31 - 1])('the batch claims to hold %d records', async (count) => {
    const batch = await batchOf({ firstOffset: 12, values: ['x'] })
    batch.writeInt32BE(count, countAt)
    expect((await decode(batch))[0]?.undecodable?.reason).not.toBe('')
  })
})

test('the value is cut at 1 MiB, the size is told in full', async () => {
  const [message] = await decode(await bad({ body: Buffer.alloc(2 * mebibyte, 1) }))
  expect(message?.value).toHaveLength(mebibyte)
  expect(message?.undecodable?.bytes).toBe(2 * mebibyte + recordsAt)
})

test('a batch cut off by the size of the fetch is left for the next fetch', async () => {
  const batch = await bad()
  expect((await decode(await good(10), batch.subarray(0, -1))).map(({ offset }) => offset)).toEqual(['10', '11'])
})

test('wherever in the batch a fetch begins, the consumer is given the message once and goes on behind the batch', async () => {
  const messages = await decode(await bad())
  for (const fetchedOffset of [12, 13, 14]) {
    const batch = consumed(messages, fetchedOffset)
    expect(batch.messages).toHaveLength(1)
    expect(batch.lastOffset()).toBe('14')
  }
})

test('an undecodable batch of an aborted transaction is not delivered, that of a committed one is', async () => {
  const batch = await bad({ attributes: CompressionTypes.GZIP | transactionalFlag, producerId: 7 })
  const messages = await decode(batch)
  expect(consumed(messages, 12).messages).toHaveLength(1)
  const aborted = consumed(messages, 12, [{ producerId: '7', firstOffset: '12' }])
  expect(aborted.messages).toEqual([])
  expect(aborted.lastOffset()).toBe('14')
})

test('an undecodable control batch is passed over like any control batch', async () => {
  const batch = consumed(await decode(await bad({ attributes: CompressionTypes.GZIP | controlFlag })), 12)
  expect(batch.messages).toEqual([])
  expect(batch.lastOffset()).toBe('14')
})

test('a wrapper of the formats before record batches becomes one message too', async () => {
  const wrapper = (offset: number, attributes: number, value: Buffer) => {
    const body = new Encoder().writeInt32(0).writeInt8(1).writeInt8(attributes).writeInt64(9).writeBytes(null)
    return new Encoder().writeInt64(offset).writeBytes(body.writeBytes(value).buffer).buffer
  }
  const garbage = Buffer.from('garbage')
  const messages = await decode(
    wrapper(5, CompressionTypes.GZIP, garbage),
    wrapper(6, 7, garbage),
    wrapper(7, 0, Buffer.from('fine')),
  )
  expect(messages).toMatchObject([
    { offset: '5', value: garbage, timestamp: '9', undecodable: { firstOffset: '5', lastOffset: '5', bytes: 7 } },
    { offset: '6', undecodable: { reason: 'Unknown compression type 7' } },
    { offset: '7', value: Buffer.from('fine') },
  ])
})

test('a codec that is not registered is a fault of the process, and still fails', async () => {
  CompressionCodecs[CompressionTypes.Snappy] = () => {
    throw new kafkajs.KafkaJSNonRetriableError('Snappy compression not implemented')
  }
  await expect(decode(await bad({ attributes: CompressionTypes.Snappy }))).rejects.toThrow('not implemented')
})

test('whatever bytes replace the records, decoding ends and no later batch is lost', async () => {
  const next = await good(15)
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 80 }), fc.nat(7), async (bytes, attributes) => {
      const messages = await decode(await bad({ attributes, body: Buffer.from(bytes) }), next)
      expect(messages.slice(-2).map(({ offset }) => offset)).toEqual(['15', '16'])
    }),
  )
})
