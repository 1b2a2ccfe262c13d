// What a database or a role has set otherwise changes nothing for graphile-worker.
import { loadConfig } from 'dlq-core/runtime/config/config.ts'
import { followLogin } from 'dlq-core/runtime/database/database-login.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { useServiceDatabase } from 'dlq-testing/postgres/service-database.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { afterEach, expect, test } from 'vitest'
import { openWorkerPool } from './worker-pool.ts'

const database = useDatabase()
const service = useServiceDatabase(database)
const log = createLog({ service: 'test', level: 'silent' })
const name = () => database.sql(new URL(database.url).pathname.slice(1))

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
  const { config } = loadConfig({ env: { DATABASE_URL: database.url }, yaml: null, needs: ['database'] })
  const login = followLogin(config.database, { reread: () => null, prove: async () => {}, log })
  const pool = await openWorkerPool({ ...config, settings: config.worker, sql: service.sql, login, log })
  try {
    const { rows } = await pool.query(`
      select '2026-02-20 11:59:30Z'::timestamptz as at, current_setting('transaction_isolation') as isolation, '\\x' as text`)
    expect(rows).toEqual([{ at: new Date('2026-02-20T11:59:30Z'), isolation: 'read committed', text: '\\x' }])
  } finally {
    await pool.end()
  }
})
