// The connection pool. Three things differ from the driver's defaults: TCP_NODELAY, which the driver
// never sets (measured: a COPY of 17,000 rows/s became 54,000); JSON, which stays text in both
// directions so that no number is rounded on its way through Node; and the settings of a session that
// change what values look like, which a server, a database or a role may have otherwise.

import net from 'node:net'
import postgres from 'postgres'
import type { Registry } from 'prom-client'
import { pingSchema } from '../../queries/ping.ts'
import type { DatabaseConfig } from '../config/config-schema.ts'
import { createLog, type Log } from '../log.ts'
import { sharedLookup } from '../outgoing/shared-lookup.ts'
import { type DatabaseLogin, loginOf } from './database-login.ts'
import { createDatabaseMetrics, type ObserveSockets } from './database-metrics.ts'
import { databaseTls } from './database-tls.ts'

/** How values pass between PostgreSQL and Node: bigints exactly, JSON as text, bytes as they are or not at all. */
export const types = {
  bigint: postgres.BigInt,
  bytea: {
    to: 17,
    from: [17],
    serialize: (bytes: Uint8Array) => `\\x${Buffer.from(bytes).toString('hex')}`,
    parse: toBytes,
  },
  time: {
    to: 1184,
    from: [1184],
    serialize: (time: Date | string) => (time instanceof Date ? time : new Date(time)).toISOString(),
    parse: toTime,
  },
  json: { to: 114, from: [114, 3802], serialize: (text: string) => text, parse: (text: string) => text },
}

/**
 * Behind a pooler the format is the role's. The driver would take the other format for hexadecimal digits, and return
 * other bytes.
 */
function toBytes(text: string): Buffer {
  if (!text.startsWith('\\x'))
    throw new Error('bytes come in another format: alter role … set bytea_output = hex, for the role of the services')
  return Buffer.from(text.slice(2), 'hex')
}

const firstTime = '0001-01-01T00:00:00.000Z'
const lastTime = '9999-12-31T23:59:59.999Z'

/** By SQL people put messages off to "infinity", and a list with one such time must not fail for all others. */
function toTime(text: string): Date {
  // Node reads the years 1 to 99 as 1950 to 2049, except in ISO's own form.
  const time = new Date(text.startsWith('00') ? text.replace(' ', 'T').replace(/[+-]\d\d$/, '$&:00') : text)
  if (!Number.isNaN(time.getTime())) return time
  return new Date(/^-|BC$/.test(text) ? firstTime : lastTime)
}

export type Database = postgres.Sql<{ bigint: bigint; json: string }>
/** The argument of the callback of `sql.begin`. */
export type Transaction = postgres.TransactionSql<{ bigint: bigint; json: string }>

const idleInTransactionMs = 20_000
const idleSeconds = 60
/** An answer may be on its way for some time after its statement was ended. */
const defaultGraceMs = 15_000
/** Long enough that a burst a few seconds later finds its connections open. */
const surplusIdleSeconds = 10

export type ConnectOptions = {
  applicationName: string
  log: Log
  /**
   * If PostgreSQL does not answer for this time, the connection is given up: the server hangs, or the network drops
   * packets. Must be more than the statement timeout; by default 15 s more. Null: it may be silent for as long as it is,
   * for statements that have no limit.
   */
  silenceMs?: number | null
  /**
   * Generic plans, for statements whose text leaves PostgreSQL only one index. A list over all partitions takes
   * longer to plan than to run. Behind a pooler the role must set this.
   */
  genericPlans?: boolean
  /** The registry that counts its connections. */
  registry?: Registry
  /** The login to use; without it, the settings' own for good. */
  login?: DatabaseLogin | null
  /** How long connections beyond `max_idle_conns` may be idle. */
  surplusIdle?: number
}

