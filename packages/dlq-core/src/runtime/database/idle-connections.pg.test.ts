// database.max_idle_conns: how many connections stay open when nobody needs them.
import { eventually } from 'dlq-testing/eventually.ts'
import { useDatabase } from 'dlq-testing/postgres/test-database.ts'
import { expect, test } from 'vitest'
import { loadConfig } from '../config/config.ts'
import { createLog } from '../log.ts'
import { connectDatabase } from './database.ts'

const database = useDatabase()

async function openPool(env: Record<string, string>) {
  const { config } = loadConfig({ env: { DATABASE_URL: database.url, ...env }, yaml: null, needs: ['database'] })
  const log = createLog({ service: 'test', level: 'silent' })
  const sql = connectDatabase(config.database, { applicationName: 'idle-test', log, surplusIdle: 0.2 })
  const open = async () => {
    const [row] = await database.sql<[{ count: number }]>`
      select count(*)::int as count from pg_stat_activity where application_name = 'idle-test'`
    return row.count
  }
  /**
   * Six at once, each longer than it takes to connect on a busy machine. Again where a connection was still closing:
   * the driver then lets a query wait behind another one.
   */
  const burst = () =>
    eventually(async () => {
      const most = mostUntil(Promise.all(Array.from({ length: 6 }, () => sql`select pg_sleep(1)`)))
      expect(await most).toBe(6)
    })
  const mostUntil = async (queries: Promise<unknown>) => {
    const state = { most: 0, running: true }
    const stop = queries.finally(() => {
      state.running = false
    })
    while (state.running) state.most = Math.max(state.most, await open())
    await stop
    return state.most
  }
  await burst()
  return { open, burst, [Symbol.asyncDispose]: () => sql.end({ timeout: 5 }) }
}

test('so many stay, and the others are closed soon after the burst that needed them', async () => {
  await using pool = await openPool({ DLQ_DATABASE_MAX_OPEN_CONNS: '6', DLQ_DATABASE_MAX_IDLE_CONNS: '2' })
  await eventually(async () => expect(await pool.open()).toBe(2))
  // The next burst opens them again.
  await pool.burst()
})

test('as many as there may be: none is closed', async () => {
  await using pool = await openPool({ DLQ_DATABASE_MAX_OPEN_CONNS: '6', DLQ_DATABASE_MAX_IDLE_CONNS: '6' })
  await database.sql`select pg_sleep(1)`
  expect(await pool.open()).toBe(6)
})
