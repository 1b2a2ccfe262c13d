// The real PgBouncer in transaction mode, where it is installed (Debian: apt-get install pgbouncer; PGBOUNCER names it
// elsewhere). The soak uses it; `npm test` uses a pooler of our own, which needs nothing installed.

import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { chooseServerUser } from '../postgres/server-user.ts'
import { freePort } from '../process/free-port.ts'
import { createReaper } from '../process/reaper.ts'
import { startWatchedProcess } from '../process/watched-process.ts'
import { startTransactionPooler, type TransactionPooler } from './transaction-pooler.ts'

const readyMs = 20_000

export function findPgBouncer(): string | null {
  return [process.env.PGBOUNCER, '/usr/sbin/pgbouncer'].find((file) => file && existsSync(file)) ?? null
}

/** PgBouncer in the soak, where it is installed; else the pooler of our own. */
export async function startPooler(
  databaseUrl: string,
  { size }: { size: number },
): Promise<Pick<TransactionPooler, 'url' | 'close'>> {
  const program = process.env.DLQ_SOAK === '1' ? findPgBouncer() : null
  if (program !== null) return startPgBouncer(program, databaseUrl, { size })
  if (process.env.DLQ_SOAK === '1') console.log('no PgBouncer here: a pooler of our own takes its place')
  return startTransactionPooler(databaseUrl, { size })
}

async function startPgBouncer(program: string, databaseUrl: string, { size }: { size: number }) {
  await using stack = new AsyncDisposableStack()
  const reaper = stack.adopt(createReaper(), (reaper) => reaper.close())
  const folder = stack.adopt(mkdtempSync(join(tmpdir(), 'dlq-pgbouncer-')), (folder) =>
    rmSync(folder, { recursive: true }),
  )
  const { hostname, port: databasePort, username } = new URL(databaseUrl)
  const port = await freePort()
  const settings = join(folder, 'pgbouncer.ini')
  // What configuration.md says, and nothing else: a setting that it does not name would hide that it is needed.
  writeFileSync(
    settings,
    `[databases]
* = host=${hostname} port=${databasePort} user=${username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${size}
max_client_conn = 1000
`,
  )
  const user = await chooseServerUser(program)
  if (user.ids) for (const path of [folder, settings]) chownSync(path, user.ids.uid, user.ids.gid)
  const server = await startWatchedProcess({
    command: [...user.prefix, program, settings],
    logFile: `${folder}.log`,
    reaper,
  })
  stack.defer(() => server.stop('SIGINT', 5000))
  const url = new URL(databaseUrl)
  url.port = String(port)
  await untilReady(url.href, server.lastOutput)
  const own = stack.move()
  return { url: url.href, close: () => own.disposeAsync() }
}

async function untilReady(url: string, lastOutput: () => string): Promise<void> {
  for (const deadline = Date.now() + readyMs; ; await sleep(50)) {
    const sql = postgres(url, { max: 1, prepare: false, onnotice: () => {}, fetch_types: false, connect_timeout: 2 })
    try {
      await sql`select 1`
      return
    } catch (error) {
      if (Date.now() > deadline) throw new Error(`PgBouncer did not start:\n${lastOutput()}`, { cause: error })
    } finally {
      await sql.end({ timeout: 1 })
    }
  }
}
