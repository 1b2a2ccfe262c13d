// A real PostgreSQL of our own, 17 unless DLQ_TEST_POSTGRES names another version, from the binaries npm installed. initdb and postgres
// are driven directly, so the server is our child with a pid we know and can kill.

import type { ChildProcess } from 'node:child_process'
import { execFile } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from '../process/free-port.ts'
import type { Reaper } from '../process/reaper.ts'
import { type ProcessExit, startWatchedProcess, type WatchedProcess } from '../process/watched-process.ts'
import { postgresPrograms, postgresVersion } from './postgres-programs.ts'
import { chooseServerUser, type ServerUser } from './server-user.ts'

const run = promisify(execFile)

/** A running server. `url` names the superuser and the maintenance database `postgres`. */
export type RunningPostgres = {
  url: string
  port: number
  pid: number
  child: ChildProcess
  exited: Promise<ProcessExit>
  /** Fast shutdown (SIGINT), SIGKILL after 20 s; the data stays. */
  stop(): Promise<void>
}

/** Where the data lives, and which port; `settings` are further `-c name=value`. */
export type PostgresOptions = {
  dataDir: string
  reaper: Reaper
  port?: number | undefined
  settings?: Record<string, string> | undefined
  log?: ((line: string) => void) | undefined
}

/** Members of this role need their password; a test that wants it makes the role. All others are trusted. */
export const passwordRole = 'dlq_testing_password'
const passwordRule = `host all +${passwordRole} all scram-sha-256\n`

const readyMs = 90_000
const stopMs = 20_000
const pollMs = 20

const defaults = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '400',
  shared_buffers: '256MB',
  lc_messages: 'C',
  log_min_messages: 'warning',
}

/**
 * Starts PostgreSQL on 127.0.0.1, making the cluster in `dataDir` when there is none yet
 * (superuser `postgres`, no password, UTF-8, collation C.UTF-8). Its output is appended to
 * `dataDir`.log. After a kill -9 it may be started again on the same directory and port: it
 * is tried until the old server's backends are gone, for up to 90 s.
 */
export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  const dataDir = resolve(options.dataDir)
  const bin = await postgresPrograms()
  const user = await chooseServerUser(bin.postgres)
  if (!existsSync(join(dataDir, 'PG_VERSION'))) {
    options.log?.('making a PostgreSQL cluster')
    await initialise({ dataDir, initdb: bin.initdb, user })
  }
  const port = options.port ?? (await freePort())
  const settings = Object.entries({ ...defaults, ...options.settings, port: String(port) })
  const command = [
    ...user.prefix,
    bin.postgres,
    '-D',
    dataDir,
    ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]

  const deadline = Date.now() + readyMs
  for (;;) {
    const server = await startWatchedProcess({ command, logFile: `${dataDir}.log`, reaper: options.reaper })
    if (await untilReady(server, { dataDir, deadline })) return describe(server, port)
    // A predecessor killed by SIGKILL leaves backends that hold the shared memory for a moment.
    if (!server.hasExited() || Date.now() > deadline || !isTransient(server.lastOutput())) {
      await server.stop('SIGKILL', 0)
      throw new Error(`PostgreSQL did not start in ${dataDir}:\n${server.lastOutput()}`)
    }
    await sleep(200)
  }
}

function describe(server: WatchedProcess, port: number): RunningPostgres {
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    port,
    pid: server.pid,
    child: server.child,
    exited: server.exited,
    stop: () => server.stop('SIGINT', stopMs),
  }
}

/** True once postmaster.pid says `ready` for this pid, as pg_ctl reads it; false when it ended or time is up. */
async function untilReady(
  server: WatchedProcess,
  { dataDir, deadline }: { dataDir: string; deadline: number },
): Promise<boolean> {
  while (!server.hasExited() && Date.now() < deadline) {
    const lines = readLines(join(dataDir, 'postmaster.pid'))
    if (lines[0] === String(server.pid) && lines[7]?.trim() === 'ready') return true
    await sleep(pollMs)
  }
  return false
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n')
  } catch {
    return [] // Not written yet.
  }
}

function isTransient(output: string): boolean {
  return /is still in use|lock file "postmaster.pid" already exists|Address already in use/.test(output)
}

/** The same order and upper case in each version: the builtin provider came with 17. */
function localeOf(version: number): string[] {
  return version < 17 ? ['--locale=C.UTF-8'] : ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
}

/** Makes the cluster under another name and renames it, so a half-made one is never taken for whole. */
async function initialise({ dataDir, initdb, user }: { dataDir: string; initdb: string; user: ServerUser }) {
  const fresh = `${dataDir}.new-${process.pid}`
  rmSync(fresh, { recursive: true, force: true })
  mkdirSync(dirname(dataDir), { recursive: true })
  mkdirSync(fresh, { mode: 0o700 })
  if (user.ids) chownSync(fresh, user.ids.uid, user.ids.gid)
  const [program = '', ...args] = [
    ...user.prefix,
    initdb,
    `--pgdata=${fresh}`,
    '--username=postgres',
    '--auth=trust',
    '--encoding=UTF8',
    ...localeOf(postgresVersion),
    '--no-sync',
    '--no-instructions',
  ]
  try {
    await run(program, args, { timeout: 300_000 })
  } catch (cause) {
    rmSync(fresh, { recursive: true, force: true })
    throw new Error(`initdb failed: ${(cause as { stderr?: string }).stderr ?? ''}`, { cause })
  }
  const accessRules = join(fresh, 'pg_hba.conf')
  writeFileSync(accessRules, `${passwordRule}${readFileSync(accessRules, 'utf8')}`)
  renameSync(fresh, dataDir)
}
