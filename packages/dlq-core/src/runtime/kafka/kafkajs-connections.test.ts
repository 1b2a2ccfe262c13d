// What becomes of kafkajs's connections when a broker closes them, or does not answer (patches/README.md, 0022, 0023,
// 0025, 0026 and 0048). The brokers are servers on this machine that answer as a test tells them.
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { ISocketFactory } from 'kafkajs'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Log } from '../log.ts'
import { createBrokerSockets } from './broker-sockets.ts'

const require = createRequire(import.meta.url)
const ConnectionPool = require('kafkajs/src/network/connectionPool')
const Broker = require('kafkajs/src/broker')
const BrokerPool = require('kafkajs/src/cluster/brokerPool')
const connectionPoolBuilder = require('kafkajs/src/cluster/connectionPoolBuilder')
const createRetry = require('kafkajs/src/retry')
const { KafkaJSConnectionError } = require('kafkajs/src/errors')
const Encoder = require('kafkajs/src/protocol/encoder')

const quiet = { debug() {}, info() {}, warn() {}, error() {}, namespace: () => quiet }

type Answer = (socket: Socket, correlationId: number, nth: number) => void

/** The answer to a request: its length, its correlation id, and a text. */
function answerOf(correlationId: number, text: string): Buffer {
  const body = Buffer.from(text)
  const answer = Buffer.alloc(8 + body.length)
  answer.writeInt32BE(4 + body.length, 0)
  answer.writeInt32BE(correlationId, 4)
  body.copy(answer, 8)
  return answer
}

