// When kafkajs authenticates again on a connection whose session a broker ends after a time (patches/README.md, 0042).
// The broker is a server on this machine, for which anybody is who he says.
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'

const require = createRequire(import.meta.url)
const Connection = require('kafkajs/src/network/connection')
const createSocketOf = require('kafkajs/src/network/socketFactory')
const Encoder = require('kafkajs/src/protocol/encoder')

const quiet = { debug() {}, info() {}, warn() {}, error() {}, namespace: () => quiet }
const apis = { Metadata: 3, SaslHandshake: 17, SaslAuthenticate: 36 } as const
type Api = keyof typeof apis

beforeEach(() => vi.useFakeTimers({ toFake: ['hrtime'] }))
afterEach(() => vi.useRealTimers())

/** A broker whose sessions live for so long, and a connection to it. `asked` has its requests in the order of arrival. */
async function startBroker({ lifetimeMs, beforeAnswer = async () => {} }: BrokerOptions) {
  const asked: Api[] = []
  const answer = async (socket: Socket, request: Buffer) => {
    const api = (Object.keys(apis) as Api[]).find((name) => apis[name] === request.readInt16BE(4))!
    asked.push(api)
    await beforeAnswer(asked)
    const body = new Encoder().writeInt32(request.readInt32BE(8))
    if (api === 'SaslHandshake') body.writeInt16(0).writeArray(['TEST'])
    if (api === 'SaslAuthenticate')
      body.writeInt16(0).writeString(null).writeBytes(Buffer.alloc(0)).writeInt64(lifetimeMs)
    socket.write(new Encoder().writeInt32(body.size()).writeEncoder(body).buffer)
  }
  const server = createServer((socket) => socket.on('data', (request) => void answer(socket, request)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const connection = new Connection({
    ...{ host: '127.0.0.1', port: (server.address() as AddressInfo).port, logger: quiet, connectionTimeout: 5000 },
    ...{ requestTimeout: 5000, socketFactory: createSocketOf() },
    sasl: { mechanism: 'test', authenticationProvider },
  })
  onTestFinished(async () => {
    await connection.disconnect()
    server.close()
  })
  connection.setVersions({ 17: { minVersion: 0, maxVersion: 1 }, 36: { minVersion: 0, maxVersion: 1 } })
  connection.setSupportAuthenticationProtocol(true)
  await connection.connect()
  return { connection, asked }
}

type BrokerOptions = { lifetimeMs: number; beforeAnswer?: (asked: readonly Api[]) => Promise<unknown> }

const authenticationProvider = ({ saslAuthenticate }: { saslAuthenticate: (step: object) => Promise<unknown> }) => ({
  authenticate: () => saslAuthenticate({ request: { encode: () => Buffer.from('me') } }),
})

/** Asks for metadata, with a request that is encoded once `ready`. */
const ask = (connection: { send(request: object): Promise<unknown> }, ready: Promise<unknown> = Promise.resolve()) =>
  connection.send({
    request: {
      apiKey: apis.Metadata,
      apiVersion: 0,
      apiName: 'Metadata',
      encode: () => ready.then(() => new Encoder()),
    },
    response: { decode: async () => ({}), parse: async () => ({}) },
  })

test.each([
  { lifetimeMs: 3000, keptMs: 2500, overMs: 2600 },
  { lifetimeMs: 10_000, keptMs: 8450, overMs: 8550 },
  { lifetimeMs: 3_600_000, keptMs: 3_589_900, overMs: 3_590_100 },
  // A broker refuses to authenticate again within a second.
  { lifetimeMs: 500, keptMs: 1050, overMs: 1150 },
])(
  'a session of $lifetimeMs ms is used for $keptMs ms, and not for $overMs',
  async ({ lifetimeMs, keptMs, overMs }) => {
    const { connection, asked } = await startBroker({ lifetimeMs })
    await ask(connection)
    vi.advanceTimersByTime(keptMs)
    await ask(connection)
    expect(asked).toEqual(['SaslHandshake', 'SaslAuthenticate', 'Metadata', 'Metadata'])
    vi.advanceTimersByTime(overMs - keptMs)
    await ask(connection)
    expect(asked.slice(4)).toEqual(['SaslHandshake', 'SaslAuthenticate', 'Metadata'])
  },
)

test('a session without an end is never renewed', async () => {
  const { connection, asked } = await startBroker({ lifetimeMs: 0 })
  await ask(connection)
  vi.advanceTimersByTime(365 * 86_400_000)
  await ask(connection)
  expect(asked).toEqual(['SaslHandshake', 'SaslAuthenticate', 'Metadata', 'Metadata'])
})

test('a request that is ready while the client authenticates again is written behind that', async () => {
  const large = Promise.withResolvers<void>()
  const { connection, asked } = await startBroker({
    lifetimeMs: 3000,
    async beforeAnswer(requests) {
      const isSecondHandshake = requests.length === 4
      if (!isSecondHandshake) return
      large.resolve()
      await new Promise((resolve) => setTimeout(resolve, 50))
    },
  })
  await ask(connection)
  const slow = ask(connection, large.promise)
  vi.advanceTimersByTime(2600)
  await Promise.all([slow, ask(connection)])
  const authenticated: Api[] = ['SaslHandshake', 'SaslAuthenticate', 'Metadata']
  expect(asked).toEqual([...authenticated, ...authenticated, 'Metadata'])
})
