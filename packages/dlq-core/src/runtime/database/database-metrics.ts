// Counts a pool's connections at their sockets, because the driver does not report on its pool.

import type { Socket } from 'node:net'
import { Counter, Gauge, type Registry } from 'prom-client'

/** For every new connection: its socket, and the one that is encrypted, as soon as there is one. */
export type ObserveSockets = { opened(socket: Socket): void; secured(socket: Socket): void }

/** Registers the metrics of one pool of at most `max` connections; call the result with every new socket. */
export function createDatabaseMetrics(registry: Registry, { max }: { max: number }): ObserveSockets {
  const registers = [registry]
  const open = new Gauge({
    name: 'dlq_database_connections',
    help: 'Open connections to PostgreSQL.',
    registers,
  })
  new Gauge({
    name: 'dlq_database_connections_max',
    help: 'The largest number of connections to PostgreSQL: database.max_open_conns.',
    registers,
  }).set(max)
  const failures = new Counter({
    name: 'dlq_database_connection_failures_total',
    help: 'Connections to PostgreSQL that could not be opened, or broke.',
    registers,
  })
  const countFailure = (socket: Socket) => socket.once('error', () => failures.inc())
  return {
    opened(socket) {
      socket.once('connect', () => {
        open.inc()
        socket.once('close', () => open.dec())
      })
      countFailure(socket)
    },
    secured: countFailure,
  }
}
