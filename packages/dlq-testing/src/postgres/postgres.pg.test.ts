// Starts, kills and restarts a separate server of this file.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import { createReaper } from '../process/reaper.ts'
import { withMaintenance } from './maintenance.ts'
import { startPostgres } from './postgres.ts'
import { postgresVersion } from './postgres-programs.ts'

let folder = ''
const reaper = createReaper()

beforeAll(() => {
  // A directory that only its owner may enter: as root, the hard case.
  folder = mkdtempSync(join(tmpdir(), 'dlq-postgres-'))
})

afterAll(async () => {
  await reaper.close()
  rmSync(folder, { recursive: true, force: true })
})

test('a server killed by SIGKILL starts again on the same port and has kept its data', async () => {
  const dataDir = join(folder, 'killed')
  const first = await startPostgres({ dataDir, reaper })
  const client = postgres(first.url, { max: 1, onnotice: () => {} })
  await client`create table kept as select 42 as answer`
  // A busy backend does not notice that its server died, and keeps the shared memory.
  const busy = client`
    do $$
    declare
      finish timestamptz := clock_timestamp() + interval '4 s';
    begin
      while clock_timestamp() < finish loop
      end loop;
    end $$`.catch(() => {})
  const isBusy = async () => {
    const rows = await withMaintenance(
      first.url,
      (sql) => sql`
        select from pg_stat_activity
         where state = 'active' and query like '%clock_timestamp%' and pid <> pg_backend_pid()`,
    )
    return rows.length > 0
  }
  await eventually(async () => expect(await isBusy()).toBe(true), { intervalMs: 20 })

  first.child.kill('SIGKILL')
  await first.exited
  const second = await startPostgres({ dataDir, reaper, port: first.port })

  expect(second.url).toBe(first.url)
  expect(second.pid).not.toBe(first.pid)
  expect([...(await withMaintenance(second.url, (sql) => sql`select answer from kept`))]).toEqual([{ answer: 42 }])
  await busy
  await client.end({ timeout: 1 })
  await second.stop()
  expect(await second.exited).toEqual({ code: 0, signal: null })
})

test('settings given by the caller reach the server', async () => {
  const server = await startPostgres({ dataDir: join(folder, 'set'), reaper, settings: { fsync: 'off' } })
  try {
    const [row] = await withMaintenance(
      server.url,
      (sql) => sql`
        select current_setting('fsync') as fsync,
               current_setting('server_encoding') as encoding,
               current_setting('server_version_num')::int / 10000 as major`,
    )
    expect(row).toEqual({ fsync: 'off', encoding: 'UTF8', major: postgresVersion })
  } finally {
    await server.stop()
  }
})

test('a server that cannot start says why', async () => {
  const starting = startPostgres({ dataDir: join(folder, 'wrong'), reaper, settings: { no_such_setting: '1' } })

  await expect(starting).rejects.toThrow(/unrecognized configuration parameter "no_such_setting"/)
})
