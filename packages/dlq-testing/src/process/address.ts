// An address that leads to one server now and to another one later, like the virtual address or the DNS name of a
// database with a standby, or of a Kafka cluster whose brokers move.

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type Address = {
  port: number
  /** Where new connections lead; null: they are refused. Present connections end, or stay where they are. */
  leadTo(port: number | null, present?: 'end' | 'stay'): void
  [Symbol.asyncDispose](): Promise<void>
}

/** An address on 127.0.0.1 that leads to that port of it. */
export async function openAddress(first: number): Promise<Address> {
  const sockets = new Set<Socket>()
  let target: number | null = first
  const endAll = () => {
    for (const socket of sockets) socket.destroy()
  }
  const server = createServer({ noDelay: true }, (client) => {
    if (target === null) return void client.destroy()
    const upstream = connect({ host: '127.0.0.1', port: target, noDelay: true })
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.once('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.pipe(upstream)
    upstream.pipe(client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    leadTo(port, present = 'end') {
      target = port
      if (present === 'end') endAll()
    },
    async [Symbol.asyncDispose]() {
      target = null
      endAll()
      server.close()
      await once(server, 'close')
    },
  }
}
