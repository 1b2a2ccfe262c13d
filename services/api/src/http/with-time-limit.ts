// An answer comes in bounded time, also while PostgreSQL is frozen and says nothing at all.

import { ApiError } from './api-error.ts'

/** The result of `work`, or 503 after `limitMs`; then the signal tells `work` to stop. */
export async function withTimeLimit<T>(limitMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const timeUp = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      timeUp.abort()
      reject(new ApiError('SYS_DLQ_UNAVAILABLE', 'the database did not answer in time; try again in a moment'))
    }, limitMs)
  })
  try {
    return await Promise.race([work(timeUp.signal), late])
  } finally {
    clearTimeout(timer)
  }
}
