// Ids that follow from the record: the same record always has the same id, even in a database
// that was rebuilt from Kafka, and redelivery can be recognised by the primary key alone.

import { createHash } from 'node:crypto'
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
  const hash = createHash('sha256')
    .update(JSON.stringify([cluster, topic, partition, String(offset), String(timestamp)]))
    .digest()
  const time = timestamp < 0n ? 0n : timestamp > maxTimestamp ? maxTimestamp : timestamp
  const bytes = Buffer.concat([Buffer.alloc(6), hash.subarray(0, 10)])
  bytes.writeUIntBE(Number(time), 0, 6)
  bytes[6] = (bytes[6]! & 0x0f) | 0x70
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return formatUuid(bytes)
}

/**
 * The id of an attempt: a UUIDv8 made of SHA-256(message id ":" number). An attempt that has to be
 * made again, because nobody knows whether it was published, therefore keeps its id.
 */
export function deriveAttemptId(messageId: string, number: number): string {
  const bytes = createHash('sha256').update(`${messageId}:${number}`).digest().subarray(0, 16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x80
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return formatUuid(bytes)
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Whether the text is a UUID in its canonical form, of any version. */
export function isUuid(text: string): boolean {
  return uuidPattern.test(text)
}

function formatUuid(bytes: Buffer): string {
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
