// Loaded into a service with --import: counts how often it dials a broker and what it asks of one, so that a test can say
// how busy a fleet is while a broker is away. kafkajs writes each request at once.
import { writeFileSync } from 'node:fs'
import { Socket } from 'node:net'

const { DLQ_COUNT_PORTS = '', DLQ_COUNT_FILE = '' } = process.env
const ports = new Set(DLQ_COUNT_PORTS.split(',').map(Number))
const writeEveryMs = 500
/** `byApi`: by the number of the API in Kafka's protocol, which stands behind the four bytes of a request's length. */
const counts = { dials: 0, requests: 0, byApi: {} as Record<number, number> }
const portOf = Symbol('port')

type Counted = Socket & { [portOf]?: number }

const { connect, write } = Socket.prototype
Socket.prototype.connect = function (this: Counted, ...args: unknown[]) {
  const [first] = args.flat(2) as ({ port?: number } | undefined)[]
  this[portOf] = Number(first?.port)
  if (ports.has(this[portOf])) counts.dials += 1
  return Reflect.apply(connect, this, args)
}
Socket.prototype.write = function (this: Counted, ...args: unknown[]) {
  const [request] = args
  if (ports.has(this[portOf] ?? 0) && Buffer.isBuffer(request) && request.length > 6) {
    const api = request.readInt16BE(4)
    counts.requests += 1
    counts.byApi[api] = (counts.byApi[api] ?? 0) + 1
  }
  return Reflect.apply(write, this, args)
} as Socket['write']

setInterval(() => writeFileSync(`${DLQ_COUNT_FILE}.${process.pid}.count`, JSON.stringify(counts)), writeEveryMs).unref()
