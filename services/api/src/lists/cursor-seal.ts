// Seals a cursor that holds the key of a row which its owner may not see: a search for a token of some topics ends at
// such a row where it was bounded. Whoever has the key can open it, so all replicas share one, and nothing is stored.

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

export type CursorSeal = {
  /** Text for URLs. */
  close(text: string): string
  /** Null where it was changed, or sealed with another key. */
  open(sealed: string): string | null
}

const algorithm = 'aes-256-gcm'
const ivBytes = 12
const tagBytes = 16

/** `secret`: that of the sessions. Without one, the key is random: then only this process opens what it seals. */
export function createCursorSeal(secret: string | undefined): CursorSeal {
  const material = secret === undefined ? randomBytes(32) : Buffer.from(secret)
  const key = new Uint8Array(hkdfSync('sha256', material, '', 'dlq-manager cursors', 32))
  return {
    close(text) {
      const iv = randomBytes(ivBytes)
      const cipher = createCipheriv(algorithm, key, iv)
      const sealed = Buffer.concat([cipher.update(text), cipher.final()])
      return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url')
    },
    open(sealed) {
      const bytes = Buffer.from(sealed, 'base64url')
      if (bytes.length < ivBytes + tagBytes) return null
      const [iv, tag] = [bytes.subarray(0, ivBytes), bytes.subarray(ivBytes, ivBytes + tagBytes)]
      const decipher = createDecipheriv(algorithm, key, iv, { authTagLength: tagBytes }).setAuthTag(tag)
      try {
        return Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]).toString()
      } catch {
        return null
      }
    },
  }
}
