// The sockets of a Kafka client. A broker that cannot be reached is dialled again after a wait that grows, however many
// producers, consumers and retries ask for it: without it, a retrier dialled a dead port fifty times a second.

import { connect, isIP, Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { ISocketFactory } from 'kafkajs'
import { monotonicNow } from '../clock/monotonic-now.ts'
import type { Log } from '../log.ts'
import { sharedLookup } from '../outgoing/shared-lookup.ts'

export type BrokerSocketsDeps = {
  log: Log
  /** A broker that has not taken the connection by then is away. */
  timeoutMs: number
  now?: () => number
  random?: () => number
}

/** Waits as Java's client does (reconnect.backoff.ms and its maximum), give or take a fifth. */
const firstWaitMs = 50
const maxWaitMs = 1000
const jitter = 0.2
const keepAliveMs = 60_000

/**
 * What a socket reads at once, always into the same buffer: kafkajs copies from it (patches/README.md, 0031). Node makes
 * a buffer of 64 KB for each read.
 */
const readBytes = 256 * 1024

type Away = { since: number; dials: number; refused: number; until: number; error: Error }

/** For one client and all that it makes. Writes one line when a broker is away, and one when it is back. */
export function createBrokerSockets({
  log,
  timeoutMs,
  now = monotonicNow,
  random = Math.random,
}: BrokerSocketsDeps): ISocketFactory {
  const away = new Map<string, Away>()

  function failed(broker: string, error: Error): void {
    const { since = now(), dials: before = 0, refused = 0 } = away.get(broker) ?? {}
    const dials = before + 1
    const waitMs = Math.min(firstWaitMs * 2 ** before, maxWaitMs) * (1 - jitter + 2 * jitter * random())
    away.set(broker, { since, dials, refused, until: now() + waitMs, error })
    if (dials === 1) log.warn({ broker, error: error.message }, 'broker_away')
    else log.debug({ broker, error: error.message, dials }, 'broker_still_away')
  }

  function reached(broker: string): void {
    const was = away.get(broker)
    if (was === undefined) return
    away.delete(broker)
    const { since, dials, refused } = was
    log.info({ broker, awayMs: now() - since, dials, refused }, 'broker_back')
  }

  return ({ host, port, ssl, onConnect }) => {
    const broker = `${host}:${port}`
    const was = away.get(broker)
    if (was !== undefined && now() < was.until) {
      was.refused += 1
      return failedSocket(was.error)
    }
    let isReached = false
    const whenReached = () => {
      isReached = true
      reached(broker)
      onConnect()
    }
    const onread = {
      buffer: Buffer.allocUnsafeSlow(readBytes),
      callback: (length: number, buffer: Uint8Array) => {
        socket.emit('data', (buffer as Buffer).subarray(0, length))
        return true
      },
    }
    const options = { host, port, onread, lookup: sharedLookup }
    const socket: Socket = ssl
      ? connectTls({ ...(isIP(host) ? {} : { servername: host }), ...ssl, ...options }, whenReached)
      : connect(options, whenReached)
    socket.setKeepAlive(true, keepAliveMs)
    socket.on('error', (error) => {
      if (!isReached) failed(broker, error)
    })
    // kafkajs gives up as well, but keeps the socket.
    const late = new Error(`no connection within ${timeoutMs / 1000} s`)
    const timer = setTimeout(() => isReached || socket.destroy(late), timeoutMs)
    socket.once('close', () => clearTimeout(timer))
    return socket
  }
}

/** A socket that fails at once, as the last one did: kafkajs then asks another broker, or passes the reason on. */
function failedSocket(error: Error): Socket {
  const socket = new Socket()
  process.nextTick(() => socket.destroy(error))
  return socket
}
