// A fetch that repeats a request after a 503 or 429, when the API's Retry-After says.

export type RetryOptions = {
  fetch: (request: Request) => Promise<Response>
  /** How often one request is sent at most. */
  maxAttempts: number
  /** The longest wait before the next request; if the API asks for more, the request is not repeated. */
  maxWaitMs: number
}

/**
 * After 503 (the database or Kafka is away) a request is repeated if a second one does no harm when only the
 * answer of the first was lost: reads, PUT, DELETE, and requests with If-Match or Idempotency-Key. After 429
 * every request may be repeated, because the API has done nothing.
 */
export function retryingFetch({
  fetch = globalThis.fetch,
  maxAttempts = 5,
  maxWaitMs = 30_000,
}: Partial<RetryOptions>): (request: Request) => Promise<Response> {
  return async (request) => {
    for (let attempt = 1; ; attempt += 1) {
      // A body can be read once; the copy is for the next request.
      const response = await fetch(request.clone())
      if (attempt >= maxAttempts || !mayRepeat(request, response.status)) return response
      const waitMs = retryAfterMs(response.headers.get('retry-after')) ?? Math.min(250 * 2 ** attempt, maxWaitMs)
      if (waitMs > maxWaitMs) return response
      await response.body?.cancel()
      // Spread in time, because many clients may have been refused at the same moment.
      await sleep(waitMs * (1 + Math.random() / 4), request.signal)
    }
  }
}

const repeatable = new Set(['GET', 'HEAD', 'PUT', 'DELETE'])

function mayRepeat({ method, headers }: Request, status: number): boolean {
  if (status === 429) return true
  return status === 503 && (repeatable.has(method) || headers.has('if-match') || headers.has('idempotency-key'))
}

/** Of a header: seconds or a date (RFC 9110, section 10.2.3). */
export function retryAfterMs(value: string | null): number | null {
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
