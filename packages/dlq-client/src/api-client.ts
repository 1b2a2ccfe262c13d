// The REST API, typed by its own OpenAPI document, for Node and browsers.

import createClient, { type Client } from 'openapi-fetch'
import type { paths } from './api-types.ts'
import { type RetryOptions, retryAfterMs, retryingFetch } from './retrying-fetch.ts'

export type DlqClient = Client<paths>

export type DlqClientOptions = Partial<RetryOptions> & {
  /** Such as "https://dlq.example.com". */
  baseUrl: string
  /** A bearer token, or a function that is called before each request, for tokens that expire. */
  token?: string | (() => string | Promise<string>)
  /** In the place of JSON, which rounds numbers of payloads that are longer than its own: `exactJson`. */
  json?: Json
}

export type Json = { parse(text: string): unknown; stringify(value: unknown): string }

/** `client.GET('/api/v1/dlq/messages/{id}', { params: { path: { id } } })` resolves to `{ data }` or `{ error }`. */
export function createDlqClient({ baseUrl, token, json, ...retry }: DlqClientOptions): DlqClient {
  const client = createClient<paths>({
    ...{ baseUrl, fetch: retryingFetch(retry) },
    ...(json && { bodySerializer: (body: unknown) => json.stringify(body) }),
  })
  if (json !== undefined) {
    client.use({
      onResponse: ({ response, options }) =>
        options.parseAs === 'json' && response.ok && response.body !== null ? readBy(json, response) : undefined,
    })
  }
  if (token !== undefined) {
    client.use({
      async onRequest({ request }) {
        request.headers.set('authorization', `Bearer ${typeof token === 'function' ? await token() : token}`)
        return request
      },
    })
  }
  return client
}

/** openapi-fetch asks an answer with a length for its JSON. */
async function readBy(json: Json, response: Response): Promise<Response> {
  const { status, statusText, url } = response
  const text = await response.text()
  const headers = new Headers(response.headers)
  if (text !== '') headers.set('content-length', String(text.length))
  const read = new Response(text, { status, statusText, headers })
  return Object.defineProperties(read, { url: { value: url }, json: { value: async () => json.parse(text) } })
}

/** An error answer of the API. */
export class DlqApiError extends Error {
  readonly status: number
  /** "SYS_DLQ_CONFLICT" …; null if a proxy answered instead of the API. */
  readonly code: string | null
  readonly requestId: string | null
  readonly details: readonly { field: string; message: string }[]
  /** After which time the answer asks for the next request, in milliseconds; null where it does not. */
  readonly retryAfterMs: number | null

  constructor(status: number, body: unknown, retryAfter: string | null = null) {
    const error = (body as { error?: { code: string; message: string; request_id: string; details: [] } })?.error
    super(error?.message ?? `the API answered ${status}`)
    this.name = 'DlqApiError'
    this.status = status
    this.code = error?.code ?? null
    this.requestId = error?.request_id ?? null
    // A proxy may have details of its own.
    this.details = Array.isArray(error?.details) ? error.details : []
    this.retryAfterMs = retryAfterMs(retryAfter)
  }
}

/** The data of an answer. @throws {DlqApiError} where it is an error */
export async function dataOf<T>(
  answer: Promise<{ data?: T; error?: unknown; response: Response }>,
): Promise<NonNullable<T>> {
  const { data, error, response } = await answer
  if (data === undefined || data === null)
    throw new DlqApiError(response.status, error, response.headers.get('retry-after'))
  return data
}
