// The compression codecs that kafkajs lacks. Without them one compressed batch stops a consumer on all its topics. All
// four are bounded, gzip too: a few kilobytes can unpack to gigabytes. Such a batch must fail without ending the process.

import type { Transform } from 'node:stream'
import { promisify } from 'node:util'
import zlib from 'node:zlib'
import kafkajs from 'kafkajs'
import lz4 from 'lz4-napi'
import snappy from 'snappy'
import { currentBudget } from './decode-budget.ts'

const gzip = promisify<Buffer, Buffer>(zlib.gzip)
const gunzip = promisify<Buffer, zlib.ZlibOptions, Buffer>(zlib.gunzip)
const zstdCompress = promisify<Buffer, Buffer>(zlib.zstdCompress)
const zstdDecompress = promisify<Buffer, zlib.ZstdOptions, Buffer>(zlib.zstdDecompress)

type Codec = {
  compress(bytes: Buffer): Promise<Buffer>
  decompress(bytes: Buffer, maxBytes: number): Promise<Buffer>
}

const codecs = {
  GZIP: {
    compress: gzip,
    decompress: (bytes, maxBytes) =>
      inflate({ bytes, maxBytes, whole: gunzip, stream: () => zlib.createGunzip({ chunkSize }) }),
  },
  Snappy: {
    compress: async (bytes) => frameXerial(await snappy.compress(bytes)),
    decompress: decompressSnappy,
  },
  LZ4: {
    compress: (bytes) => lz4.compressFrame(bytes),
    async decompress(bytes, maxBytes) {
      assertFits(lz4ContentBytes(bytes, maxBytes), maxBytes)
      return await lz4.decompressFrame(bytes)
    },
  },
  ZSTD: {
    compress: zstdCompress,
    decompress: (bytes, maxBytes) =>
      inflate({ bytes, maxBytes, whole: zstdDecompress, stream: () => zlib.createZstdDecompress({ chunkSize }) }),
  },
} satisfies Record<string, Codec>

/**
 * Registers gzip, snappy, lz4 and zstd with kafkajs, for the whole process; calling it again is
 * harmless. A batch that is damaged, or that would unpack to more than `maxBatchBytes` (256 MiB by
 * default), throws a KafkaJSNonRetriableError that names the codec; its cause is what the codec said.
 */
export function registerCodecs({ maxBatchBytes = 256 * 1024 * 1024 }: { maxBatchBytes?: number } = {}): void {
  for (const [name, codec] of Object.entries(codecs) as [keyof typeof codecs, Codec][]) {
    kafkajs.CompressionCodecs[kafkajs.CompressionTypes[name]] = () => ({
      compress: ({ buffer }: { buffer: Buffer }) => codec.compress(buffer),
      decompress: (bytes: Buffer) => decompress({ name, codec, bytes, maxBatchBytes }),
    })
  }
}

type Decompression = { name: string; codec: Codec; bytes: Buffer; maxBatchBytes: number }

/** The reason of a batch that the same fetch had no room for. Only we say exactly this: other reasons name a codec. */
export const noRoomNow = 'the batch is read again by a later fetch, because this one has no room for it'

async function decompress(decompression: Decompression): Promise<Buffer> {
  const budget = currentBudget()
  if (budget === undefined) return decompressBounded(decompression)
  if (budget.isSpent()) throw new kafkajs.KafkaJSNonRetriableError(noRoomNow)
  const maxBatchBytes = Math.min(decompression.maxBatchBytes, budget.maxBytes)
  const content = await decompressBounded({ ...decompression, maxBatchBytes }).catch((error) => {
    budget.spend(maxBatchBytes)
    throw error
  })
  budget.spend(content.length)
  const bytes = content.length + countRecords(content) * recordBytes
  if (bytes > budget.maxBytes) {
    const problem = `${decompression.name} batch of ${decompression.bytes.length} bytes takes ${bytes} bytes in memory`
    throw new kafkajs.KafkaJSNonRetriableError(`${problem}, which is more than ${budget.maxBytes}`)
  }
  if ((await budget.take(bytes)) === 'full') throw new kafkajs.KafkaJSNonRetriableError(noRoomNow)
  return content
}

/** About what a decoded record takes besides its bytes. A batch of a megabyte may hold millions of empty records. */
const recordBytes = 200

/** How many records of format 2 the content holds: each begins with its length. */
function countRecords(content: Buffer): number {
  let count = 0
  for (let at = 0; at < content.length; count++) {
    let length = 0
    let shift = 1
    let byte: number
    do {
      byte = content[at++] ?? 0
      length += (byte & 0x7f) * shift
      shift *= 128
    } while (byte >= 0x80 && at < content.length)
    // Zigzag: an odd number is negative, which no length may be.
    if (length % 2 === 1) return count
    at += length / 2
  }
  return count
}

async function decompressBounded({ name, codec, bytes, maxBatchBytes }: Decompression): Promise<Buffer> {
  try {
    return await codec.decompress(bytes, maxBatchBytes)
  } catch (error) {
    // The codecs throw RangeErrors and strings. kafkajs would also retry a plain Error five times and
    // then restart the consumer for ever, although the same bytes cannot turn out differently.
    const cause = error instanceof Error ? error : new Error(String(error))
    const problem = `${name} batch of ${bytes.length} bytes cannot be decompressed to at most ${maxBatchBytes} bytes`
    throw Object.assign(new kafkajs.KafkaJSNonRetriableError(`${problem}: ${cause.message}`), { cause })
  }
}

function assertFits(bytes: number, maxBytes: number): void {
  if (bytes > maxBytes) throw new Error(`the content is larger than ${maxBytes} bytes`)
}

