// Stands between a client and a broker and decides the fate of each request: for faults that must hit one request
// and not the next. It reads no more of Kafka's protocol than where a request ends and of which kind it is.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import kafkajs, { type Kafka } from 'kafkajs'

export type ProxiedRequest = {
  /** The broker that it is for. */
  broker: number
  /** Of Kafka's protocol; 0 is Produce. */
  apiKey: number
}

export type Fate =
  | { kind: 'pass' }
  /** The connection breaks, and the broker never sees the request. */
  | { kind: 'lose-request' }
  /** The broker does what it is asked, and the connection breaks instead of the answer. */
  | { kind: 'lose-answer' }
  /** The answer, and all later ones of this connection, come so much later. */
  | { kind: 'hold-answer'; ms: number }

export type FaultProxy = { port: number; [Symbol.asyncDispose](): Promise<void> }

export const produceApi = 0
export const endTransactionApi = 26
export const pass: Fate = { kind: 'pass' }

type Judge = (request: ProxiedRequest) => Fate

/** A proxy on a port of its own in front of one broker. */
export async function startFaultProxy({ id, port }: { id: number; port: number }, judge: Judge): Promise<FaultProxy> {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const broker = connect({ host: '127.0.0.1', port })
    for (const socket of [client, broker]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => {})
      socket.once('close', () => {
        sockets.delete(socket)
        client.destroy()
        broker.destroy()
      })
    }
    join(client, broker, (apiKey) => judge({ broker: id, apiKey }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Passes requests one way and answers the other, each as its request was judged. */
function join(client: Socket, broker: Socket, judge: (apiKey: number) => Fate): void {
  const fates = new Map<number, Fate>()
  onFrames(client, (frame) => {
    const fate = judge(frame.readInt16BE(4))
    if (fate.kind === 'lose-request') return client.destroy()
    fates.set(frame.readInt32BE(8), fate)
    broker.write(frame)
  })
  let passed: Promise<void> = Promise.resolve()
  onFrames(broker, (frame) => {
    const correlationId = frame.readInt32BE(4)
    const fate = fates.get(correlationId) ?? pass
    fates.delete(correlationId)
    if (fate.kind === 'lose-answer') return client.destroy()
    if (fate.kind === 'hold-answer') passed = passed.then(() => new Promise((resolve) => setTimeout(resolve, fate.ms)))
    passed = passed.then(() => void client.write(frame))
  })
}

/** Calls back with each whole message of the protocol: four bytes of length, then so many bytes. */
function onFrames(socket: Socket, callback: (frame: Buffer) => void): void {
  let rest = Buffer.alloc(0)
  socket.on('data', (data) => {
    rest = Buffer.concat([rest, data])
    while (rest.length >= 4 && rest.length >= 4 + rest.readInt32BE(0)) {
      const end = 4 + rest.readInt32BE(0)
      callback(rest.subarray(0, end))
      rest = rest.subarray(end)
    }
  })
}

/** A quiet client of the cluster that reaches each broker through the proxy of its port. */
export function createProxiedKafka(
  brokers: readonly string[],
  proxies: ReadonlyMap<number, FaultProxy>,
  options: Partial<kafkajs.KafkaConfig> = {},
): Kafka {
  return new kafkajs.Kafka({
    clientId: 'test',
    brokers: [...brokers],
    logLevel: kafkajs.logLevel.NOTHING,
    connectionTimeout: 5000,
    requestTimeout: 15_000,
    // As runtime/kafka/kafka.ts sets it.
    retry: { initialRetryTime: 100, retries: 5, maxRetryTime: 2000 },
    socketFactory: ({ host, port, onConnect }) => {
      const socket = connect({ host, port: proxies.get(port)?.port ?? port }, onConnect)
      return socket.setKeepAlive(true, 60_000)
    },
    ...options,
  })
}
