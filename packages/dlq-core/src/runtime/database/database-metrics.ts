// What a pool's connections are counted by, at their sockets: the driver tells nothing of its pool.

import type { Socket } from 'node:net'
import { Counter, Gauge, type Registry } from 'prom-client'

export type ObserveSocket = (socket: Socket) => void

/** Registers the metrics of one pool of at most `max` connections; hand it every socket that is made. */
export function createDatabaseMetrics(registry: Registry, { max }: { max: number }): ObserveSocket {
  const registers = [registry]
  const open = new Gauge({
    name: 'dlq_database_connections',
    help: 'Connections to PostgreSQL that are open now.',
    registers,
  })
  new Gauge({
    name: 'dlq_database_connections_max',
    help: 'Connections to PostgreSQL that this process may have: database.max_open_conns.',
    registers,
  }).set(max)
  const failures = new Counter({
    name: 'dlq_database_connection_failures_total',
    help: 'Connections to PostgreSQL that could not be made, or broke.',
    registers,
  })
  return (socket) => {
    socket.once('connect', () => {
      open.inc()
      socket.once('close', () => open.dec())
    })
    socket.once('error', () => failures.inc())
  }
}
