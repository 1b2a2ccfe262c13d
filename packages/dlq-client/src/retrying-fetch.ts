// A fetch that asks again where the API says that it cannot answer now, when the API says so.

export type RetryOptions = {
  fetch: (request: Request) => Promise<Response>
  /** How often one request is sent at most. */
  maxAttempts: number
  /** No longer than this is waited for the next attempt; an API that asks for more is not asked again. */
  maxWaitMs: number
}

/**
 * 503 (the database or Kafka is away) is asked again where it does no harm if the first request did its work
 * and only the answer was lost: reading, PUT, DELETE, and what carries an If-Match or Idempotency-Key. 429 has done
 * nothing, whatever it was.
 */
export function retryingFetch({
  fetch = globalThis.fetch,
  maxAttempts = 5,
  maxWaitMs = 30_000,
}: Partial<RetryOptions>): (request: Request) => Promise<Response> {
  return async (request) => {
    for (let attempt = 1; ; attempt += 1) {
      // A body is read once; the copy is for the attempt after this one.
      const response = await fetch(request.clone())
      if (attempt >= maxAttempts || !mayRepeat(request, response.status)) return response
      const waitMs = retryAfterMs(response.headers.get('retry-after')) ?? Math.min(250 * 2 ** attempt, maxWaitMs)
      if (waitMs > maxWaitMs) return response
      await response.body?.cancel()
      // Not all at the same moment, when many were turned away at once.
      await sleep(waitMs * (1 + Math.random() / 4), request.signal)
    }
  }
}

const repeatable = new Set(['GET', 'HEAD', 'PUT', 'DELETE'])

function mayRepeat({ method, headers }: Request, status: number): boolean {
  if (status === 429) return true
  return status === 503 && (repeatable.has(method) || headers.has('if-match') || headers.has('idempotency-key'))
}

/** Seconds or a date (RFC 9110, section 10.2.3). */
function retryAfterMs(value: string | null): number | null {
  if (value === null) return null
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return Number.isNaN(ms) ? null : Math.max(0, ms)
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, ms)
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}
