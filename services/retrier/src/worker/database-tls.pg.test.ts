// database.ssl_mode and the files of certificates, with both drivers, on a separate server with TLS.
import { chmodSync, copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { loadConfig } from 'dlq-core/runtime/config/config.ts'
import { connectDatabase } from 'dlq-core/runtime/database/database.ts'
import { followLogin } from 'dlq-core/runtime/database/database-login.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { eventually } from 'dlq-testing/eventually.ts'
import { useLogFolder } from 'dlq-testing/fleet/log-folder.ts'
import { type RunningPostgres, startPostgres } from 'dlq-testing/postgres/postgres.ts'
import { createReaper } from 'dlq-testing/process/reaper.ts'
import { certificateMaker } from 'dlq-testing/tls/certificates.ts'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openWorkerPool } from './worker-pool.ts'

const logs = useLogFolder()
const log = createLog({ service: 'test', level: 'silent' })
const reaper = createReaper()
const path = (name: string) => join(logs.path, name)
let server: RunningPostgres

beforeAll(async () => {
  const made = certificateMaker(logs.path)
  for (const name of ['ca', 'other']) made.authority(name)
  // The certificate has the name only, and no address.
  made.certificate('server', { authority: 'ca', extension: 'subjectAltName=DNS:localhost' })
  made.certificate('app', { authority: 'ca', extension: 'extendedKeyUsage=clientAuth' })
  made.certificate('stranger', { authority: 'other', extension: 'extendedKeyUsage=clientAuth', commonName: 'app' })
  chmodSync(path('server.key'), 0o600)
  writeFileSync(path('hba'), 'hostssl all app 127.0.0.1/32 cert\nhost all postgres 127.0.0.1/32 trust\n')
  const settings = {
    ssl: 'on',
    ssl_cert_file: path('server.pem'),
    ssl_key_file: path('server.key'),
    ssl_ca_file: path('ca.pem'),
    hba_file: path('hba'),
    shared_buffers: '16MB',
  }
  server = await startPostgres({ dataDir: path('postgres'), reaper, settings })
  await using client = openClients({ host: 'localhost' })
  await client.sql`create role app login`
})
afterAll(async () => {
  await server?.stop()
  await reaper.close()
})

type Place = {
  host: string
  authority?: string
  user?: string
  certificate?: string
  mode?: string
  silenceMs?: number
}

/** A client of each driver, as a service has them. `lines` is what they log. */
function openClients({
  host,
  authority = 'ca',
  user = 'postgres',
  certificate,
  mode = 'verify-full',
  silenceMs,
}: Place) {
  const env = {
    DLQ_DATABASE_HOST: host,
    DLQ_DATABASE_PORT: String(server.port),
    DLQ_DATABASE_NAME: 'postgres',
    DLQ_DATABASE_USER: user,
    DLQ_DATABASE_SSL_MODE: mode,
    ...(mode === 'verify-full' && { DLQ_DATABASE_SSL_CA_FILE: path(`${authority}.pem`) }),
    ...(certificate && {
      DLQ_DATABASE_SSL_CERT_FILE: path(`${certificate}.pem`),
      DLQ_DATABASE_SSL_KEY_FILE: path(`${certificate}.key`),
    }),
  }
  const { config } = loadConfig({ env, yaml: null, needs: ['database'] })
  const registry = new Registry()
  const options = { applicationName: 'test', log, registry, ...(silenceMs && { silenceMs }) }
  const sql = connectDatabase({ ...config.database, max_open_conns: 1 }, options)
  const login = followLogin(config.database, { reread: () => null, prove: async () => {}, log })
  const pool = openWorkerPool({ sql, database: config.database, login, settings: config.worker, log })
  return {
    sql,
    pool,
    /** The value of a metric of the driver postgres. */
    async metric(name: string) {
      return (await registry.getSingleMetric(name)!.get()).values[0]!.value
    },
    async [Symbol.asyncDispose]() {
      await sql.end({ timeout: 1 })
      await (await pool).end()
    },
  }
}

/** Whether a connection of each driver is encrypted, or why there is none. */
async function ask({ sql, pool }: ReturnType<typeof openClients>) {
  const query = 'select ssl from pg_stat_ssl where pid = pg_backend_pid()'
  const reason = (error: NodeJS.ErrnoException) => error.code
  return {
    postgres: await sql.unsafe(query).then(([row]) => row!.ssl, reason),
    pg: await (await pool).query(query).then(({ rows }) => rows[0].ssl, reason),
  }
}

