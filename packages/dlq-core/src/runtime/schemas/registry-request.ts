// One question to a schema registry, with bounds: `timeout` covers the whole answer, an answer has at most a mebibyte, and
// redirects are not followed, because the login is for this host only.

import { readFile } from 'node:fs/promises'
import http from 'node:http'
import https from 'node:https'
import type { RegistryConfig } from '../config/schemas-schema.ts'
import { createTokenSource, readTokenFile } from '../kafka/kafka-oauth.ts'
import type { Log } from '../log.ts'
import { proxyOptions } from '../outgoing/proxy.ts'
import { followTlsFiles, type TlsFiles } from '../tls/tls-files.ts'

export const maxAnswerBytes = 1024 * 1024
const maxSockets = 8

/** The registry gave no answer that says anything of the schema: it is away, too slow, or out of order. */
export class RegistryAway extends Error {}

export type RegistryAnswer = { status: number; text: string }
/** @throws {RegistryAway} */
export type RegistryRequest = (
  path: string,
  /** A POST with this body. Its headers take the place of the login's. */
  post?: { body: string; headers: Readonly<Record<string, string>> },
) => Promise<RegistryAnswer>

export function createRegistryRequest(registry: RegistryConfig, log: Log): RegistryRequest {
  const base = registry.url.replace(/\/+$/, '')
  const isTls = base.startsWith('https:')
  const { request } = isTls ? https : http
  const login = createLogin(registry)
  const { Agent } = isTls ? https : http
  // A session that is resumed would still show the certificate of its beginning.
  const agent = new Agent({ keepAlive: true, maxSockets, maxCachedSessions: 0, ...proxyOptions() })
  const tls = isTls ? followTlsFiles({}, () => tlsFiles(registry), { of: base, log }) : {}

  return async (path, post) => {
    const signal = AbortSignal.timeout(registry.timeout)
    try {
      const authorization = await login()
      const headers = {
        accept: 'application/vnd.schemaregistry.v1+json, application/json, */*',
        ...(authorization !== null && { authorization }),
        ...post?.headers,
      }
      return await new Promise<RegistryAnswer>((resolve, reject) => {
        const asking = request(
          `${base}${path}`,
          { ...tls, agent, headers, signal, method: post ? 'POST' : 'GET' },
          (answer) => {
            readBounded(answer).then((text) => resolve({ status: answer.statusCode!, text }), reject)
          },
        )
        asking.on('error', reject)
        asking.end(post?.body)
      })
    } catch (cause) {
      const reason = signal.aborted ? `no whole answer within ${registry.timeout} ms` : (cause as Error).message
      throw new RegistryAway(reason, { cause })
    }
  }
}

async function readBounded(answer: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length
    // Leaving the loop ends the connection.
    if (bytes > maxAnswerBytes) throw new Error(`the answer is larger than ${maxAnswerBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function tlsFiles({ ca_file, cert_file, key_file }: RegistryConfig): TlsFiles {
  return { ca: ca_file, cert: cert_file, key: key_file }
}

/** The header "authorization". Files are read each time, so that a new secret needs no new start. */
function createLogin(registry: RegistryConfig): () => Promise<string | null> {
  const { username, password_file, token_file, token_url, client_id, client_secret_file, scope } = registry
  if (username !== undefined)
    return async () => {
      const password = await readSecret(password_file!)
      return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
    }
  if (token_file !== undefined) return async () => `Bearer ${await readTokenFile(token_file)}`
  if (token_url === undefined) return async () => null
  const clientSecret = () => readSecret(client_secret_file!)
  const token = createTokenSource({ url: token_url, clientId: client_id!, clientSecret, scope })
  return async () => `Bearer ${await token()}`
}

async function readSecret(path: string): Promise<string> {
  return new TextDecoder().decode(await readFile(path)).trimEnd()
}
