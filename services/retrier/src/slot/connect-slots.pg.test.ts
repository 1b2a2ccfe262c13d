import { loadConfig } from 'dlq-core/runtime/config/config.ts'
import { createLog } from 'dlq-core/runtime/log.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { expect, onTestFinished, test } from 'vitest'
import { connectSlots } from './connect-slots.ts'

const database = useDatabase()

test('slots open one connection each, however many statements there are, and each plans a statement once', async () => {
  const { config } = loadConfig({ env: { DATABASE_URL: database.url }, yaml: null, needs: ['database'] })
  const log = createLog({ service: 'retrier', level: 'silent' })
  const sql = connectSlots({ ...config, retry: { slots: 2 } }, { log, login: null })
  onTestFinished(() => sql.end({ timeout: 5 }))

  const seen = await Promise.all(
    Array.from({ length: 20 }, (_, n) => sql<{ pid: number }[]>`select pg_backend_pid() as pid, ${n}::int as n`),
  )
  expect(new Set(seen.map(([row]) => row!.pid)).size).toBe(2)
  const [plans] = await sql<{ custom: number }[]>`
    select sum(custom_plans)::int as custom from pg_prepared_statements where statement like '%pg_backend_pid() as pid%'`
  expect(plans!.custom).toBe(0)
})
