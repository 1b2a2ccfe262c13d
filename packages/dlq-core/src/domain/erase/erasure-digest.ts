// What an erased key or message is recognised by, without keeping it.

import { createHmac } from 'node:crypto'

/** HMAC-SHA-256. */
export function keyDigest(hmacKey: Buffer, recordKey: Buffer): Buffer {
  return createHmac('sha256', hmacKey).update('key:').update(recordKey).digest()
}

/** Of a message's id, as text. */
export function idDigest(hmacKey: Buffer, messageId: string): Buffer {
  return createHmac('sha256', hmacKey).update('id:').update(messageId).digest()
}
