// Tokens for SASL/OAUTHBEARER: from a file that another program renews (a Kubernetes service account
// token), or from a token endpoint by the client credentials grant (RFC 6749, section 4.4).

import { readFile } from 'node:fs/promises'
import { monotonicNow } from '../clock/monotonic-now.ts'
import { DlqError } from '../errors.ts'

/** Gives a token that is valid now. @throws {DlqError} KAFKA_UNAVAILABLE where there is none */
export type TokenSource = () => Promise<string>

export type TokenRequest = {
  url: string
  clientId: string
  /** The present one. */
  clientSecret: () => string | Promise<string>
  scope?: string | undefined
}

type Token = { value: string; refreshAt: number; endsAt: number }
type Deps = { fetch?: typeof fetch; now?: () => number }

const timeoutMs = 10_000
const maxAnswerBytes = 256 * 1024
/** As in Kafka's own clients (sasl.login.refresh.window.factor): the rest is time to try again. */
const refreshAfter = 0.8

/**
 * A source that asks the endpoint and keeps the token for four fifths of its life. If the next
 * request fails, the old token is used until it expires. A token without a stated life is used once.
 */
export function createTokenSource(
  request: TokenRequest,
  { fetch = globalThis.fetch, now = monotonicNow }: Deps = {},
): TokenSource {
  let token: Token | undefined
  let asking: Promise<Token> | undefined
  return async () => {
    if (token !== undefined && now() < token.refreshAt) return token.value
    try {
      // Connections to several brokers ask at the same moment; one request serves them all.
      asking ??= requestToken(request, { fetch, now }).finally(() => {
        asking = undefined
      })
      token = await asking
      return token.value
    } catch (error) {
      if (token !== undefined && now() < token.endsAt) return token.value
      throw error
    }
  }
}

async function requestToken(
  { url, clientId, clientSecret, scope }: TokenRequest,
  { fetch, now }: Required<Deps>,
): Promise<Token> {
  const askedAt = now()
  const credentials = [clientId, await clientSecret()].map(formEncoded).join(':')
  const body = new URLSearchParams({ grant_type: 'client_credentials', ...(scope === undefined ? {} : { scope }) })
  let status: number
  let answer: string
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(credentials).toString('base64')}`, accept: 'application/json' },
      body,
      // The credentials are for this endpoint only, so redirects are not followed.
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    })
    status = response.status
    answer = await readBounded(response)
  } catch (cause) {
    throw new DlqError('KAFKA_UNAVAILABLE', `the token endpoint ${withoutCredentials(url)} does not answer`, { cause })
  }
  const { access_token, expires_in, error } = parseObject(answer)
  if (status !== 200) {
    // Only the code that the RFC defines: the rest of the answer may repeat secrets.
    const code = typeof error === 'string' && /^[\w-]{1,64}$/.test(error) ? ` (${error})` : ''
    throw new DlqError('KAFKA_UNAVAILABLE', `the token endpoint ${withoutCredentials(url)} answered ${status}${code}`)
  }
  const lifeMs = Math.max(Number(expires_in) || 0, 0) * 1000
  return {
    value: checkToken(access_token, `the token endpoint ${withoutCredentials(url)}`),
    refreshAt: askedAt + lifeMs * refreshAfter,
    endsAt: askedAt + lifeMs,
  }
}

/** The file's present token. */
export async function readTokenFile(path: string): Promise<string> {
  let content: string
  try {
    content = await readFile(path, 'utf8')
  } catch (cause) {
    throw new DlqError('KAFKA_UNAVAILABLE', `the token file ${path} cannot be read`, { cause })
  }
  return checkToken(content.trim(), `the token file ${path}`)
}

/** RFC 6750, section 2.1; anything else could not be sent as SASL/OAUTHBEARER. */
function checkToken(token: unknown, from: string): string {
  if (typeof token === 'string' && /^[\w.~+/-]+=*$/.test(token)) return token
  throw new DlqError('KAFKA_UNAVAILABLE', `${from} gave no bearer token`)
}

async function readBounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > maxAnswerBytes) throw new Error(`the answer is larger than ${maxAnswerBytes} bytes`)
  }
  return Buffer.concat(chunks).toString()
}

function parseObject(json: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {} // The status, or the missing token, says enough.
  }
}

/** RFC 6749, section 2.3.1: id and secret are form-encoded before they are joined. */
function formEncoded(text: string): string {
  return new URLSearchParams({ v: text }).toString().slice(2)
}

function withoutCredentials(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname
}
