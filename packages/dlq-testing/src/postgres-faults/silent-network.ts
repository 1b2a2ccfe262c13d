// A network between services and PostgreSQL that falls silent, as when a host dies or a firewall forgets a connection. Open
// connections carry nothing any more, and stay open. New ones work.

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export type SilentNetwork = {
  /** The server's URL through this network. */
  readonly url: string
  /** From now on the connections that are open carry nothing, and none of them is closed. Returns how many these are. */
  silence(): number
  [Symbol.asyncDispose](): Promise<void>
}

export async function openSilentNetwork(databaseUrl: string): Promise<SilentNetwork> {
  const target = new URL(databaseUrl)
  const pairs = new Set<readonly [Socket, Socket]>()
  const server = createServer((client) => {
    const upstream = connect({ host: target.hostname, port: Number(target.port) })
    const pair = [client, upstream] as const
    pairs.add(pair)
    client.pipe(upstream)
    upstream.pipe(client)
    for (const socket of pair) {
      socket.on('error', () => {})
      socket.once('close', () => {
        for (const each of pair) each.destroy()
        pairs.delete(pair)
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(databaseUrl)
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: url.href,
    silence() {
      for (const [client, upstream] of pairs) {
        client.unpipe(upstream)
        upstream.unpipe(client)
        // What comes is taken, as by a network that drops it.
        client.resume()
        upstream.resume()
      }
      return pairs.size
    },
    async [Symbol.asyncDispose]() {
      for (const pair of pairs) for (const socket of pair) socket.destroy()
      server.close()
    },
  }
}
