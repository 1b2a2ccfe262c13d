// A free loopback port. Taken from below the ephemeral ranges
// of Linux (32768+) and macOS (49152+): a client that keeps dialling a dead server
// on an ephemeral port can be handed that very port as its own, connect to itself
// and keep the server from coming back.
//
// A server takes its port some time after we found it free, and takes it again after a kill. So no process gives
// out a port twice, and each of vitest's workers has its own range.
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

const lowestPort = 20_000
const highestPort = 32_000
const maxWorkers = 12
const portsPerWorker = (highestPort - lowestPort) / maxWorkers
const maxTries = 100
const givenOut = new Set<number>()

/** A TCP port on 127.0.0.1 that was free a moment ago: `preferred` if it was. Throws when 100 random ones were all taken. */
export async function freePort(preferred?: number): Promise<number> {
  if (preferred !== undefined && (await isFree(preferred))) return preferred
  // Vitest numbers its workers from 1; whatever runs outside of them has the first range.
  const lowest = lowestPort + (Number(process.env.VITEST_POOL_ID ?? 0) % maxWorkers) * portsPerWorker
  const highest = lowest + portsPerWorker
  for (let tries = 0; tries < maxTries; tries++) {
    const port = randomInt(lowest, highest)
    if (givenOut.has(port)) continue
    givenOut.add(port)
    if (await isFree(port)) return port
  }
  throw new Error(`no free port among ${maxTries} tried between ${lowest} and ${highest}`)
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
