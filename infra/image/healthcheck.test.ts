// Runs the image's HEALTHCHECK against a server of this process.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'

const run = promisify(execFile)
const script = fileURLToPath(new URL('healthcheck.ts', import.meta.url))

// The last one is an address of IPv6 also where the machine has none.
test.each([
  ['0.0.0.0', '127.0.0.1'],
  ['127.0.0.1', '127.0.0.1'],
  ['::ffff:127.0.0.1', '::ffff:127.0.0.1'],
])('a service with server.host %s is healthy', async (host, address) => {
  const asked: unknown[] = []
  const server = createServer((request, answer) => {
    asked.push(request.url)
    answer.end()
  }).listen(0, address)
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const env = { PATH: process.env.PATH, DLQ_SERVER_HOST: host, DLQ_SERVER_PORT: String(port) }
  await run(process.execPath, [script], { env })
  expect(asked).toEqual(['/healthz'])
})
