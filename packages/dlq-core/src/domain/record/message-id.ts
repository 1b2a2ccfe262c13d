// Ids that follow from the record: the same record always has the same id, even in a database
// that was rebuilt from Kafka, and a record that is read again is recognised by the primary key alone.

import { hash } from 'node:crypto'
import type { DeadLetterRecord } from './record.ts'

const maxTimestamp = 2n ** 48n - 1n

/**
 * The id of a dead letter: a UUIDv7 (RFC 9562, section 5.7) whose time is the record's timestamp
 * (clamped to 0 … 2⁴⁸−1) and whose 74 random bits are the first bits of
 * SHA-256(JSON [cluster, topic, partition, offset, timestamp]), offset and timestamp as decimal text.
 */
export function deriveMessageId(
  record: Pick<DeadLetterRecord, 'cluster' | 'topic' | 'partition' | 'offset' | 'timestamp'>,
): string {
  const { cluster, topic, partition, offset, timestamp } = record
  const hex = hash('sha256', JSON.stringify([cluster, topic, partition, String(offset), String(timestamp)]))
  const time = timestamp < 0n ? 0n : timestamp > maxTimestamp ? maxTimestamp : timestamp
  return formatUuid(time.toString(16).padStart(12, '0') + hex, 7)
}

/** The smallest id of a time in milliseconds, as dlq.uuid_floor returns it. */
export function idFloorOf(ms: number): string {
  const time = Math.min(Math.max(0, Math.floor(ms)), Number(maxTimestamp))
  const hex = time.toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

/**
 * The id of an attempt: a UUIDv8 made of SHA-256(message id ":" number). An attempt that is
 * repeated, because its outcome is unknown, therefore keeps its id.
 */
export function deriveAttemptId(messageId: string, number: number): string {
  return formatUuid(hash('sha256', `${messageId}:${number}`), 8)
}

/** No id is before it, whatever its version. */
export const smallestId = '00000000-0000-0000-0000-000000000000'
/** No id is behind it. */
export const greatestId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Whether the text is a UUID in its canonical form, of any version. */
export function isUuid(text: string): boolean {
  return uuidPattern.test(text)
}

/**
 * The first 32 hexadecimal digits, with the bits of version and variant set. Text, because bytes cost three times as much;
 * copied, because V8 keeps a text that was put together as its parts, which take several times the memory.
 */
export function formatUuid(hex: string, version: 7 | 8): string {
  const variant = variantDigits[Number.parseInt(hex[16]!, 16) & 3]
  const uuid = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${version}${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
  return scratch.toString('latin1', 0, scratch.write(uuid, 'latin1'))
}

const variantDigits = '89ab'
const scratch = Buffer.alloc(36)
