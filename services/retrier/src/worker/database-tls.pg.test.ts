// database.ssl_mode: verify-full, with both drivers, on a separate server with TLS.
import { execFileSync } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from 'dlq-core/runtime/config/config.ts'
import { connectDatabase } from 'dlq-core/runtime/database/database.ts'
import { followLogin } from 'dlq-core/runtime/database/database-login.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { useLogFolder } from 'dlq-testing/fleet/log-folder.ts'
import { type RunningPostgres, startPostgres } from 'dlq-testing/postgres/postgres.ts'
import { createReaper } from 'dlq-testing/process/reaper.ts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openWorkerPool } from './worker-pool.ts'

const logs = useLogFolder()
const log = createLog({ service: 'test', level: 'silent' })
const reaper = createReaper()
const place = (name: string) => join(logs.path, name)
let server: RunningPostgres

beforeAll(async () => {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: logs.path, stdio: 'pipe' })
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  for (const name of ['ca', 'other'])
    openssl(
      'req',
      '-x509',
      ...newKey,
      '-days',
      '2',
      '-subj',
      `/CN=${name}`,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.pem`,
    )
  openssl('req', ...newKey, '-subj', '/CN=postgres', '-keyout', 'server.key', '-out', 'server.csr')
  // The certificate has the name only, and no address.
  writeFileSync(place('names'), 'subjectAltName=DNS:localhost')
  const signing = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'names']
  openssl('x509', '-req', '-in', 'server.csr', '-days', '2', '-out', 'server.pem', ...signing)
  chmodSync(place('server.key'), 0o600)
  const settings = {
    ssl: 'on',
    ssl_cert_file: place('server.pem'),
    ssl_key_file: place('server.key'),
    shared_buffers: '16MB',
  }
  server = await startPostgres({ dataDir: place('postgres'), reaper, settings })
})
afterAll(async () => {
  await server?.stop()
  await reaper.close()
})

/** Whether a connection of each driver is encrypted, or why there is none. */
async function connect({ host, authority }: { host: string; authority: string }) {
  const env = {
    DLQ_DATABASE_HOST: host,
    DLQ_DATABASE_PORT: String(server.port),
    DLQ_DATABASE_NAME: 'postgres',
    DLQ_DATABASE_USER: 'postgres',
    DLQ_DATABASE_SSL_MODE: 'verify-full',
    DLQ_DATABASE_SSL_CA_FILE: place(authority),
  }
  const { config } = loadConfig({ env, yaml: null, needs: ['database'] })
  const query = 'select ssl from pg_stat_ssl where pid = pg_backend_pid()'
  const reason = (error: NodeJS.ErrnoException) => error.code
  const sql = connectDatabase(config.database, { applicationName: 'test', log })
  const login = followLogin(config.database, { reread: () => null, prove: async () => {}, log })
  const pool = await openWorkerPool({ sql, database: config.database, login, settings: config.worker, log })
  try {
    return {
      postgres: await sql.unsafe(query).then(([row]) => row!.ssl, reason),
      pg: await pool.query(query).then(({ rows }) => rows[0].ssl, reason),
    }
  } finally {
    await Promise.all([sql.end({ timeout: 1 }), pool.end()])
  }
}

describe('verify-full', () => {
  test('connects where the authority has signed for that host', async () => {
    expect(await connect({ host: 'localhost', authority: 'ca.pem' })).toEqual({ postgres: true, pg: true })
  })

  test('refuses a certificate of another authority', async () => {
    const code = 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'
    expect(await connect({ host: 'localhost', authority: 'other.pem' })).toEqual({ postgres: code, pg: code })
  })

  test('refuses a certificate for another name, also where the host is an address', async () => {
    const code = 'ERR_TLS_CERT_ALTNAME_INVALID'
    expect(await connect({ host: '127.0.0.1', authority: 'ca.pem' })).toEqual({ postgres: code, pg: code })
  })
})
