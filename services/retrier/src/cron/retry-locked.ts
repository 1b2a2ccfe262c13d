// Work that needs a strong lock gives up after half a second, because every other query waits behind it. Here it is
// tried again.

import { setTimeout as sleep } from 'node:timers/promises'

const lockNotAvailable = '55P03'
const tries = 20
const waitMs = 1500

/** Returns the work's result; null where no try got the lock. */
export async function retryLocked<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T | null> {
  for (let left = tries; left > 0; left -= 1) {
    try {
      return await work()
    } catch (error) {
      if ((error as { code?: string }).code !== lockNotAvailable) throw error
      await sleep(waitMs * (0.5 + Math.random()), undefined, { signal })
    }
  }
  return null
}
