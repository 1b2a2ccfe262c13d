// One PostgreSQL for all services that run without a database of their own (`database.embedded`), for development. The
// first service starts it and migrates it, the others find it by its postmaster.pid, and the last one stops it. Each
// notes its process id in the folder `users`: so the order in which services start and end does not matter.

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { migrateUp } from 'dlq-db/migrate.ts'
import { startPostgres } from '../postgres/postgres.ts'
import type { Reaper } from '../process/reaper.ts'

export type EmbeddedDatabase = {
  url: string
  /** Stops the server where no other service uses it. The data stays. */
  leave(): Promise<void>
}

const stopMs = 8000
const lockMs = 120_000
const pollMs = 50

/** Other services need the server for longer than the one that started it lives. */
const noReaper: Reaper = { watch() {}, forget() {}, async close() {} }

/**
 * Joins the server whose data is in `dataDir`, or starts it there, with every migration applied.
 *
 * @throws {Error} where it does not start; its log is `dataDir`/postgres.log
 */
export async function joinEmbedded(options: {
  dataDir: string
  log: (line: string) => void
}): Promise<EmbeddedDatabase> {
  const dataDir = resolve(options.dataDir)
  const users = join(dataDir, 'users')
  const me = join(users, String(process.pid))
  mkdirSync(users, { recursive: true })

  const leave = () =>
    locked(dataDir, async () => {
      rmSync(me, { force: true })
      if (livingUsers(users).length === 0) await stopServer(dataDir)
    })
  try {
    return await locked(dataDir, async () => {
      writeFileSync(me, '')
      const running = runningServer(dataDir)
      const { port } =
        running ??
        (await startPostgres({
          ...{ dataDir: join(dataDir, 'postgres'), reaper: noReaper, log: options.log },
          settings: { unix_socket_directories: '' },
        }))
      const url = `postgres://postgres@127.0.0.1:${port}/postgres`
      await migrateUp({ databaseUrl: url, log: options.log })
      return { url, leave }
    })
  } catch (error) {
    await leave()
    throw error
  }
}

/** As PostgreSQL itself notes it; null where there is none, or it is not ready, or was killed. */
function runningServer(dataDir: string): { pid: number; port: number } | null {
  let lines: string[]
  try {
    lines = readFileSync(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')
  } catch {
    return null
  }
  const [pid, port] = [Number(lines[0]), Number(lines[3])]
  return lines[7]?.trim() === 'ready' && isAlive(pid) ? { pid, port } : null
}

/** A fast shutdown: sessions are ended, everything that was committed stays. */
async function stopServer(dataDir: string): Promise<void> {
  const server = runningServer(dataDir)
  if (server === null) return
  process.kill(server.pid, 'SIGINT')
  for (const deadline = Date.now() + stopMs; isAlive(server.pid) && Date.now() < deadline; ) await sleep(pollMs)
}

/** The services that use the server. Those that were killed have left their file, and lose it here. */
function livingUsers(users: string): number[] {
  return readdirSync(users)
    .map(Number)
    .filter((pid) => {
      if (!isAlive(pid)) rmSync(join(users, String(pid)), { force: true })
      return isAlive(pid)
    })
}

/** Does the work while no other service starts or stops the server. The lock of one that was killed counts for nothing. */
async function locked<T>(dataDir: string, work: () => Promise<T>): Promise<T> {
  const file = join(dataDir, 'starting')
  for (const deadline = Date.now() + lockMs; ; await sleep(pollMs)) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx' })
      break
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const holder = readHolder(file)
    if (holder !== null && !isAlive(holder)) rmSync(file, { force: true })
    if (Date.now() > deadline)
      throw new Error(`process ${holder} holds ${file} for ${lockMs / 1000} s; end it, or delete the file`)
  }
  try {
    return await work()
  } finally {
    rmSync(file, { force: true })
  }
}

/** Null where it was released meanwhile, or is being written. */
function readHolder(file: string): number | null {
  try {
    return Number(readFileSync(file, 'utf8')) || null
  } catch {
    return null
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
