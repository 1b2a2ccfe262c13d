// Loaded into a service with --import: counts how often it dials a broker and what it asks of one, so that a test can say
// how busy a fleet is while a broker is away. kafkajs writes each request at once.
import { writeFileSync } from 'node:fs'
import { Socket } from 'node:net'

const { DLQ_COUNT_PORTS = '', DLQ_COUNT_FILE = '' } = process.env
const ports = new Set(DLQ_COUNT_PORTS.split(',').map(Number))
const writeEveryMs = 500
const counts = { dials: 0, requests: 0 }
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
  if (ports.has(this[portOf] ?? 0)) counts.requests += 1
  return Reflect.apply(write, this, args)
} as Socket['write']

setInterval(() => writeFileSync(`${DLQ_COUNT_FILE}.${process.pid}.count`, JSON.stringify(counts)), writeEveryMs).unref()
