// Which messages wait for each other if a policy's ordering is "per-key".

import { createHash } from 'node:crypto'

/**
 * The first eight bytes of the key's SHA-256 as a signed number; null where there is no key. If two keys
 * have the same number, they only wait for each other unnecessarily.
 */
export function orderKey(key: Buffer | null): bigint | null {
  return key === null ? null : createHash('sha256').update(key).digest().readBigInt64BE()
}
