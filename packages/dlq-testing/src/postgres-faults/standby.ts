// A streaming replica of a PostgreSQL of ours.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type postgres from 'postgres'
import { eventually } from '../eventually.ts'
import { takeBaseBackup } from '../postgres/base-backup.ts'
import { type RunningPostgres, startPostgres } from '../postgres/postgres.ts'
import type { Reaper } from '../process/reaper.ts'

const standbyName = 'standby'

type StandbyOptions = {
  /** The primary's data, and where the standby's is to be. */
  primaryDir: string
  dataDir: string
  /** The port under which the standby reaches its primary. */
  primaryPort: number
  reaper: Reaper
  settings: Record<string, string>
}

/** Starts a standby of the server behind `sql`, and waits until it receives what the primary writes. */
export async function startStandby(
  sql: postgres.Sql,
  { primaryDir, dataDir, primaryPort, reaper, settings }: StandbyOptions,
): Promise<RunningPostgres> {
  await takeBaseBackup(sql, { dataDir: primaryDir, target: dataDir })
  writeFileSync(join(dataDir, 'standby.signal'), '')
  const primary_conninfo = `host=127.0.0.1 port=${primaryPort} user=postgres application_name=${standbyName}`
  const standby = await startPostgres({ dataDir, reaper, settings: { ...settings, primary_conninfo } })
  await eventually(async () => {
    const [row] =
      await sql`select from pg_stat_replication where application_name = ${standbyName} and state = 'streaming'`
    if (!row) throw new Error('no standby streams')
  })
  return standby
}

/** From now on a commit waits until the standby has it. */
export async function waitForStandby(sql: postgres.Sql): Promise<void> {
  await sql.unsafe(`alter system set synchronous_standby_names = '${standbyName}'`)
  await sql`select pg_reload_conf()`
  await eventually(async () => {
    const [row] =
      await sql`select from pg_stat_replication where application_name = ${standbyName} and sync_state = 'sync'`
    if (!row) throw new Error('the standby is not synchronous')
  })
}
