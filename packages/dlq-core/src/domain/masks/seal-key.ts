// Pseudonyms of keys: the key, sealed so that equal keys are equal and a pseudonym finds its messages, while nobody can make
// one for a key that they guess. A synthetic IV over AES-256-CTR, as in RFC 5297: the IV is an HMAC of the key.

import { createCipheriv, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

export const sealedPrefix = 'sealed:'

/** Longer keys have no pseudonym: the filter `key` could not take it. */
export const maxSealedBytes = 1500

const ivBytes = 16

export type KeySeal = {
  seal(key: Buffer): string
  /** The key's bytes; null for a text that this secret has not sealed. */
  open(sealed: string): Buffer | null
}

export function createKeySeal(secret: string): KeySeal {
  const derived = Buffer.from(hkdfSync('sha256', secret, '', 'dlq-manager: pseudonyms of keys', 64))
  const [macKey, cipherKey] = [derived.subarray(0, 32), derived.subarray(32)]
  const ivOf = (key: Buffer) => createHmac('sha256', macKey).update(key).digest().subarray(0, ivBytes)
  // CTR is its own inverse.
  const crypt = (iv: Buffer, bytes: Buffer) => createCipheriv('aes-256-ctr', cipherKey, iv).update(bytes)
  return {
    seal(key) {
      const iv = ivOf(key)
      return sealedPrefix + Buffer.concat([iv, crypt(iv, key)]).toString('base64url')
    },
    open(sealed) {
      const text = sealed.startsWith(sealedPrefix) ? sealed.slice(sealedPrefix.length) : ''
      const bytes = Buffer.from(text, 'base64url')
      if (bytes.length < ivBytes || bytes.toString('base64url') !== text) return null
      const iv = bytes.subarray(0, ivBytes)
      const key = crypt(iv, bytes.subarray(ivBytes))
      return timingSafeEqual(ivOf(key), iv) ? key : null
    },
  }
}
