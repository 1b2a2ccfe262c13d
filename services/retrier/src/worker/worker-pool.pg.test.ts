// What a database or a role has set otherwise changes nothing for graphile-worker, nor does a host that takes long to find.
import dns from 'node:dns'
import { loadConfig } from 'dlq-core/runtime/config/config.ts'
import { connectDatabase } from 'dlq-core/runtime/database/database.ts'
import { followLogin } from 'dlq-core/runtime/database/database-login.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { afterEach, expect, test, vi } from 'vitest'
import { openWorkerPool } from './worker-pool.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const log = createLog({ service: 'test', level: 'silent' })
const name = () => database.sql(new URL(database.url).pathname.slice(1))

async function openPool(url: string) {
  const { config } = loadConfig({ env: { DATABASE_URL: url }, yaml: null, needs: ['database'] })
  const login = followLogin(config.database, { reread: () => null, prove: async () => {}, log })
  const pool = await openWorkerPool({ ...config, settings: config.worker, sql: service.sql, login, log })
  return { pool, config }
}

afterEach(async () => {
  await database.sql`alter database ${name()} reset all`
})

test.each([
  `datestyle = 'German'`,
  `datestyle = 'SQL, DMY'`,
  `default_transaction_isolation = 'serializable'`,
  'standard_conforming_strings = off',
])('with %s its sessions read times as they are, and see what others have committed', async (setting) => {
  await database.sql`alter database ${name()} set ${database.sql.unsafe(setting)}`
  const { pool } = await openPool(database.url)
  try {
    const { rows } = await pool.query(`
      select '2026-02-20 11:59:30Z'::timestamptz as at, current_setting('transaction_isolation') as isolation, '\\x' as text`)
    expect(rows).toEqual([{ at: new Date('2026-02-20T11:59:30Z'), isolation: 'read committed', text: '\\x' }])
  } finally {
    await pool.end()
  }
})

test('a name that takes long to find is asked for once by all connections, also those of the service', async () => {
  const lookup = vi.spyOn(dns.promises, 'lookup').mockImplementation((async () => {
    await new Promise((resolve) => setTimeout(resolve, 300))
    return [{ address: '127.0.0.1', family: 4 }]
  }) as unknown as typeof dns.promises.lookup)
  const url = new URL(database.url)
  url.hostname = 'postgres.example'
  const { pool, config } = await openPool(url.href)
  const sql = connectDatabase(config.database, { applicationName: 'test', log })
  try {
    const pids = await Promise.all([
      ...[1, 2].map(async () => (await pool.query('select pg_backend_pid() as pid')).rows[0].pid),
      ...[1, 2].map(async () => (await sql`select pg_backend_pid() as pid`)[0]!.pid),
    ])
    expect(new Set(pids).size).toBe(4)
    expect(lookup.mock.calls.map(([host]) => host)).toEqual(['postgres.example'])
  } finally {
    lookup.mockRestore()
    await Promise.all([pool.end(), sql.end()])
  }
})
