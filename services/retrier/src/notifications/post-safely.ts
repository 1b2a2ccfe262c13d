// Sends one request to an address from a secret file. The address that is connected to is checked, not the name, so that
// a name which changes its address passes nothing: no loopback, no private network, no metadata of a cloud. Where a proxy
// leads out, it looks names up, and so it decides where they lead; an address that stands in the URL is still checked.

import type { IncomingMessage } from 'node:http'
import * as http from 'node:http'
import * as https from 'node:https'
import { proxyOptions } from 'dlq-core/runtime/outgoing/proxy.ts'
import { RequestFilteringHttpAgent, RequestFilteringHttpsAgent } from 'request-filtering-agent'

export type SafetyRules = { allowHttp: boolean; allowNetworks: readonly string[]; timeoutMs?: number }

/** `retryAfterMs`: what the receiver asks for. */
export type Answer = { status: number; retryAfterMs: number | null }

const defaultTimeoutMs = 15_000
/** The rest of an answer is not read. */
const maxAnswerBytes = 4096

/** Resolves with whatever status; redirects are not followed. @throws where nobody answers, or the address is refused */
export async function sendSafely(
  url: URL,
  {
    method = 'POST',
    body = '',
    headers = {},
  }: { method?: 'POST' | 'GET'; body?: string; headers?: Record<string, string> },
  { allowHttp, allowNetworks, timeoutMs = defaultTimeoutMs }: SafetyRules,
): Promise<Answer> {
  if (url.protocol !== 'https:' && !(allowHttp && url.protocol === 'http:'))
    throw new Error(`${url.protocol}//${url.host}: must be https (notifications.allow_http allows http)`)
  const filter = { allowIPAddressList: [...allowNetworks], keepAlive: false, ...proxyOptions() }
  const [client, agent] =
    url.protocol === 'https:'
      ? [https, new RequestFilteringHttpsAgent(filter)]
      : [http, new RequestFilteringHttpAgent(filter)]
  const signal = AbortSignal.timeout(timeoutMs)
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const length = Buffer.byteLength(body)
    const options = {
      method,
      agent,
      signal,
      headers: { ...headers, 'content-length': length, 'user-agent': 'dlq-manager' },
    }
    client.request(url, options, resolve).on('error', reject).end(body)
  })
  let bytes = 0
  answer.on('error', () => {})
  for await (const chunk of answer) {
    bytes += (chunk as Buffer).length
    if (bytes > maxAnswerBytes) break
  }
  answer.destroy()
  return { status: answer.statusCode!, retryAfterMs: readRetryAfter(answer.headers['retry-after'], Date.now()) }
}

const longestRetryAfterMs = 6 * 3_600_000

/** Seconds, or a date. */
export function readRetryAfter(value: string | undefined, nowMs: number): number | null {
  if (value === undefined) return null
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1000 : Date.parse(value) - nowMs
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), longestRetryAfterMs) : null
}
