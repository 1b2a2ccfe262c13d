import dns, { type LookupAddress } from 'node:dns'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { ISocketFactory } from 'kafkajs'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { createBrokerSockets } from '../kafka/broker-sockets.ts'
import { createLog } from '../log.ts'
import { createSharedLookup } from './shared-lookup.ts'

const first: LookupAddress = { address: '10.0.0.1', family: 4 }
const second: LookupAddress = { address: '10.0.0.2', family: 4 }

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** A resolver that answers each question after a time, and a function that asks as a socket does. */
function createResolver({ takesMs, answers }: { takesMs: number; answers: (LookupAddress | Error)[] }) {
  vi.useFakeTimers()
  const asked: string[] = []
  const shared = createSharedLookup({
    now: Date.now,
    async lookup(host) {
      asked.push(host)
      const answer = answers[Math.min(asked.length, answers.length) - 1]!
      await new Promise((resolve) => setTimeout(resolve, takesMs))
      if (answer instanceof Error) throw answer
      return [answer]
    },
  })
  const find = (host = 'db.example') =>
    new Promise<string>((resolve) =>
      shared(host, { all: false }, (error, address) => resolve(error?.message ?? String(address))),
    )
  return { asked, find, shared }
}

test('who asks while an answer is awaited shares it; other hosts do not wait for it', async () => {
  const { asked, find } = createResolver({ takesMs: 20, answers: [first] })
  const found = Promise.all([find(), find(), find('kafka.example')])
  await vi.advanceTimersByTimeAsync(20)
  expect(await found).toEqual(['10.0.0.1', '10.0.0.1', '10.0.0.1'])
  expect(asked).toEqual(['db.example', 'kafka.example'])
})

test('a quick answer is asked for again, because the host may have another address by then', async () => {
  const { find } = createResolver({ takesMs: 20, answers: [first, second] })
  for (const address of ['10.0.0.1', '10.0.0.2']) {
    const found = find()
    await vi.advanceTimersByTimeAsync(20)
    expect(await found).toBe(address)
  }
})

test('a slow answer serves the next attempts for ten seconds', async () => {
  const { asked, find } = createResolver({ takesMs: 5005, answers: [first, second] })
  // Its socket is given up after 5 s.
  find()
  await vi.advanceTimersByTimeAsync(5005)
  expect(await find()).toBe('10.0.0.1')
  await vi.advanceTimersByTimeAsync(9_999)
  expect(await find()).toBe('10.0.0.1')
  expect(asked).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(1)
  const again = find()
  await vi.advanceTimersByTimeAsync(5005)
  expect(await again).toBe('10.0.0.2')
})

test('a failure reaches all who wait for it, and is not kept', async () => {
  const { find } = createResolver({ takesMs: 5005, answers: [new Error('getaddrinfo EAI_AGAIN'), first] })
  const failed = Promise.all([find(), find()])
  await vi.advanceTimersByTimeAsync(5005)
  expect(await failed).toEqual(['getaddrinfo EAI_AGAIN', 'getaddrinfo EAI_AGAIN'])
  const found = find()
  await vi.advanceTimersByTimeAsync(5005)
  expect(await found).toBe('10.0.0.1')
})

test('a socket that asks for all addresses gets a list', async () => {
  const { shared } = createResolver({ takesMs: 20, answers: [first] })
  const found = new Promise((resolve) => shared('db.example', { all: true }, (_error, list) => resolve(list)))
  await vi.advanceTimersByTimeAsync(20)
  expect(await found).toEqual([first])
})

test('a broker whose name takes longer to find than a connection may take is reached by the next attempt', async () => {
  const server = createServer((socket) => void socket.on('error', () => {})).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const lookup = vi.spyOn(dns.promises, 'lookup').mockImplementation((async () => {
    await new Promise((resolve) => setTimeout(resolve, 1200))
    return [{ address: '127.0.0.1', family: 4 }]
  }) as unknown as typeof dns.promises.lookup)
  const createSocket = createBrokerSockets({ log: createLog({ service: 'test', level: 'silent' }), timeoutMs: 1000 })
  const dial = () =>
    new Promise<string>((resolve) => {
      const options = { host: 'kafka.example', port, ssl: false, onConnect: () => end('reached') }
      const socket = createSocket(options as unknown as Parameters<ISocketFactory>[0]) as Socket
      const end = (outcome: string) => {
        socket.destroy()
        resolve(outcome)
      }
      socket.on('error', ({ message }) => end(message))
    })

  expect(await dial()).toBe('no connection within 1 s')
  // The wait after a failure, and the rest of the answer.
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(await dial()).toBe('reached')
  expect(lookup).toHaveBeenCalledTimes(1)
})
