// The batches here were captured from librdkafka; kafkajs-patch.kafka.test.ts tries the codecs
// against the Java broker, in both directions.
import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import kafkajs from 'kafkajs'
import { beforeEach, describe, expect, test } from 'vitest'
import { registerCodecs } from './kafka-codecs.ts'

const { CompressionCodecs, CompressionTypes } = kafkajs

type CodecName = 'GZIP' | 'Snappy' | 'LZ4' | 'ZSTD'
type Codec = { compress(encoder: { buffer: Buffer }): Promise<Buffer>; decompress(bytes: Buffer): Promise<Buffer> }

const names: CodecName[] = ['GZIP', 'Snappy', 'LZ4', 'ZSTD']
const codecOf = (name: CodecName): Codec => CompressionCodecs[CompressionTypes[name]]()

/** Three records, each as librdkafka compressed them. */
const captured: Record<CodecName, string> = {
  GZIP: 'H4sIAAAAAAAAA6tgYGBgzElJTUxRyEktKUktUjBQqCASMFQwMDChajYkSTMLqmYj4jUDAJSxckO3AAAA',
  Snappy: 'twFQeAAAAAFsZGVhZCBsZXR0ZXIgMCB4mgEAEAB4AAACNj0AADGyPQAABDY9AAAypj0A',
  LZ4: 'BCJNGGBAgjYAAAD/BngAAAABbGRlYWQgbGV0dGVyIDAgeAEAFFoAeAAAAj0AHzE9ABoaBD0AHzI9ABJQeHh4eAAAAAAA',
  ZSTD: 'KLUv/QBYZQEA6HgAAAABbGRlYWQgbGV0dGVyIDAgeAB4AAACMQQyBQABJEA+wWRAkF8luAM=',
}

beforeEach(() => registerCodecs())

describe.each(names)('%s', (name) => {
  test('any bytes are decompressed to themselves', async () => {
    const pieces = fc.array(fc.uint8Array({ minLength: 1, maxLength: 64 }), { maxLength: 200 })
    await fc.assert(
      fc.asyncProperty(pieces, fc.nat(50), async (parts, repetitions) => {
        const bytes = Buffer.concat(Array.from({ length: repetitions + 1 }, () => parts).flat())
        expect(await codecOf(name).decompress(await codecOf(name).compress({ buffer: bytes }))).toEqual(bytes)
      }),
      { numRuns: 50 },
    )
  })

  test('megabytes of noise are decompressed to themselves', async () => {
    const bytes = randomBytes(3_000_001)
    const compressed = await codecOf(name).compress({ buffer: bytes })
    expect((await codecOf(name).decompress(compressed)).equals(bytes)).toBe(true)
  })

  test('a batch written by librdkafka is read', async () => {
    const content = await codecOf(name).decompress(Buffer.from(captured[name], 'base64'))
    expect(content.length).toBe(183)
    for (const i of [0, 1, 2]) expect(content.toString('latin1')).toContain(`dead letter ${i} ${'x'.repeat(40)}`)
  })

  test('a batch that unpacks to one byte more than the bound fails without being unpacked', async () => {
    const bytes = Buffer.alloc(1_000_000)
    const compressed = await codecOf(name).compress({ buffer: bytes })
    registerCodecs({ maxBatchBytes: bytes.length })
    expect(await codecOf(name).decompress(compressed)).toHaveLength(bytes.length)
    registerCodecs({ maxBatchBytes: bytes.length - 1 })
    await expect(codecOf(name).decompress(compressed)).rejects.toThrow(
      `${name} batch of ${compressed.length} bytes cannot be decompressed to at most 999999 bytes`,
    )
  })

  test('a damaged batch fails with an error that kafkajs does not retry', async () => {
    const compressed = await codecOf(name).compress({ buffer: randomBytes(1000) })
    for (const damaged of [Buffer.alloc(0), Buffer.alloc(40), compressed.subarray(0, -20)]) {
      const error: unknown = await codecOf(name)
        .decompress(damaged)
        .catch((cause: unknown) => cause)
      expect(error).toMatchObject({ name: 'KafkaJSNonRetriableError', retriable: false, cause: expect.any(Error) })
    }
  })
})

test.each(names)('%s survives any bytes: it returns or fails, and never hangs', async (name) => {
  registerCodecs({ maxBatchBytes: 1_000_000 })
  const valid = await codecOf(name).compress({ buffer: Buffer.from('some dead letters '.repeat(100)) })
  const flips = fc.array(fc.tuple(fc.nat(valid.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(flips, async (changes) => {
      const bytes = Buffer.from(valid)
      for (const [at, byte] of changes) bytes[at] = byte
      const outcome: unknown = await codecOf(name)
        .decompress(bytes)
        .catch((error: unknown) => error)
      if (Buffer.isBuffer(outcome)) expect(outcome.length).toBeLessThanOrEqual(1_000_000)
      else expect(outcome).toBeInstanceOf(kafkajs.KafkaJSNonRetriableError)
    }),
  )
})
