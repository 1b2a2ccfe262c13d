// No child outlives us, not even when we are killed by SIGKILL and run no handler.
// A tiny detached `sh` reads, line by line, the list of pids we are responsible for;
// when the pipe ends (we closed it, or died) it stops the processes of the last line.
import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket } from 'node:net'

/** Keeps the list of processes that must not outlive this one. */
export type Reaper = {
  /** Stop `pid` when this process is gone. */
  watch(pid: number): void
  /** `pid` has ended. Leave it alone, because another program may get its number. */
  forget(pid: number): void
  /** A clean end: the pids still watched are left alone, and the shell ends. */
  close(): Promise<void>
}

// It ignores the signals a terminal or a supervisor sends to everybody. Fractions of
// a second are not POSIX for sleep, so there is a whole one to fall back on.
const script = `
trap '' INT TERM HUP
pids=
while IFS= read -r line; do pids=$line; done
alive() { for pid in $pids; do kill -0 "$pid" 2>/dev/null && return 0; done; return 1; }
[ -n "$pids" ] || exit 0
for pid in $pids; do kill -INT "$pid" 2>/dev/null; done
tries=0
while [ $tries -lt 40 ] && alive; do sleep 0.2 2>/dev/null || sleep 1; tries=$((tries + 1)); done
for pid in $pids; do kill -KILL "$pid" 2>/dev/null; done
exit 0
`

const maxRespawns = 10

/** Starts the watching shell. It asks politely (SIGINT), waits up to 8 s, then sends SIGKILL. */
export function createReaper(): Reaper {
  const pids = new Set<number>()
  let closed = false
  let respawns = 0
  let shell = start()

  function start(): ChildProcess {
    const child = spawn('/bin/sh', ['-c', script], { detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
    // The shell must not keep this process from ending.
    child.unref()
    const pipe = child.stdin as Socket
    pipe.unref()
    // A broken pipe means that the shell died; its exit says so too.
    pipe.on('error', () => {})
    child.once('error', () => {})
    child.once('exit', () => {
      if (closed || respawns++ >= maxRespawns) return
      shell = start()
      tell()
    })
    return child
  }

  function tell(): void {
    shell.stdin?.write(`${[...pids].join(' ')}\n`)
  }

  return {
    watch(pid) {
      pids.add(pid)
      tell()
    },
    forget(pid) {
      if (pids.delete(pid)) tell()
    },
    async close() {
      if (closed) return
      closed = true
      pids.clear()
      tell()
      const ended = new Promise<void>((resolve) => shell.once('exit', () => resolve()))
      shell.ref()
      shell.stdin?.end()
      if (shell.exitCode === null && shell.signalCode === null) await ended
    },
  }
}
