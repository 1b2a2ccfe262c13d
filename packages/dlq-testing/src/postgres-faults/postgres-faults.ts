// What may happen to a PostgreSQL. Each fault begins, lasts, ends, and says what it has done; it throws where it did not
// happen, because a test of a fault that did not happen proves nothing.

import { existsSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { eventually } from '../eventually.ts'
import { withMaintenance } from '../postgres/maintenance.ts'
import { freezeProcess } from '../process/process-tree.ts'
import { halves, type OnSmallDisk, type PostgresFleet, type Replication } from './postgres-fleet.ts'

export type PostgresFault = {
  replication: Replication
  onSmallDisk?: OnSmallDisk
  /** Whether the database may forget what it had committed. */
  forgets: boolean
  /** Whether no record comes any more once the standby takes over: then nothing but a look finds what was forgotten. */
  thenNothingNew?: boolean
  /**
   * Returns what it has done, for the table. Calls `beforeTakeOver` before the standby takes over, or is taken for the
   * primary.
   */
  happen(fleet: PostgresFleet, beforeTakeOver: () => Promise<void>): Promise<string>
}

/** How far the standby is behind, and how long the old primary goes on with half of the services. */
const [behindMs, splitMs] = [3000, 10_000]
const awayMs = 12_000
const fullMs = 15_000
const hoggedMs = 20_000
const heldBackMs = Number(process.env.DLQ_VACUUM_SECONDS ?? 60) * 1000
const astrayMs = 10_000
/** "cannot execute … in a read-only transaction" */
const readOnly = '25006'
/** "sorry, too many clients already" */
const tooManyConnections = '53300'

/** Name → fault, in the order in which they are tried. */
export const postgresFaults: Readonly<Record<string, PostgresFault>> = {
  'asynchronous failover': { replication: 'asynchronous', forgets: true, happen: failOver('dead') },
  'asynchronous failover and nothing new': {
    ...{ replication: 'asynchronous', forgets: true, thenNothingNew: true },
    happen: failOver('dead'),
  },
  'asynchronous failover with two primaries': {
    replication: 'asynchronous',
    forgets: true,
    happen: failOver('alive'),
  },
  'synchronous failover': { replication: 'synchronous', forgets: false, happen: failOver('dead') },
  'synchronous failover with two primaries': { replication: 'synchronous', forgets: false, happen: failOver('alive') },
  'an address that leads to the standby': { replication: 'synchronous', forgets: false, happen: leadAstray },
  'a full disk': { replication: null, onSmallDisk: 'all', forgets: false, happen: fillDisk },
  'a full disk of the WAL': { replication: null, onSmallDisk: 'wal', forgets: false, happen: fillDisk },
  'max_connections used up by others': { replication: null, forgets: false, happen: hogConnections },
  'a long transaction that holds back vacuum': { replication: null, forgets: false, happen: holdBackVacuum },
  'SIGKILL of one backend': { replication: null, forgets: false, happen: killBackend },
  'SIGKILL of the server': { replication: null, forgets: false, happen: killServer },
  'SIGSTOP of the server': { replication: null, forgets: false, happen: freezeServer },
}

/** The standby loses the link, falls behind, and is promoted; alive: half of the services stay with the old primary. */
function failOver(oldPrimary: 'dead' | 'alive') {
  return async (
    { primary, standby, link, addresses: [first, second] }: PostgresFleet,
    beforeTakeOver: () => Promise<void>,
  ): Promise<string> => {
    link.leadTo(null)
    await sleep(behindMs)
    await beforeTakeOver()
    if (oldPrimary === 'dead') await killAndWait(primary())
    await withMaintenance(standby().url, (sql) => sql`select pg_promote(wait => true)`)
    first.leadTo(standby().port)
    if (oldPrimary === 'alive') {
      await sleep(splitMs)
      await killAndWait(primary())
    }
    second.leadTo(standby().port)
    const split = oldPrimary === 'alive' ? `, two primaries for ${splitMs / 1000} s` : ''
    return `standby ${behindMs / 1000} s behind${split}`
  }
}

/** As when a former primary comes back as a standby before its address has moved. What is connected to it stays so. */
async function leadAstray(
  { primary, standby, addresses, logDir }: PostgresFleet,
  beforeTakeOver: () => Promise<void>,
): Promise<string> {
  await beforeTakeOver()
  for (const address of addresses) address.leadTo(standby().port)
  await sleep(astrayMs)
  for (const address of addresses) address.leadTo(primary().port, 'stay')
  const refused = halves.filter(([, instance]) => hasMet(readOnly, `${logDir}/${instance}.log`))
  if (refused.length === 0) throw new Error('no service met the standby')
  return `for ${astrayMs / 1000} s, ${refused.length} of ${halves.length} services met it`
}

const hasMet = (code: string, logFile: string) => readFileSync(logFile, 'utf8').includes(code)

async function killAndWait(server: { pid: number; exited: Promise<unknown> }): Promise<void> {
  process.kill(server.pid, 'SIGKILL')
  await server.exited
}

async function fillDisk({ sql, smallDisk, primary, primaryLog, restartPrimary }: PostgresFleet): Promise<string> {
  if (smallDisk === null) throw new Error('the primary has no small disk')
  const { pid } = primary()
  const filler = `${smallDisk}/filler`
  const { bavail, bsize } = statfsSync(smallDisk)
  // More than there is: the last of it is refused, and the disk is full.
  try {
    writeFileSync(filler, Buffer.alloc(bavail * bsize + 1))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
  }
  await eventually(async () => {
    // The WAL goes on in the files that it has.
    await sql`select pg_switch_wal()`.catch(() => {})
    if (!readFileSync(primaryLog, 'utf8').includes('No space left on device'))
      throw new Error('PostgreSQL has not met the full disk')
  })
  await sleep(fullMs)
  rmSync(filler)
  const isAlive = existsSync(`/proc/${pid}`)
  if (!isAlive) await restartPrimary()
  return `full for ${fullMs / 1000} s; ${isAlive ? 'the server stayed' : 'the server ended itself and was started again'}`
}

async function hogConnections({ primary, logDir }: PostgresFleet): Promise<string> {
  const others: postgres.Sql[] = []
  const hog = async (): Promise<boolean> => {
    const sql = postgres(primary().url, {
      max: 1,
      onnotice: () => {},
      fetch_types: false,
      connection: { application_name: 'others' },
    })
    try {
      await sql`select 1`
      others.push(sql)
      return true
    } catch (error) {
      void sql.end({ timeout: 0 })
      if ((error as { code?: string }).code !== tooManyConnections) throw error
      return false
    }
  }
  try {
    while (await hog());
    for (const until = Date.now() + hoggedMs; Date.now() < until; await sleep(20)) {
      // A service loses its connections, as when it is started anew, and somebody else is faster.
      await others[0]!`
        select pg_terminate_backend(pid) from pg_stat_activity
         where backend_type = 'client backend' and application_name <> 'others'`
      while (await hog());
    }
  } finally {
    await Promise.all(others.map((sql) => sql.end({ timeout: 1 })))
  }
  const refused = halves.filter(([, instance]) => hasMet(tooManyConnections, `${logDir}/${instance}.log`))
  if (refused.length === 0) throw new Error('no service was refused a connection')
  return `${others.length} connections of others for ${hoggedMs / 1000} s, ${refused.length} of ${halves.length} services refused`
}

async function holdBackVacuum({ sql, primary }: PostgresFleet): Promise<string> {
  const dead = async () => {
    const [row] = await sql<{ n: number }[]>`
      select coalesce(sum(n_dead_tup), 0)::int as n from pg_stat_user_tables where relname like 'dlq_messages%'`
    return row!.n
  }
  await withMaintenance(primary().url, (own) =>
    own.begin('isolation level repeatable read', async (transaction) => {
      await transaction`select pg_current_xact_id(), count(*) from dlq.dlq_positions`
      await sleep(heldBackMs)
    }),
  )
  return `${heldBackMs / 1000} s, ${await dead()} dead rows at the end`
}

/** The other backends end with it: PostgreSQL starts all of them anew. */
async function killBackend({ sql, primary }: PostgresFleet): Promise<string> {
  const [row] = await sql<{ pid: number }[]>`
    select pid from pg_stat_activity
     where application_name like 'dlq%' and backend_type = 'client backend' order by state = 'active' desc limit 1`
  process.kill(row!.pid, 'SIGKILL')
  await eventually(() => withMaintenance(primary().url, (own) => own`select 1`))
  return 'all connections ended'
}

async function killServer({ primary, restartPrimary }: PostgresFleet): Promise<string> {
  await killAndWait(primary())
  await sleep(awayMs)
  await restartPrimary()
  return `away for ${awayMs / 1000} s`
}

async function freezeServer({ primary }: PostgresFleet): Promise<string> {
  const resume = freezeProcess(primary().pid)
  await sleep(awayMs)
  resume()
  return `frozen for ${awayMs / 1000} s`
}
