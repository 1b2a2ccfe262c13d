// One layer of compression that the producer put around a value itself: Kafka's own is gone by now.

import {
  brotliCompressSync,
  brotliDecompressSync,
  constants,
  deflateSync,
  gunzipSync,
  gzipSync,
  inflateSync,
  zstdCompressSync,
  zstdDecompressSync,
} from 'node:zlib'
import { maxDecompressedBytes } from './payload-bounds.ts'
import { PayloadFault } from './payload-fault.ts'

export const compressions = ['gzip', 'zstd', 'br'] as const
export type Compression = (typeof compressions)[number]

/** By the first bytes; null where they are not those of a compression. Brotli has none. */
export function compressionOf(bytes: Buffer): Compression | null {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return 'gzip'
  if (bytes[0] === 0x28 && bytes[1] === 0xb5 && bytes[2] === 0x2f && bytes[3] === 0xfd) return 'zstd'
  return null
}

/** Stops a frame that asks for a window of 128 MiB; encoders use up to 8 MiB unless told otherwise. */
const maxWindowLog = 23

/** @throws {PayloadFault} where the bytes are not compressed so, or become more than 4 MiB */
export function decompress(bytes: Buffer, compression: Compression): Buffer {
  const maxOutputLength = maxDecompressedBytes
  try {
    switch (compression) {
      case 'gzip':
        return gunzipSync(bytes, { maxOutputLength })
      case 'zstd':
        return zstdDecompressSync(bytes, {
          maxOutputLength,
          params: { [constants.ZSTD_d_windowLogMax]: maxWindowLog },
        })
      case 'br':
        return brotliDecompressSync(bytes, { maxOutputLength })
    }
  } catch (error) {
    const isLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
    throw new PayloadFault(
      isLarge ? `it unpacks to more than ${maxDecompressedBytes} bytes` : `it is not whole ${compression}`,
    )
  }
}

/** zlib's format, as AWS Glue has it within its frame. @throws {PayloadFault} as `decompress` */
export function inflate(bytes: Buffer): Buffer {
  try {
    return inflateSync(bytes, { maxOutputLength: maxDecompressedBytes })
  } catch (error) {
    const isLarge = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
    throw new PayloadFault(isLarge ? `it unpacks to more than ${maxDecompressedBytes} bytes` : 'it is not whole zlib')
  }
}

export function deflate(bytes: Buffer): Buffer {
  return deflateSync(bytes)
}

export function compress(bytes: Buffer, compression: Compression): Buffer {
  switch (compression) {
    case 'gzip':
      return gzipSync(bytes)
    case 'zstd':
      return zstdCompressSync(bytes)
    case 'br':
      return brotliCompressSync(bytes)
  }
}
