import { readdirSync, readFileSync } from 'node:fs'
import { deflateSync, inflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { chunk, signature, smallPng } from './small-png.ts'

/** 3 × 2 pixels, each row written in another way. */
function png(rows: readonly (readonly number[])[], width: number): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(rows.length, 4)
  header.set([8, 2, 0, 0, 0], 8)
  const data = deflateSync(Buffer.from(rows.flat()))
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))])
}

function pixelsOf(small: Buffer, width: number, height: number): number[][] {
  const part = (type: string) => {
    const at = small.indexOf(type, 0, 'latin1')
    return small.subarray(at + 4, at + 4 + small.readUInt32BE(at - 4))
  }
  const [palette, rows] = [part('PLTE'), inflateSync(part('IDAT'))]
  return Array.from({ length: height }, (_, y) =>
    Array.from({ length: width }, (_, x) => palette.readUIntBE(rows[y * (width + 1) + 1 + x]! * 3, 3)),
  )
}

test('every pixel keeps its colour, however its row was written', () => {
  const colors = [0x102030, 0x112131, 0xff0080]
  const bytes = colors.flatMap((color) => [color >> 16, (color >> 8) & 255, color & 255])
  const before = bytes.map((byte, at) => (byte - (at < 3 ? 0 : bytes[at - 3]!)) & 255)
  const half = bytes.map((byte, at) => (byte - (((at < 3 ? 0 : bytes[at - 3]!) + byte) >> 1)) & 255)
  const paeth = [0, 0, 0, ...Array.from({ length: 6 }, () => 0)]
  const rows = [
    [0, ...bytes],
    [1, ...before],
    [2, ...bytes.map(() => 0)],
    [3, ...half],
    [4, ...paeth],
  ]
  expect(pixelsOf(smallPng(png(rows, 3)), 3, 5)).toEqual(rows.map(() => colors))
})

test('the pictures of the handbook have a palette', () => {
  const folder = `${import.meta.dirname}/../../../docs/console/`
  for (const name of readdirSync(folder)) expect(readFileSync(folder + name)[25], name).toBe(3)
})
