// A server process of ours: in its own process group, so the terminal's Ctrl-C does
// not reach it and we order the shutdown; under the reaper, so it does not outlive us;
// writing to a file, so that an unread pipe cannot stall or end it.
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, statSync } from 'node:fs'
import type { Reaper } from './reaper.ts'

/** How a process ended: one of the two is set. */
export type ProcessExit = { code: number | null; signal: NodeJS.Signals | null }

/** A started process. `exited` settles once, when it has ended, and never rejects. */
export type WatchedProcess = {
  pid: number
  child: ChildProcess
  exited: Promise<ProcessExit>
  hasExited(): boolean
  /** Sends `signal`, waits `graceMs`, then SIGKILL; resolves when the process is gone. */
  stop(signal: NodeJS.Signals, graceMs: number): Promise<void>
  /** The last lines this process wrote, for an error message. */
  lastOutput(): string
}

/** The program to run, and the file for its output (appended). */
export type ProcessOptions = {
  command: string[]
  logFile: string
  reaper: Reaper
  env?: NodeJS.ProcessEnv | undefined
  cwd?: string | undefined
}

const maxLogBytes = 16 * 1024 * 1024
const maxTailBytes = 4_000

/** Starts a process under the reaper. Throws when the program cannot be started at all. */
export async function startWatchedProcess({
  command,
  logFile,
  reaper,
  env,
  cwd,
}: ProcessOptions): Promise<WatchedProcess> {
  const before = sizeOf(logFile)
  const log = openSync(logFile, before > maxLogBytes ? 'w' : 'a')
  const logStart = before > maxLogBytes ? 0 : before
  const [program = '', ...args] = command
  const child = spawn(program, args, { detached: true, stdio: ['ignore', log, log], env: env ?? process.env, cwd })
  closeSync(log)
  const { pid } = child
  if (pid === undefined) {
    const cause = await new Promise<Error>((resolve) => child.once('error', resolve))
    throw new Error(`could not start ${program}`, { cause })
  }
  reaper.watch(pid)
  const exited = new Promise<ProcessExit>((resolve) => {
    child.once('exit', (code, signal) => {
      reaper.forget(pid)
      resolve({ code, signal })
    })
  })
  const hasExited = () => child.exitCode !== null || child.signalCode !== null

  return {
    pid,
    child,
    exited,
    hasExited,
    async stop(signal, graceMs) {
      if (hasExited()) return
      child.kill(signal)
      const kill = setTimeout(() => child.kill('SIGKILL'), graceMs)
      await exited
      clearTimeout(kill)
    },
    lastOutput() {
      return readFileSync(logFile).subarray(logStart).subarray(-maxTailBytes).toString().trim()
    },
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}
