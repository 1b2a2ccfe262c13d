// Seals what a cookie holds (JWE, dir with A256GCM): its owner can neither read nor change it. Whoever has the key can
// open it, so all replicas share one, and nothing is stored anywhere.

import { hkdfSync, randomBytes } from 'node:crypto'
import { EncryptJWT, errors, type JWTPayload, jwtDecrypt } from 'jose'

export type Seal = {
  /** A text that `open` takes until `expiresAt` (ms since 1970), for the same purpose alone. */
  close(purpose: string, claims: JWTPayload, times: { now: number; expiresAt: number }): Promise<string>
  /** Null where the text was changed, sealed with another key or for another purpose, or has expired. */
  open(purpose: string, text: string, times: { now: number }): Promise<JWTPayload | null>
}

/** Without a secret, the key is random: then only this process opens what it seals. */
export function createSeal(secret: string | undefined): Seal {
  const material = secret === undefined ? randomBytes(32) : Buffer.from(secret)
  const key = new Uint8Array(hkdfSync('sha256', material, '', 'dlq-manager sessions', 32))
  return {
    close: (purpose, claims, { now, expiresAt }) =>
      new EncryptJWT(claims)
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
        .setAudience(purpose)
        .setIssuedAt(Math.floor(now / 1000))
        .setExpirationTime(Math.floor(expiresAt / 1000))
        .encrypt(key),
    async open(purpose, text, { now }) {
      try {
        const { payload } = await jwtDecrypt(text, key, {
          audience: purpose,
          currentDate: new Date(now),
          keyManagementAlgorithms: ['dir'],
          contentEncryptionAlgorithms: ['A256GCM'],
          requiredClaims: ['exp'],
        })
        return payload
      } catch (error) {
        if (error instanceof errors.JOSEError) return null
        throw error
      }
    },
  }
}
