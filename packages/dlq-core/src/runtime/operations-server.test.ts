import { once } from 'node:events'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { Hono } from 'hono'
import { expect, onTestFinished, test } from 'vitest'
import { listen } from './operations-server.ts'

async function serve({ keep_alive, host = '127.0.0.1' }: { keep_alive: number; host?: string }) {
  const app = new Hono().get('/healthz', (c) => c.text('ok'))
  const server = await listen(app, { host, port: 0, keep_alive })
  onTestFinished(() => server.close())
  return server
}

/** One request by a connection that stays open, as a proxy makes them. */
async function request(url: string) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  socket.write('GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n')
  await once(socket, 'data')
  return socket
}

test('a connection may be idle for as long as server.keep_alive says, which a client is told', async () => {
  const { url } = await serve({ keep_alive: 620_000 })
  const answer = await fetch(`${url}/healthz`)
  expect(answer.headers.get('keep-alive')).toBe('timeout=620')
})

test('after that it is closed', async () => {
  const { url } = await serve({ keep_alive: 1 })
  const socket = await request(url)
  await once(socket.resume(), 'end', { signal: AbortSignal.timeout(10_000) })
})

test('a server that ends closes idle connections at once', async () => {
  const server = await serve({ keep_alive: 620_000 })
  const socket = await request(server.url)
  const ended = once(socket.resume(), 'end')
  await Promise.race([server.close(), sleep(5000).then(() => expect.fail('still open'))])
  await ended
})

test('with a thousand connections open, further ones end with their answer', async () => {
  const { url } = await serve({ keep_alive: 620_000 })
  const { port } = new URL(url)
  const idle = Array.from({ length: 1000 }, () => connect(Number(port), '127.0.0.1'))
  onTestFinished(() => idle.forEach((socket) => void socket.destroy()))
  await Promise.all(idle.map((socket) => once(socket, 'connect')))
  const socket = await request(url)
  await once(socket.resume(), 'end', { signal: AbortSignal.timeout(5000) })
})

const hasIpv6 = Object.values(networkInterfaces())
  .flat()
  .some((one) => one?.address === '::1')
if (!hasIpv6) console.log('asked by IPv4 only: this machine has no IPv6')

test('a server on every address answers by IPv4 and by IPv6', async () => {
  const { url } = await serve({ host: '::', keep_alive: 1000 })
  const { port } = new URL(url)
  for (const address of ['127.0.0.1', ...(hasIpv6 ? ['[::1]'] : [])])
    expect(await (await fetch(`http://${address}:${port}/healthz`)).text()).toBe('ok')
})
