// JSON Patches of large values, beside the event loop. At its bounds one takes half a second, and nothing else is
// answered, renewed or sent by a process that works it out.

import type { Piscina } from 'piscina'
import { type PatchedValue, patchValue, sentValue } from '../../domain/message/edit-message.ts'
import type { Reading } from '../../domain/payload/read-payload.ts'
import type { PatchTask } from './patch-worker.ts'

/** Smaller values are patched in less time than another thread needs to take them: some 2 ms. */
export const leastAside = 32_768
/** Then the thread ends, and gives its memory back. */
const idleMs = 10_000

let pool: Promise<Piscina<PatchTask, PatchedValue>> | null = null

/** One for the process, so that patches of many requests share one core. It keeps no process alive. */
async function makePool(): Promise<Piscina<PatchTask, PatchedValue>> {
  // Only here, because most processes never meet a large value.
  const { Piscina } = await import('piscina')
  const filename = new URL('./patch-worker.ts', import.meta.url).href
  return new Piscina({ filename, minThreads: 0, maxThreads: 1, idleTimeout: idleMs })
}

/**
 * `patchValue`, without holding up the process: larger values that are JSON as they stand are patched on another thread.
 * Values with a schema are bounded more tightly, and patched here. One after the other.
 */
export async function patchAside(
  message: Parameters<typeof sentValue>[0],
  patch: string,
  reading?: Reading,
): Promise<PatchedValue> {
  const value = sentValue(message)
  const isHere = value === null || value.length < leastAside || (reading !== undefined && !isPlainJson(reading))
  if (isHere) return patchValue(message, patch, reading)
  pool ??= makePool()
  const { bytes, ...patched } = await (await pool).run({ value, patch })
  return { ...patched, bytes: bytes && Buffer.from(bytes) }
}

/** JSON as it stands: without a schema, a frame or a compression. */
export function isPlainJson({ decoding, layout }: Reading): boolean {
  return decoding === null && layout?.isJson === true
}
