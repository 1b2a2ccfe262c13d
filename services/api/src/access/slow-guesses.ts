// Slows those who try tokens: after some wrong ones, an address has to wait a second for each further try. A token that
// was right lately passes at once, so that nobody locks others out who come from the same proxy.

import { createHash } from 'node:crypto'
import { isIPv6 } from 'node:net'
import { monotonicNow } from 'dlq-core/runtime/clock/monotonic-now.ts'
import { ApiError } from '../http/api-error.ts'
import { WrongToken } from './authenticate.ts'

/** Wrong tokens of an address that are answered at once, and how many more each second. */
const burst = 20
const perSecond = 1

/** Bounds the memory. A forgotten address has all its tries again; a forgotten token waits like a new one. */
const maxRemembered = 10_000

export type SlowGuesses = <T>(
  asked: { address: string; credentials: string },
  authenticate: () => Promise<T>,
) => Promise<T>

/** The returned function authenticates. @throws {ApiError} 429 before it looks at the credentials, else as `authenticate` */
export function createSlowGuesses({ now = monotonicNow } = {}): SlowGuesses {
  const buckets = new Map<string, { left: number; at: number }>()
  const right = new Set<string>()

  function leftOf(address: string): number {
    const bucket = buckets.get(address)
    return bucket === undefined ? burst : Math.min(burst, bucket.left + ((now() - bucket.at) / 1000) * perSecond)
  }

  return async ({ address, credentials }, authenticate) => {
    if (credentials === '') return authenticate()
    const place = placeOf(address)
    const hash = createHash('sha256').update(credentials).digest('base64')
    if (!right.has(hash) && leftOf(place) < 1)
      throw new ApiError('SYS_DLQ_TOO_MANY_REQUESTS', 'too many wrong tokens; try again in a moment')
    try {
      const access = await authenticate()
      if (right.size >= maxRemembered) right.clear()
      right.add(hash)
      return access
    } catch (error) {
      if (error instanceof WrongToken) {
        right.delete(hash)
        if (buckets.size >= maxRemembered) buckets.clear()
        buckets.set(place, { left: Math.max(0, leftOf(place) - 1), at: now() })
      }
      throw error
    }
  }
}

/** Of an IPv6 address its network of 64 bits, because whoever has one address there has all of them. */
function placeOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  if (mapped) return mapped[1]!
  if (!isIPv6(address)) return address
  const [head = '', tail] = address.replace(/%.*$/, '').split('::')
  const front = head === '' ? [] : head.split(':')
  const back = tail ? tail.split(':') : []
  const zeros = tail === undefined ? 0 : 8 - front.length - back.length
  return [...front, ...Array<string>(Math.max(0, zeros)).fill('0'), ...back].slice(0, 4).join(':')
}