async function connect(place: Place) {
  await using clients = openClients(place)
  return await ask(clients)
}

/** Ends all connections but one of its own, so that pools open others. */
async function endConnections() {
  await using admin = openClients({ host: 'localhost' })
  await admin.sql`
    select pg_terminate_backend(pid, 5000) from pg_stat_activity
    where backend_type = 'client backend' and pid <> pg_backend_pid()`
}

const authorityUnknown = 'SELF_SIGNED_CERT_IN_CHAIN'
/** invalid_authorization_specification */
const certificateRefused = '28000'

describe('verify-full', () => {
  test('connects where the authority has signed for that host', async () => {
    expect(await connect({ host: 'localhost' })).toEqual({ postgres: true, pg: true })
  })

  test('refuses a certificate of another authority', async () => {
    const refused = { postgres: authorityUnknown, pg: authorityUnknown }
    expect(await connect({ host: 'localhost', authority: 'other' })).toEqual(refused)
  })

  test('refuses a certificate for another name, also where the host is an address', async () => {
    const code = 'ERR_TLS_CERT_ALTNAME_INVALID'
    expect(await connect({ host: '127.0.0.1' })).toEqual({ postgres: code, pg: code })
  })
})

describe('a role that PostgreSQL knows by its certificate', () => {
  const app = { host: 'localhost', user: 'app' }

  test.each(['verify-full', 'require'])('connects with it, by ssl_mode %s', async (mode) => {
    expect(await connect({ ...app, certificate: 'app', mode })).toEqual({ postgres: true, pg: true })
  })

  test('is refused without it', async () => {
    expect(await connect(app)).toEqual({ postgres: certificateRefused, pg: certificateRefused })
  })
})

test('files that were replaced are used from the next connection on; while they do not fit, the former ones', async () => {
  const use = (name: string, kinds = ['pem', 'key']) => {
    for (const kind of kinds) copyFileSync(path(`${name}.${kind}`), path(`used.${kind}`))
  }
  use('app')
  await using clients = openClients({ host: 'localhost', user: 'app', certificate: 'used' })
  const connected = { postgres: true, pg: true }
  expect(await ask(clients)).toEqual(connected)
  use('stranger', ['pem'])
  await endConnections()
  expect(await ask(clients)).toEqual(connected)
  use('stranger')
  await endConnections()
  const answer = await ask(clients)
  expect(answer.postgres).not.toBe(true)
  expect(answer.pg).not.toBe(true)
  use('app')
  await endConnections()
  expect(await ask(clients)).toEqual(connected)
})

describe.each(['verify-full', 'require', 'prefer'])('behind TLS by ssl_mode %s', (mode) => {
  test('connections that open and close are counted, and those that fail', async () => {
    await using clients = openClients({ host: 'localhost', mode })
    expect(await clients.sql`select 1 as one`).toEqual([{ one: 1 }])
    expect(await clients.metric('dlq_database_connections')).toBe(1)
    await endConnections()
    await eventually(async () => expect(await clients.metric('dlq_database_connections')).toBe(0))
    expect(await clients.sql`select 2 as two`).toEqual([{ two: 2 }])
    expect(await clients.metric('dlq_database_connections')).toBe(1)
  })

  test('a connection on which PostgreSQL is silent is closed, and one that is idle is not', async () => {
    await using clients = openClients({ host: 'localhost', mode, silenceMs: 200 })
    const pid = async () => (await clients.sql<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]!.pid
    const first = await pid()
    await setTimeout(500)
    expect(await pid()).toBe(first)
    await expect(clients.sql`select pg_sleep(30)`).rejects.toMatchObject({
      code: expect.stringMatching(/ETIMEDOUT|CONNECTION_/),
    })
    // The driver may give the connection one more query until it is closed.
    await eventually(async () => expect(await pid()).not.toBe(first))
  })
})

test('a certificate that is refused counts as a connection that failed', async () => {
  await using clients = openClients({ host: 'localhost', authority: 'other' })
  await expect(clients.sql`select 1`).rejects.toMatchObject({ code: authorityUnknown })
  expect(await clients.metric('dlq_database_connection_failures_total')).toBeGreaterThan(0)
})
