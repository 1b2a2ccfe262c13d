// A loopback port that nobody listens on. Taken from below the ephemeral ranges
// of Linux (32768+) and macOS (49152+): a client that keeps dialling a dead server
// on an ephemeral port can be handed that very port as its own, connect to itself
// and keep the server from coming back.
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

const lowestPort = 20_000
const highestPort = 32_000
const maxTries = 100

/** A TCP port on 127.0.0.1 that was free a moment ago: `preferred` if it was. Throws when 100 random ones were all taken. */
export async function freePort(preferred?: number): Promise<number> {
  if (preferred !== undefined && (await isFree(preferred))) return preferred
  for (let tries = 0; tries < maxTries; tries++) {
    const port = randomInt(lowestPort, highestPort)
    if (await isFree(port)) return port
  }
  throw new Error(`no free port among ${maxTries} tried between ${lowestPort} and ${highestPort}`)
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
