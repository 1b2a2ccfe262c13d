// What the worker does: the same as `patchValue`, on a thread of its own.

import { type PatchedValue, patchValue } from '../../domain/message/edit-message.ts'

export type PatchTask = { value: Uint8Array; patch: string }

/** Values that are JSON as they stand. */
export default function patchInWorker({ value, patch }: PatchTask): PatchedValue {
  return patchValue({ record_headers: '[]', record_value: Buffer.from(value), payload: null }, patch)
}