/** A pool that connects when first used. End it with `sql.end({ timeout: 5 })`. */
export function connectDatabase(
  config: DatabaseConfig,
  {
    applicationName,
    log,
    silenceMs = config.statement_timeout === 0 ? null : config.statement_timeout + defaultGraceMs,
    genericPlans = false,
    registry,
    login = null,
    surplusIdle = surplusIdleSeconds,
  }: ConnectOptions,
): Database {
  const place = config.url ? new URL(config.url) : null
  const { user, password } = loginOf(config)
  const observe = registry && createDatabaseMetrics(registry, { max: config.max_open_conns })
  const sql = postgres<typeof types>(config.url ?? '', {
    ...(place ? {} : { host: config.host!, port: config.port, database: config.name! }),
    ...(user && { username: user }),
    ...(password && { password }),
    ...(config.ssl_mode === 'disable' && place?.searchParams.has('sslmode')
      ? {}
      : { ssl: sslOption(config, place?.hostname ?? config.host!, log) }),
    types,
    max: config.max_open_conns,
    max_lifetime: config.conn_max_lifetime / 1000,
    // The types know no function, though the driver takes one for each of its times.
    idle_timeout: idleTimeouts({ kept: config.max_idle_conns, surplusIdle }) as unknown as number,
    connect_timeout: 5,
    prepare: config.prepare,
    // Waits between attempts to connect, in seconds.
    backoff: (retries: number) => Math.min(0.1 * 2 ** retries, 2) * (0.75 + Math.random() / 2),
    connection: {
      application_name: applicationName,
      // The driver reads times in ISO's format only. Of times before time zones (Berlin: 1893) PostgreSQL writes the
      // zone's seconds too, which Node cannot read. PgBouncer takes these three in transaction mode as well.
      ...{ DateStyle: 'ISO, MDY', TimeZone: 'UTC', standard_conforming_strings: 'on' },
      // A pooler refuses these; there the role must set them (infra/docs/configuration.md).
      ...(config.prepare && {
        statement_timeout: config.statement_timeout,
        // If a process hangs or its machine dies inside a transaction, its locks must not stay for hours.
        idle_in_transaction_session_timeout: idleInTransactionMs,
        // Statements are short, but seem long where a partition was never analyzed: compiling one takes longer than it.
        jit: 'off',
        bytea_output: 'hex',
        // A null among parameters that are arrays.
        array_nulls: 'on',
        // What waits for a lock reads what the lock's holder has committed.
        default_transaction_isolation: 'read committed',
        ...(genericPlans && { plan_cache_mode: 'force_generic_plan' }),
      }),
    },
    onnotice: (notice) => log.debug({ notice: notice.message }, 'database_notice'),
    ...socketOptions({ silenceMs, observe }),
    ...(login?.current().user && { login: () => driverLogin(login) }),
  }) as Database
  // Each connection ends when its transaction does, and the next query opens one of the new login.
  const { close } = sql as Database & { close(): Promise<void> }
  login?.onChange(() => close().catch((error) => log.warn({ error }, 'connections_not_replaced')))
  return sql
}

/** The driver asks once for each connection of the pool, when it makes the pool. So the first ones stay, and the others go soon. */
function idleTimeouts({ kept, surplusIdle }: { kept: number; surplusIdle: number }): () => number {
  let made = 0
  return () => {
    made += 1
    return made > kept ? surplusIdle : idleSeconds
  }
}

/** Throws unless PostgreSQL accepts the login that the settings name. */
export async function proveLogin(config: DatabaseConfig): Promise<void> {
  const sql = connectDatabase(
    { ...config, max_open_conns: 1 },
    { applicationName: 'dlq-login', log: createLog({ service: 'login', level: 'silent' }) },
  )
  try {
    await pingSchema(sql)
  } finally {
    await sql.end({ timeout: 1 })
  }
}

function driverLogin(login: DatabaseLogin) {
  const { user, password } = login.current()
  return { user, pass: password }
}

type Place = { host: string[]; port: number[]; path?: string }

type SocketOptions = { silenceMs: number | null; observe: ObserveSockets | undefined }

/** What the driver asks for a socket, and tells when it is encrypted. */
function socketOptions({ silenceMs, observe }: SocketOptions) {
  const stops = new WeakMap<net.Socket, () => void>()
  const watch = (socket: net.Socket) => {
    if (silenceMs !== null) stops.set(socket, giveUpOnSilence(socket, silenceMs))
  }
  return {
    // The driver writes to the socket at once; Node queues that until the socket is connected.
    async socket({ host, port, path }: Place) {
      // The driver listens when this promise is kept. Node says of a network without a route in the next tick, before
      // promises are kept; but where it is asked in a promise's turn, after them.
      await null
      const place = path ? { path } : { host: host[0]!, port: port[0]!, lookup: sharedLookup }
      const socket = net.connect(place)
      socket.setNoDelay(true)
      observe?.opened(socket)
      watch(socket)
      return Object.assign(socket, { host: host[0], port: port[0] })
    },
    secured(plain: net.Socket, encrypted: net.Socket) {
      stops.get(plain)?.()
      observe?.secured(encrypted)
      watch(encrypted)
    },
  }
}

/**
 * The driver has no such limit: a query on a dead connection would wait for ever. One timer per connection checks
 * from time to time; one timer per query would cost more than sending the query. Returns what ends it.
 */
function giveUpOnSilence(socket: net.Socket, silenceMs: number): () => void {
  let askedAt: number | null = null
  const look = setInterval(() => {
    if (askedAt === null || performance.now() - askedAt < silenceMs) return
    socket.destroy(Object.assign(new Error(`PostgreSQL did not answer for ${silenceMs} ms`), { code: 'ETIMEDOUT' }))
  }, silenceMs / 8).unref()
  const write = socket.write
  socket.write = ((...written: Parameters<typeof write>) => {
    askedAt ??= performance.now()
    return write.apply(socket, written)
  }) as typeof write
  const answered = () => {
    askedAt = null
  }
  const stop = () => {
    clearInterval(look)
    socket.off('data', answered)
  }
  socket.on('data', answered)
  socket.on('close', stop)
  return stop
}

function sslOption(config: DatabaseConfig, host: string, log: Log) {
  if (config.ssl_mode === 'disable') return false
  return databaseTls(config, { host: host.replace(/^\[|\]$/g, ''), log }) ?? config.ssl_mode
}
