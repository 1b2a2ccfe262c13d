// One runner per checkout. The lock is a file with a process id. A runner that was killed leaves the file, and its
// successor takes it over.

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Takes the lock, or returns the id of the process that holds it. */
export function takeRunnerLock(path: string): { release(): void } | { heldBy: number } {
  mkdirSync(dirname(path), { recursive: true })
  for (;;) {
    try {
      writeFileSync(path, String(process.pid), { flag: 'wx' })
      return { release: () => rmSync(path, { force: true }) }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const pid = Number(readFileSync(path, 'utf8'))
    if (isRunner(pid)) return { heldBy: pid }
    rmSync(path, { force: true })
  }
}

/** Whether the process lives. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function isRunner(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0 || !isAlive(pid)) return false
  // Where the system tells, make sure that another program has not got this process id.
  const commandLine = `/proc/${pid}/cmdline`
  return !existsSync(commandLine) || readFileSync(commandLine, 'utf8').includes('infra/dev/')
}