// Gzip and zstd. Node gathers chunks and then joins them, which takes twice the content. Large content is therefore
// unpacked twice: first only to measure it, then into its place.

const chunkSize = 512 * 1024
const gatheredBytes = 8 * 1024 * 1024

type Inflation = {
  bytes: Buffer
  maxBytes: number
  whole: (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>
  stream: () => Transform
}

async function inflate({ bytes, maxBytes, whole, stream }: Inflation): Promise<Buffer> {
  try {
    return await whole(bytes, { maxOutputLength: Math.min(maxBytes, gatheredBytes) })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE' || maxBytes <= gatheredBytes) throw error
  }
  let size = 0
  await eachChunk(bytes, stream(), (chunk) => {
    size += chunk.length
    assertFits(size, maxBytes)
  })
  const content = Buffer.allocUnsafeSlow(size)
  let at = 0
  await eachChunk(bytes, stream(), (chunk) => {
    at += chunk.copy(content, at)
  })
  return content
}

/** Passes on piece by piece what the bytes unpack to. What `see` throws ends it. */
async function eachChunk(bytes: Buffer, unpacked: Transform, see: (chunk: Buffer) => void): Promise<void> {
  unpacked.end(bytes)
  for await (const chunk of unpacked) see(chunk as Buffer)
}

// Snappy. Kafka's Java clients wrap raw blocks in the framing of the xerial library (a header of 16
// bytes, then blocks that begin with their length as int32); librdkafka sends one raw block.

const xerialMagic = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00])
const xerialHeader = Buffer.concat([xerialMagic, Buffer.from([0, 0, 0, 1, 0, 0, 0, 1])]) // Version 1, readable since 1.

function frameXerial(block: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32BE(block.length)
  return Buffer.concat([xerialHeader, length, block])
}

async function decompressSnappy(bytes: Buffer, maxBytes: number): Promise<Buffer> {
  const isFramed = bytes.subarray(0, xerialMagic.length).equals(xerialMagic)
  const blocks = isFramed ? xerialBlocks(bytes) : [bytes]
  const size = blocks.map(snappyContentBytes).reduce((sum, size) => sum + size, 0)
  assertFits(size, maxBytes)
  if (blocks.length === 1) return uncompress(blocks[0]!)
  // Block by block into its place: joined at the end they would be in memory twice.
  const content = Buffer.allocUnsafeSlow(size)
  let at = 0
  for (const block of blocks) at += (await uncompress(block)).copy(content, at)
  return content.subarray(0, at)
}

async function uncompress(block: Buffer): Promise<Buffer> {
  return (await snappy.uncompress(block, { asBuffer: true })) as Buffer
}

function xerialBlocks(bytes: Buffer): Buffer[] {
  const blocks: Buffer[] = []
  let at = xerialHeader.length
  while (at < bytes.length) {
    // A frame may be a concatenation of frames, each with its header.
    if (bytes.subarray(at, at + xerialMagic.length).equals(xerialMagic)) {
      at += xerialHeader.length
      continue
    }
    const length = bytes.readUInt32BE(at)
    at += 4
    if (at + length > bytes.length) throw new Error('a snappy block is cut off')
    blocks.push(bytes.subarray(at, at + length))
    at += length
  }
  return blocks
}

/** The length that a raw snappy block begins with, as a varint: https://github.com/google/snappy format_description.txt */
function snappyContentBytes(block: Buffer): number {
  let size = 0
  for (let i = 0; i < 5; i++) {
    const byte = block.readUInt8(i)
    size += (byte & 0x7f) * 2 ** (7 * i)
    if (byte < 0x80) return size
  }
  throw new Error('a snappy block begins with no length')
}

// LZ4. The library has no bound, so the content is measured first: walking the tokens of
// a block says how long it will be, without writing it.

const lz4FrameMagic = 0x184d2204

/**
 * How many bytes an LZ4 frame unpacks to; the count stops where it exceeds `maxBytes`.
 * https://github.com/lz4/lz4 doc/lz4_Frame_format.md and doc/lz4_Block_format.md
 */
function lz4ContentBytes(bytes: Buffer, maxBytes: number): number {
  if (bytes.readUInt32LE(0) !== lz4FrameMagic) throw new Error('not an LZ4 frame')
  const flags = bytes.readUInt8(4)
  const hasContentSize = (flags & 0x08) !== 0
  const hasBlockChecksums = (flags & 0x10) !== 0
  const hasDictionary = (flags & 0x01) !== 0
  let at = 4 + 2 + (hasContentSize ? 8 : 0) + (hasDictionary ? 4 : 0) + 1
  let size = 0
  while (size <= maxBytes) {
    const header = bytes.readUInt32LE(at)
    if (header === 0) break
    const length = header & 0x7fffffff
    at += 4
    if (at + length > bytes.length) throw new Error('an LZ4 block is cut off')
    const isStored = header > 0x7fffffff
    size += isStored ? length : lz4BlockContentBytes(bytes.subarray(at, at + length))
    at += length + (hasBlockChecksums ? 4 : 0)
  }
  return size
}

function lz4BlockContentBytes(block: Buffer): number {
  let at = 0
  let size = 0
  // A length of 15 goes on in the following bytes, up to the first that is not 255.
  const readLength = (start: number) => {
    let length = start
    if (start < 15) return length
    let byte: number
    do {
      byte = block[at++] ?? 0
      length += byte
    } while (byte === 255)
    return length
  }
  while (at < block.length) {
    const token = block[at++] ?? 0
    const literals = readLength(token >> 4)
    at += literals
    size += literals
    if (at >= block.length) break // The last sequence has literals only.
    at += 2 // The match's distance.
    size += readLength(token & 0x0f) + 4
  }
  return size
}
