// The network between the brokers of a cluster, so that it can be cut while clients still reach all of them. Each broker
// has its own hosts file (jdk.net.hosts.file), in which the name of another one is an address of the loopback network
// that stands for this direction alone. A relay listens there.
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { hostname } from 'node:os'

export type LinkedBroker = { id: number; controllerPort: number; replicationPort: number }

export type BrokerLinks = {
  /** The lines of the hosts file of a broker. */
  hostsOf(id: number): string
  /**
   * Nothing passes between this broker and the others any more, and nobody is told, as behind a switch that fails.
   * The function it returns mends the network, and says how many connections had been cut or begun in vain.
   */
  cutOff(id: number): () => number
  [Symbol.asyncDispose](): Promise<void>
}

/** What a broker is called among the brokers. */
export const hostOf = ({ id }: Pick<LinkedBroker, 'id'>) => `broker-${id}`

const addressOf = (from: number, to: number) => `127.0.${from}.${10 + to}`

/** @throws where the system has no addresses but 127.0.0.1, as macOS */
export async function startBrokerLinks(brokers: readonly LinkedBroker[]): Promise<BrokerLinks> {
  const links: Link[] = []
  for (const from of brokers) {
    for (const to of brokers) {
      if (from === to) continue
      for (const port of [to.controllerPort, to.replicationPort]) links.push(await startLink(from.id, to.id, port))
    }
  }
  return {
    hostsOf: (id) =>
      [
        `127.0.0.1 localhost ${hostname()} broker-${id}`,
        ...brokers.filter((of) => of.id !== id).map((of) => `${addressOf(id, of.id)} ${hostOf(of)}`),
        '',
      ].join('\n'),
    cutOff(id) {
      const cut = links.filter(({ from, to }) => from === id || to === id)
      for (const link of cut) link.cut()
      return () => cut.reduce((sum, link) => sum + link.mend(), 0)
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(links.map((link) => link.close()))
    },
  }
}

type Link = { from: number; to: number; cut(): void; mend(): number; close(): Promise<void> }

async function startLink(from: number, to: number, port: number): Promise<Link> {
  const pairs = new Set<[Socket, Socket]>()
  let isCut = false
  const server = createServer((near) => {
    near.pause()
    const far = connect({ host: '127.0.0.1', port })
    const pair: [Socket, Socket] = [near, far]
    pairs.add(pair)
    for (const socket of pair) {
      socket.setNoDelay(true)
      socket.on('error', () => {})
      socket.once('close', () => {
        // The end of a connection does not pass a broken network either.
        if (!isCut) endPair(pair)
      })
    }
    if (!isCut) join(pair)
  })
  server.listen(port, addressOf(from, to))
  await once(server, 'listening')

  function endPair(pair: [Socket, Socket]): void {
    pairs.delete(pair)
    for (const socket of pair) socket.destroy()
  }
  return {
    from,
    to,
    cut() {
      isCut = true
      for (const [near, far] of pairs) {
        near.unpipe(far).pause()
        far.unpipe(near).pause()
      }
    },
    mend() {
      isCut = false
      const { size } = pairs
      for (const pair of pairs) endPair(pair)
      return size
    },
    close: () => closeServer(server, pairs, endPair),
  }
}

function join([near, far]: [Socket, Socket]): void {
  near.pipe(far)
  far.pipe(near)
}

async function closeServer(
  server: Server,
  pairs: ReadonlySet<[Socket, Socket]>,
  endPair: (pair: [Socket, Socket]) => void,
): Promise<void> {
  for (const pair of pairs) endPair(pair)
  server.close()
  await once(server, 'close')
}
