// The connections of graphile-worker, which needs the driver pg. They are few, and every wait has a limit. Jobs do their
// work on the service's own pool.

import { Socket } from 'node:net'
import { isEncrypted } from 'dlq-core/queries/upkeep/workers.ts'
import type { Config, DatabaseConfig } from 'dlq-core/runtime/config/config-schema.ts'
import type { Database } from 'dlq-core/runtime/database/database.ts'
import type { DatabaseLogin } from 'dlq-core/runtime/database/database-login.ts'
import { databaseTls } from 'dlq-core/runtime/database/database-tls.ts'
import type { Log } from 'dlq-core/runtime/log.ts'
import { sharedLookup } from 'dlq-core/runtime/outgoing/shared-lookup.ts'
import pg from 'pg'

const statementMs = 10_000

/**
 * What graphile-worker relies on, whatever the server, the database or the role has set: its driver reads times in ISO's
 * format only, and its look for jobs skips what others have locked, which other levels of isolation take for a conflict.
 */
const ownSettings =
  '-c DateStyle=ISO,MDY -c standard_conforming_strings=on -c default_transaction_isolation=read\\ committed'

export type WorkerPoolDeps = {
  sql: Database
  database: DatabaseConfig
  login: DatabaseLogin
  settings: Config['worker']
  log: Log
}

/** A pool that connects when first used. It keeps the login that the service has now, and replaces lost connections. */
export async function openWorkerPool({ sql, database, login, settings, log }: WorkerPoolDeps): Promise<pg.Pool> {
  const place = database.url ? new URL(database.url) : null
  const pool = new pg.Pool({
    ...(place ? placeOf(place) : { host: database.host!, port: database.port, database: database.name! }),
    ...loginOptions(login),
    ssl: await sslOption({ sql, database, log }, place),
    application_name: 'dlq-retrier-worker',
    // One connection listens; one completes jobs while all workers look for others.
    max: settings.concurrency + 2,
    maxLifetimeSeconds: database.conn_max_lifetime / 1000,
    connectionTimeoutMillis: 5000,
    stream: openSocket,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // A pooler in transaction mode refuses these settings; there they belong to the role.
    ...(database.prepare && { statement_timeout: statementMs, options: ownSettings }),
    // A server that does not answer at all does not apply its own timeout either.
    query_timeout: statementMs + 5000,
  })
  pool.on('error', (error) => log.debug({ error }, 'worker_connection_lost'))
  // Without this listener, a connection that is lost while in use would end the process.
  pool.on('connect', (client) => client.on('error', (error) => log.debug({ error }, 'worker_connection_lost')))
  return pool
}

/** As the driver would make it, but that it shares what other sockets found out about the host. */
function openSocket(): Socket {
  const socket = new Socket()
  const connect = socket.connect.bind(socket)
  return Object.assign(socket, {
    // The driver gives a port and a host, or the path of a socket in the file system.
    connect: (...[place, host]: [port: number, host: string] | [path: string]) =>
      typeof place === 'string' ? connect(place) : connect({ port: place, host, lookup: sharedLookup }),
  })
}

function placeOf(url: URL): { host: string; port: number; database: string } {
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || 5432),
    database: decodeURIComponent(url.pathname.slice(1)),
  }
}

function loginOptions(login: DatabaseLogin): pg.PoolConfig {
  const { user, password } = login.current()
  return { ...(user && { user }), ...(password && { password }) }
}

/** The same TLS mode as the service's own connections. */
async function sslOption(
  { sql, database, log }: Pick<WorkerPoolDeps, 'sql' | 'database' | 'log'>,
  url: URL | null,
): Promise<pg.PoolConfig['ssl']> {
  const { ssl_mode } = database
  if (ssl_mode === 'disable' && !url?.searchParams.has('sslmode')) return false
  const tls = databaseTls(database, { host: url ? placeOf(url).host : database.host!, log })
  if (tls !== null) return tls
  const mode = ssl_mode === 'disable' ? url?.searchParams.get('sslmode') : ssl_mode
  return (await isEncrypted(sql)) && { rejectUnauthorized: mode === 'verify-full' }
}
