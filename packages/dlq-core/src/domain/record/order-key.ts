// Which messages may have to wait for each other, where a policy's ordering is "per-key".

import { createHash } from 'node:crypto'

/**
 * The first eight bytes of the key's SHA-256 as a signed number; null where there is no key. Two keys of
 * the same number would only wait for each other without need.
 */
export function orderKey(key: Buffer | null): bigint | null {
  return key === null ? null : createHash('sha256').update(key).digest().readBigInt64BE()
}
