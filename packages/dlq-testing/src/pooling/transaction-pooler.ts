// A pooler in transaction mode, like PgBouncer in most companies: every transaction gets another server connection, and
// loses the state of its session (settings, prepared statements, LISTEN, session locks). Like PgBouncer, it refuses
// unknown startup parameters. It has just enough of the protocol
// (https://www.postgresql.org/docs/17/protocol-message-formats.html) for servers without passwords.

import type { AddressInfo } from 'node:net'
import net from 'node:net'

export type TransactionPooler = {
  /** The database's URL with the pooler's port. */
  url: string
  /** How many transactions it has passed on. */
  transactions(): number
  close(): Promise<void>
}

type Backend = { socket: net.Socket; client: Client | null }
type Client = {
  socket: net.Socket
  backend: Backend | null
  /** Messages that ask for a ReadyForQuery which has not come yet. */
  unanswered: number
  waiting: Buffer[]
}

const allowed = new Set([
  ...['user', 'database', 'application_name', 'client_encoding'],
  // PgBouncer keeps these for each client; here every backend has the server's own.
  ...['datestyle', 'timezone', 'standard_conforming_strings'],
])

/** Starts a pooler with `size` connections before the database at the URL. */
export async function startTransactionPooler(databaseUrl: string, { size = 3 } = {}): Promise<TransactionPooler> {
  const { hostname, port, pathname, username } = new URL(databaseUrl)
  const backends: Backend[] = []
  const queue: Client[] = []
  const clients = new Set<net.Socket>()
  let greeting: Buffer = Buffer.alloc(0)
  let transactions = 0

  async function connectBackend(): Promise<Backend> {
    const socket = net.connect({ port: Number(port), host: hostname, noDelay: true })
    const backend: Backend = { socket, client: null }
    socket.write(startup({ user: username, database: pathname.slice(1), application_name: 'pooler' }))
    const read = splitter(1)
    await new Promise<void>((resolve, reject) => {
      const hello: Buffer[] = []
      socket.once('error', reject)
      socket.on('data', (data) => {
        for (const message of read(data)) {
          const type = String.fromCharCode(message[0]!)
          if (backend.client) backend.client.socket.write(message)
          else if (type !== 'Z') hello.push(message)
          if (type !== 'Z') continue
          if (greeting.length === 0) greeting = Buffer.concat([...hello, message])
          resolve()
          if (backend.client) backend.client.unanswered -= 1
          // 'I': no transaction is open; the next statement may go elsewhere.
          if (backend.client && backend.client.unanswered === 0 && message[5] === 'I'.charCodeAt(0)) release(backend)
        }
      })
    })
    return backend
  }

  function release(backend: Backend): void {
    const client = backend.client!
    backend.client = null
    client.backend = null
    transactions += 1
    // To the end of the line, so that the next transaction of the same client goes elsewhere.
    backends.push(...backends.splice(backends.indexOf(backend), 1))
    if (client.waiting.length > 0) queue.push(client)
    serve()
  }

  function serve(): void {
    for (let free = findFree(); free && queue.length > 0; free = findFree()) {
      const client = queue.shift()!
      free.client = client
      client.backend = free
      for (const message of client.waiting.splice(0)) pass(client, message)
    }
  }
  const findFree = () => backends.find(({ client }) => client === null)

  function pass(client: Client, message: Buffer): void {
    const type = String.fromCharCode(message[0]!)
    if (type === 'Q' || type === 'S') client.unanswered += 1
    client.backend!.socket.write(message)
  }

  function accept(socket: net.Socket): void {
    clients.add(socket)
    socket.on('close', () => clients.delete(socket))
    socket.on('error', () => {})
    const client: Client = { socket, backend: null, unanswered: 0, waiting: [] }
    let read = splitter(0)
    let isStarted = false
    socket.on('data', (data) => {
      for (const message of read(data)) {
        if (isStarted) {
          if (message[0] === 'X'.charCodeAt(0)) socket.end()
          else if (client.backend) pass(client, message)
          else if (client.waiting.push(message) === 1) {
            queue.push(client)
            serve()
          }
          continue
        }
        const unknown = parametersOf(message).find((name) => !allowed.has(name.toLowerCase()))
        if (unknown !== undefined) socket.end(fatal(`unsupported startup parameter: ${unknown}`))
        else socket.write(greeting)
        isStarted = true
        read = splitter(1)
      }
    })
  }

  for (let n = 0; n < size; n += 1) backends.push(await connectBackend())
  const server = net.createServer({ noDelay: true }, accept)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = new URL(databaseUrl)
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: url.href,
    transactions: () => transactions,
    async close() {
      for (const socket of clients) socket.destroy()
      for (const { socket } of backends) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Complete messages of the arriving bytes. `typeBytes` is 0 for a client's first message, which has no type. */
function splitter(typeBytes: 0 | 1): (data: Buffer) => Generator<Buffer> {
  let rest = Buffer.alloc(0)
  return function* (data) {
    rest = Buffer.concat([rest, data])
    while (rest.length >= typeBytes + 4) {
      const length = typeBytes + rest.readInt32BE(typeBytes)
      if (rest.length < length) return
      const message = rest.subarray(0, length)
      rest = rest.subarray(length)
      yield message
    }
  }
}

function startup(parameters: Record<string, string>): Buffer {
  const text = Buffer.from(`${Object.entries(parameters).flat().join('\0')}\0\0`)
  const head = Buffer.alloc(8)
  head.writeInt32BE(8 + text.length, 0)
  head.writeInt32BE(196_608, 4)
  return Buffer.concat([head, text])
}

function parametersOf(message: Buffer): string[] {
  return message
    .subarray(8)
    .toString()
    .split('\0')
    .filter((_, at, all) => at % 2 === 0 && all[at] !== '')
}

function fatal(text: string): Buffer {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C08P01\0M${text}\0\0`)
  const head = Buffer.alloc(5)
  head.write('E')
  head.writeInt32BE(4 + fields.length, 1)
  return Buffer.concat([head, fields])
}
