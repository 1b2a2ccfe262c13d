// Real sockets on ports of this machine: a broker is a server that takes connections, or a port that nobody has.
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import type { Log } from '../log.ts'
import { createBrokerSockets } from './broker-sockets.ts'

type Line = { event: string; level: string; dials?: number; refused?: number }

/** A clock, a log that keeps its lines, and the sockets of a client with both. */
function createClient() {
  const lines: Line[] = []
  const write = (level: string) => (fields: object, event: string) => void lines.push({ event, level, ...fields })
  const log = { debug: write('debug'), info: write('info'), warn: write('warn') } as unknown as Log
  let clock = 0
  const createSocket = createBrokerSockets({ log, timeoutMs: 60_000, now: () => clock, random: () => 0.5 })
  return {
    lines,
    createSocket,
    pass: (ms: number) => {
      clock += ms
    },
    /** Resolves to the error's message; null where the broker was reached. */
    dial: (port: number): Promise<string | null> =>
      new Promise((resolve) => {
        const options = { host: '127.0.0.1', port, ssl: false, onConnect: () => end(null) }
        const socket = createSocket(options as unknown as Parameters<typeof createSocket>[0]) as Socket
        const end = (message: string | null) => {
          socket.destroy()
          resolve(message)
        }
        socket.on('error', (error) => end(error.message))
      }),
  }
}

async function listen(port = 0): Promise<{ server: Server; port: number; accepted: () => number }> {
  let accepted = 0
  const server = createServer((socket) => {
    accepted += 1
    socket.on('error', () => {})
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { server, port: (server.address() as AddressInfo).port, accepted: () => accepted }
}

/** A port that was free a moment ago. */
async function closedPort(): Promise<number> {
  const { server, port } = await listen()
  server.close()
  await once(server, 'close')
  return port
}

test('a dead broker is dialled after waits that grow, and in between it is refused without being asked', async () => {
  const { lines, pass, dial } = createClient()
  const port = await closedPort()
  // Twenty seconds in which somebody asks each 20 ms.
  for (let asked = 0; asked < 1000; asked += 1) {
    expect(await dial(port)).toContain('ECONNREFUSED')
    pass(20)
  }
  const dials = lines.length
  // 50, 100, 200, 400 and 800 ms, then each second.
  expect(dials).toBeGreaterThan(20)
  expect(dials).toBeLessThan(28)
  expect(lines.filter(({ level }) => level !== 'debug')).toMatchObject([{ event: 'broker_away', level: 'warn' }])
})

test('its return is one line, with the count of what came between', async () => {
  const { lines, pass, dial } = createClient()
  const port = await closedPort()
  await dial(port)
  await dial(port)
  await dial(port)
  const { accepted } = await listen(port)
  expect(await dial(port)).toContain('ECONNREFUSED')
  expect(accepted()).toBe(0)
  pass(60)
  expect(await dial(port)).toBeNull()
  const shown = lines.filter(({ level }) => level !== 'debug')
  expect(shown.map(({ event }) => event)).toEqual(['broker_away', 'broker_back'])
  expect(shown[1]).toMatchObject({ dials: 1, refused: 3, awayMs: 60 })
})

test('one broker that is away holds no other up', async () => {
  const { dial } = createClient()
  const [dead, { port: alive }] = [await closedPort(), await listen()]
  await dial(dead)
  expect(await dial(alive)).toBeNull()
})

test('a socket reads all that it gets into the same memory', async () => {
  const { createSocket } = createClient()
  const { server, port } = await listen()
  server.on('connection', (accepted) => accepted.pipe(accepted))
  const socket = createSocket({ host: '127.0.0.1', port, onConnect: () => {} } as never) as Socket
  onTestFinished(() => void socket.destroy())
  const echo = async (text: string) => {
    socket.write(text)
    const [data] = (await once(socket, 'data')) as [Buffer]
    expect(String(data)).toBe(text)
    return data.buffer
  }
  expect(await echo('second')).toBe(await echo('first'))
})