/** A broker that calls `answer` for each request, and a pool of connections to it. */
async function startBroker(answer: Answer, requestTimeout = 5000, createSocket?: ISocketFactory) {
  const accepted: Socket[] = []
  let nth = 0
  const server = createServer((socket) => {
    accepted.push(socket)
    socket.on('error', () => {})
    socket.on('data', (data) => {
      // Requests that were sent at once may come in one piece.
      for (let at = 0; at < data.length; at += 4 + data.readInt32BE(at)) {
        nth += 1
        answer(socket, data.readInt32BE(at + 8), nth)
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  onTestFinished(() => {
    for (const socket of accepted) socket.destroy()
    server.close()
  })
  const opened: Socket[] = []
  const pool = new ConnectionPool({
    ...{ host: '127.0.0.1', port, logger: quiet, connectionTimeout: 5000, requestTimeout },
    socketFactory: (to: Parameters<ISocketFactory>[0]) => {
      const socket =
        (createSocket?.(to) as Socket | undefined) ?? connect({ host: to.host, port: to.port }, to.onConnect)
      opened.push(socket)
      return socket
    },
  })
  onTestFinished(() => pool.destroy())
  return { pool, opened, accepted }
}

/** Sends a request and resolves to the text of its answer. */
const ask = (pool: { send(request: object): Promise<string> }): Promise<string> =>
  pool.send({
    request: { apiKey: 3, apiVersion: 0, apiName: 'Metadata', encode: async () => new Encoder() },
    response: {
      decode: async (payload: Buffer) => ({ text: String(payload) }),
      parse: async ({ text }: { text: string }) => text,
    },
  })

test.each([
  ['one byte at a time', 1, 300],
  ['in pieces that end anywhere', 13, 3000],
  ['of more bytes than are reserved at first', 2 ** 20, 9 * 2 ** 20],
])('answers are whole, and stay so, where the socket reads into one buffer: %s', async (_, pieceBytes, answerBytes) => {
  const log = { debug() {}, info() {}, warn() {} } as unknown as Log
  const answers: Buffer[] = []
  const { pool } = await startBroker(
    async (socket, correlationId, nth) => {
      answers.push(answerOf(correlationId, `${nth}`.repeat(answerBytes)))
      if (nth !== 3) return
      const bytes = Buffer.concat(answers)
      for (let at = 0; at < bytes.length; at += pieceBytes) {
        socket.write(bytes.subarray(at, at + pieceBytes))
        // Most pieces arrive alone.
        await new Promise((resolve) => setImmediate(resolve))
      }
    },
    30_000,
    createBrokerSockets({ log, timeoutMs: 5000 }),
  )
  const received = await Promise.all([ask(pool), ask(pool), ask(pool)])
  for (const [at, text] of received.entries()) expect(text === `${at + 1}`.repeat(answerBytes)).toBe(true)
})

describe('a connection that is lost', () => {
  test('in the middle of an answer leaves nothing of it to the next one', async () => {
    const { pool } = await startBroker((socket, correlationId, nth) => {
      const answer = answerOf(correlationId, `answer ${nth}`)
      if (nth === 1) socket.end(answer.subarray(0, 10))
      else socket.write(answer)
    })
    await expect(ask(pool)).rejects.toThrow('Closed connection')
    expect(await ask(pool)).toBe('answer 2')
  })

  test('and whose end is noticed late does not close the one that follows it', async () => {
    const { pool, opened } = await startBroker((socket, correlationId, nth) => {
      if (nth !== 2) socket.write(answerOf(correlationId, `answer ${nth}`))
      else setTimeout(() => socket.write(answerOf(correlationId, 'late answer')), 200)
    })
    await ask(pool)
    await Promise.all(pool.map((connection: { disconnect(): Promise<void> }) => connection.disconnect()))
    const asked = ask(pool)
    asked.catch(() => {})
    await expect.poll(() => opened.length).toBe(2)
    await once(opened[1]!, 'connect')
    opened[0]!.emit('end')
    expect(await asked).toBe('late answer')
  })

  test('is opened once by requests that come at once', async () => {
    const { pool, opened } = await startBroker((socket, correlationId) => socket.write(answerOf(correlationId, 'here')))
    expect(await Promise.all([ask(pool), ask(pool), ask(pool)])).toEqual(['here', 'here', 'here'])
    expect(opened).toHaveLength(1)
  })
})

describe('a request that times out', () => {
  test('closes its connection, with the other requests on it, and the next one has another', async () => {
    const answerThird: Answer = (socket, correlationId, nth) => {
      if (nth > 2) socket.write(answerOf(correlationId, `answer ${nth}`))
    }
    const { pool, opened } = await startBroker(answerThird, 300)
    const asked = [ask(pool), ask(pool)]
    await expect(Promise.allSettled(asked)).resolves.toMatchObject([
      { reason: { name: 'KafkaJSRequestTimeoutError' } },
      { reason: { name: 'KafkaJSConnectionClosedError' } },
    ])
    expect(opened[0]!.destroyed).toBe(true)
    expect(await ask(pool)).toBe('answer 3')
    expect(opened).toHaveLength(2)
  })
})

describe('a pool of brokers', () => {
  type PretendedBroker = {
    nodeId: string
    isConnected(): boolean
    connect(): Promise<void>
    disconnect(): Promise<void>
  }
  const createBroker = (nodeId: string, { isDead = false, isConnected = false } = {}): PretendedBroker & object => {
    let connected = isConnected
    return {
      nodeId,
      isConnected: () => connected,
      async connect() {
        if (isDead) throw new KafkaJSConnectionError(`no connection to ${nodeId}`, { broker: nodeId })
        connected = true
      },
      async disconnect() {},
    }
  }
  const createPool = (brokers: PretendedBroker[]) => {
    const pool = new BrokerPool({ logger: quiet, retry: { retries: 0 }, connectionPoolBuilder: {} })
    pool.brokers = Object.fromEntries(brokers.map((broker) => [broker.nodeId, broker]))
    return pool
  }
  const askEach = (pool: typeof BrokerPool) => pool.withBroker(async ({ nodeId }: { nodeId: string }) => nodeId)

  test('asks another where one cannot be reached, and begins with those that are connected', async () => {
    const dead = createBroker('1', { isDead: true })
    for (let n = 0; n < 20; n += 1) expect(await askEach(createPool([dead, createBroker('2')]))).toBe('2')
    const connected = createBroker('3', { isConnected: true })
    for (let n = 0; n < 20; n += 1) expect(await askEach(createPool([createBroker('2'), connected]))).toBe('3')
  })

  test('says why where it can reach none', async () => {
    await expect(askEach(createPool([createBroker('1', { isDead: true })]))).rejects.toThrow('no connection to 1')
  })

  test('can be connected again after its only broker was removed', async () => {
    const only = Object.assign(createBroker('1'), {
      connectionPool: { host: 'broker', port: 9092, connectionTimeout: 1000, waitingTime: () => 0 },
    })
    const pool = createPool([only])
    pool.seedBroker = only
    pool.removeBroker({ host: 'broker', port: 9092 })
    expect(await pool.findConnectedBroker()).toBe(only)
  })

  test('asks a broker that owes an answer after those that answer', async () => {
    const silent = Object.assign(createBroker('1', { isConnected: true }), {
      connectionPool: { waitingTime: () => 3000 },
    })
    const answering = Object.assign(createBroker('2', { isConnected: true }), {
      connectionPool: { waitingTime: () => 500 },
    })
    for (let n = 0; n < 20; n += 1) {
      expect(await createPool([silent, answering]).findConnectedBroker()).toBe(answering)
      expect(await askEach(createPool([silent, answering]))).toBe('2')
    }
  })

  test('asks another one too where one does not answer soon', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    for (const way of ['askAnyBroker', 'withBroker']) {
      const pool = createPool([createBroker('1', { isConnected: true }), createBroker('2', { isConnected: true })])
      let frozen: string | null = null
      const answer = pool[way](({ nodeId, broker = { nodeId } }: { nodeId: string; broker?: { nodeId: string } }) => {
        // The first one that is asked is frozen, whichever it is, and then owes an answer.
        frozen ??= broker.nodeId
        if (frozen !== broker.nodeId) return Promise.resolve('here')
        pool.brokers[frozen].connectionPool = { waitingTime: () => 2000 }
        return new Promise(() => {})
      })
      await vi.advanceTimersByTimeAsync(2000)
      expect(await answer).toBe('here')
    }
  })

  test('connects to another broker of the list where one takes the connection and no more', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const pool = createPool([])
    let seeds = 0
    pool.createSeedBroker = async () => {
      seeds += 1
      const isFrozen = seeds === 1
      pool.seedBroker = {
        connectionPool: { connectionTimeout: 1000 },
        connect: () => (isFrozen ? new Promise(() => {}) : Promise.resolve()),
        isConnected: () => false,
      }
    }
    pool.retrier = createRetry({ retries: 1, initialRetryTime: 1 })
    const connecting = pool.connect()
    await vi.advanceTimersByTimeAsync(5000)
    await connecting
    expect(seeds).toBe(2)
  })

  test('lets nobody wait for a broker that has left the cluster', async () => {
    const { pool: connections } = await startBroker(() => {}, 60_000)
    const asked = ask(connections)
    asked.catch(() => {})
    await expect.poll(() => connections.waitingTime()).toBeGreaterThan(0)
    const gone = Object.assign(createBroker('1', { isConnected: true }), {
      connectionPool: connections,
      disconnect: () => connections.destroy(),
    })
    const place = { host: 'broker', port: 9092, rack: null }
    const left = Object.assign(createBroker('2', { isConnected: true }), {
      connectionPool: { ...place, waitingTime: () => 0 },
      metadata: async () => ({ brokers: [{ nodeId: '2', ...place }] }),
    })
    const pool = createPool([gone, left])
    pool.seedBroker = left
    pool.findConnectedBroker = async () => left
    await pool.refreshMetadata(['orders'])
    await expect(asked).rejects.toThrow('Closed connection')
    expect(pool.getNodeIds()).toEqual(['2'])
  })
})

test.each([
  ['kafka-0.example:9092', 'kafka-0.example', 9092],
  ['10.1.2.3:9093', '10.1.2.3', 9093],
  ['[fd00::1]:9092', 'fd00::1', 9092],
])('the broker %s is found at its host and its port', async (broker, host, port) => {
  const pool = await connectionPoolBuilder({ brokers: [broker], logger: quiet }).build()
  expect(pool).toMatchObject({ host, port })
})

test('versions that could not be read are asked for again', async () => {
  let asked = 0
  const { pool } = await startBroker((socket, correlationId) => {
    asked += 1
    socket.write(answerOf(correlationId, 'x'))
  })
  const broker = new Broker({ connectionPool: pool, logger: quiet })
  await expect(broker.connect()).rejects.toThrow()
  expect(broker.isConnected()).toBe(true)
  const askedOnce = asked
  await expect(broker.connect()).rejects.toThrow()
  expect(asked).toBeGreaterThan(askedOnce)
})
