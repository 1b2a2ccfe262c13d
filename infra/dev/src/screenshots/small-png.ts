// Makes a picture of a page smaller: such a picture has few colours, so a byte a pixel is enough. Browsers write three or four.

import { crc32, deflateSync, inflateSync } from 'node:zlib'

export const signature = Buffer.from('89504e470d0a1a0a', 'hex')
const maxColors = 256
/** By the format's number of what a pixel is. */
const channelsOf = new Map([
  [2, 3],
  [6, 4],
])

/** The picture with a palette. `png`: 8 bits a channel, RGB or RGBA without transparency, as Chromium writes them. */
export function smallPng(png: Buffer): Buffer {
  const parts = chunksOf(png)
  const header = parts.find(({ type }) => type === 'IHDR')!.data
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)]
  const channels = channelsOf.get(header[9]!)
  if (header[8] !== 8 || channels === undefined || header[12] !== 0) throw new Error('not a picture of a browser')
  const data = Buffer.concat(parts.filter(({ type }) => type === 'IDAT').map((part) => part.data))
  const pixels = unfilter(inflateSync(data), { width, height, channels })
  const { palette, indexes } = withPalette(pixels, channels)
  const rows = Buffer.alloc((width + 1) * height)
  for (let y = 0; y < height; y++) indexes.copy(rows, y * (width + 1) + 1, y * width, (y + 1) * width)
  const head = Buffer.from(header)
  head[9] = 3
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('PLTE', palette),
    chunk('IDAT', deflateSync(rows, { level: 9, memLevel: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunksOf(png: Buffer): { type: string; data: Buffer }[] {
  const found = []
  for (let at = signature.length; at < png.length; ) {
    const length = png.readUInt32BE(at)
    found.push({ type: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) })
    at += length + 12
  }
  return found
}

export function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, crc] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  crc.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, crc])
}

/** Each row begins with how it was written: as it is, or as the difference to its neighbours. */
function unfilter(
  raw: Buffer,
  { width, height, channels }: { width: number; height: number; channels: number },
): Buffer {
  const stride = width * channels
  const pixels = Buffer.alloc(stride * height)
  for (let y = 0; y < height; y++) {
    const filter = raw[y * (stride + 1)]!
    for (let x = 0; x < stride; x++) {
      const at = y * stride + x
      const left = x < channels ? 0 : pixels[at - channels]!
      const above = y === 0 ? 0 : pixels[at - stride]!
      const corner = x < channels || y === 0 ? 0 : pixels[at - stride - channels]!
      const guess = [0, left, above, (left + above) >> 1, nearest(left, above, corner)][filter]!
      pixels[at] = raw[y * (stride + 1) + 1 + x]! + guess
    }
  }
  return pixels
}

function nearest(left: number, above: number, corner: number): number {
  const guess = left + above - corner
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - above), Math.abs(guess - corner)]
  if (a <= b && a <= c) return left
  return b <= c ? above : corner
}

/** Colours that are not kept become the nearest one of them. */
function withPalette(pixels: Buffer, channels: number): { palette: Buffer; indexes: Buffer } {
  const counts = new Map<number, number>()
  for (let at = 0; at < pixels.length; at += channels) {
    const color = pixels.readUIntBE(at, 3)
    counts.set(color, (counts.get(color) ?? 0) + 1)
  }
  const kept = chooseColors(counts)
  const places = new Map(kept.map((color, place) => [color, place]))
  for (const color of counts.keys()) if (!places.has(color)) places.set(color, kept.indexOf(nearestOf(color, kept)))
  const indexes = Buffer.alloc(pixels.length / channels)
  for (let at = 0; at < indexes.length; at++) indexes[at] = places.get(pixels.readUIntBE(at * channels, 3))!
  const palette = Buffer.alloc(kept.length * 3)
  kept.forEach((color, place) => {
    palette.writeUIntBE(color, place * 3, 3)
  })
  return { palette, indexes }
}

/**
 * The colours that are seen most often, and then those that are least like any of these: a mark has few pixels, and its colour
 * means something.
 */
function chooseColors(counts: ReadonlyMap<number, number>): number[] {
  const sorted = [...counts].toSorted(([, a], [, b]) => b - a).map(([color]) => color)
  const kept = sorted.slice(0, maxColors / 2)
  const rest = new Map(sorted.slice(maxColors / 2).map((color) => [color, distance(color, nearestOf(color, kept))]))
  while (kept.length < maxColors && rest.size > 0) {
    const [next] = [...rest].reduce((farthest, one) => (one[1] > farthest[1] ? one : farthest))
    rest.delete(next)
    kept.push(next)
    for (const [color, least] of rest) rest.set(color, Math.min(least, distance(color, next)))
  }
  return kept
}

function nearestOf(color: number, kept: readonly number[]): number {
  return kept.reduce((best, one) => (distance(color, one) < distance(color, best) ? one : best))
}

function distance(one: number, other: number): number {
  return [16, 8, 0].reduce((sum, bits) => sum + (((one >> bits) & 255) - ((other >> bits) & 255)) ** 2, 0)
}
