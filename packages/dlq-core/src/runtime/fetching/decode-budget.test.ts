import zlib from 'node:zlib'
import kafkajs from 'kafkajs'
import { afterEach, describe, expect, test } from 'vitest'
import { createDecodePool } from './decode-budget.ts'
import { noRoomNow, registerCodecs } from './kafka-codecs.ts'

const zstd = () =>
  kafkajs.CompressionCodecs[kafkajs.CompressionTypes.ZSTD]() as { decompress(bytes: Buffer): Promise<Buffer> }
/** One record of format 2 that is as long as this, and unpacks to it. */
const bombOf = (bytes: number) => {
  const content = Buffer.alloc(bytes)
  // Its length as a zigzag varint of four bytes.
  const length = (bytes - 4) * 2
  for (let at = 0; at < 4; at++) content[at] = ((length >> (7 * at)) & 0x7f) | (at < 3 ? 0x80 : 0)
  return zlib.zstdCompressSync(content)
}
const reasonOf = (decompressing: Promise<unknown>) =>
  decompressing.then(
    () => 'unpacked',
    (error: Error) => error.message,
  )

afterEach(() => registerCodecs())

describe('what one fetch decompresses', () => {
  test('stays within the pool: what has no room is left for a later fetch', async () => {
    registerCodecs({ maxBatchBytes: 40_000 })
    const pool = createDecodePool(40_000)
    const outcomes = await pool.within(async () => {
      const reasons: string[] = []
      for (let n = 0; n < 4; n++) reasons.push(await reasonOf(zstd().decompress(bombOf(15_000))))
      return reasons
    })
    expect(outcomes).toEqual(['unpacked', 'unpacked', noRoomNow, noRoomNow])
    expect(await pool.within(() => reasonOf(zstd().decompress(bombOf(15_000))))).toBe('unpacked')
  })

  test('counts what records take besides their bytes', async () => {
    registerCodecs({ maxBatchBytes: 40_000 })
    const pool = createDecodePool(40_000)
    // 10,000 empty records: each is its own length, 0.
    const manyRecords = zlib.zstdCompressSync(Buffer.alloc(10_000))
    expect(await pool.within(() => reasonOf(zstd().decompress(manyRecords)))).toMatch(/takes 2010000 bytes in memory/)
  })

  test('a batch that no fetch has room for says so for good', async () => {
    registerCodecs({ maxBatchBytes: 40_000 })
    const pool = createDecodePool(40_000)
    const bomb = () => reasonOf(zstd().decompress(bombOf(40_001)))
    const refused = /cannot be decompressed to at most 40000 bytes/
    // Only one at a fetch, because it takes its time.
    const [first, second] = await pool.within(async () => [await bomb(), await bomb()])
    expect([first, second]).toEqual([expect.stringMatching(refused), noRoomNow])
    expect(await pool.within(bomb)).toMatch(refused)
  })
})

test('a fetch that holds nothing waits until another one has given back', async () => {
  const pool = createDecodePool(100)
  const order: string[] = []
  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  const takeWithin = (name: string, until: Promise<void>) =>
    pool.within(async () => {
      const { currentBudget } = await import('./decode-budget.ts')
      expect(await currentBudget()!.take(80)).toBe('taken')
      order.push(name)
      await until
    })
  const first = takeWithin('first', gate)
  const second = takeWithin('second', Promise.resolve())
  await new Promise((resolve) => setImmediate(resolve))
  expect(order).toEqual(['first'])
  open()
  await Promise.all([first, second])
  expect(order).toEqual(['first', 'second'])
})

test('a large content is unpacked without being in memory twice, and comes back as it was', async () => {
  registerCodecs({ maxBatchBytes: 64 * 1024 * 1024 })
  const content = Buffer.alloc(20 * 1024 * 1024, 'dead letter ')
  for (const [name, compress] of [
    ['ZSTD', zlib.zstdCompressSync],
    ['GZIP', zlib.gzipSync],
  ] as const) {
    const codec = kafkajs.CompressionCodecs[kafkajs.CompressionTypes[name]]() as ReturnType<typeof zstd>
    expect((await codec.decompress(compress(content))).equals(content)).toBe(true)
  }
})
