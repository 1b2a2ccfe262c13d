// A physical backup of a PostgreSQL of ours, and a new data directory made of it, by the steps that pg_basebackup
// takes (https://www.postgresql.org/docs/17/continuous-archiving.html): the binaries from npm come without it.

import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { chown, copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type postgres from 'postgres'

const run = promisify(execFile)

/** The settings of a server that hands every finished WAL segment to the folder `archive`. */
export function archivingTo(archive: string): Record<string, string> {
  return {
    wal_level: 'replica',
    archive_mode: 'on',
    archive_command: `test ! -f ${archive}/%f && cp %p ${archive}/%f.part && mv ${archive}/%f.part ${archive}/%f`,
  }
}

/** Copies the running server's files to `target`. With the archived WAL they are the server's state at the end. */
export async function takeBaseBackup(sql: postgres.Sql, { dataDir, target }: { dataDir: string; target: string }) {
  // Both calls belong to one session.
  const session = await sql.reserve()
  try {
    await session`select pg_backup_start('test', fast => true)`
    await copyFiles(dataDir, target)
    const [stopped] = await session<{ labelfile: string }[]>`select labelfile from pg_backup_stop()`
    await writeAs(target, 'backup_label', stopped!.labelfile)
  } finally {
    session.release()
  }
}

/** Makes `target` a server that, once started with `restoringFrom`, replays the archive. */
export async function layOutRestore(backup: string, target: string): Promise<void> {
  await copyFiles(backup, target)
  await writeAs(target, 'recovery.signal', '')
}

/** The settings of a server that replays the archive: all of it, or not more than makes the backup consistent. */
export function restoringFrom(archive: string, { atBackup = false } = {}): Record<string, string> {
  return {
    restore_command: `cp ${archive}/%f %p`,
    recovery_target_action: 'promote',
    ...(atBackup && { recovery_target: 'immediate' }),
  }
}

/** The WAL that a dead server had not archived yet, as if pg_receivewal had followed it to its end. */
export async function archiveRest(dataDir: string, archive: string): Promise<void> {
  for (const name of readdirSync(join(dataDir, 'pg_wal'))) {
    if (/^[0-9A-F]{24}$/.test(name) && !existsSync(join(archive, name)))
      await copyFile(join(dataDir, 'pg_wal', name), join(archive, name))
  }
}

async function copyFiles(from: string, to: string): Promise<void> {
  mkdirSync(to, { mode: 0o700 })
  await chownLike(from, to)
  // Files change and vanish meanwhile: tar says so with exit code 1, and the WAL makes up for it.
  const script = `tar -C "$0" --exclude=./pg_wal/* --exclude=./postmaster.* -cf - . | tar -C "$1" -xpf -`
  await run('sh', ['-c', script, from, to])
}

async function writeAs(folder: string, name: string, text: string): Promise<void> {
  writeFileSync(join(folder, name), text, { mode: 0o600 })
  await chownLike(folder, join(folder, name))
}

async function chownLike(from: string, to: string): Promise<void> {
  const { uid, gid } = statSync(from)
  if (uid !== process.getuid?.()) await chown(to, uid, gid)
}
