// A registry of Confluent's interface that misbehaves as a test says. The real one is apicurio.ts; this one is for what a
// real one does only when it is broken.

import { once } from 'node:events'
import http, { type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type PretendedRegistry = {
  readonly url: string
  /** What was asked for, in order. */
  readonly asked: string[]
  /** Answers the path with this JSON from now on. */
  answer(path: string, body: unknown): void
  /** Does this with every request, until it is given null. */
  misbehave(how: ((response: ServerResponse) => void) | null): void
  [Symbol.asyncDispose](): Promise<void>
}

export async function pretendRegistry(): Promise<PretendedRegistry> {
  const answers = new Map<string, unknown>()
  const asked: string[] = []
  let misbehaving: ((response: ServerResponse) => void) | null = null
  const server = http.createServer((request, response) => {
    asked.push(request.url!)
    if (misbehaving !== null) return misbehaving(response)
    const body = answers.get(request.url!)
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body ?? { error_code: 40403, message: 'Schema not found' }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    answer: (path, body) => void answers.set(path, body),
    misbehave(how) {
      misbehaving = how
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
