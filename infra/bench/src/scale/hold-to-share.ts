// Holds a process to a share of one core, as a CPU quota does, without the right to make cgroups: who has used more than
// its share is stopped until the share has caught up. Of its own CPU only: a service of ours has no children.

import { setTimeout as sleep } from 'node:timers/promises'
import { ownCpuSecondsOf } from '../measure/process-usage.ts'

const lookMs = 10

/** Holds `pid` to `share` of a core until it is disposed of; the process then runs on. */
export function holdToShare(pid: number, share: number): AsyncDisposable {
  let isOver = false
  let isStopped = false
  const send = (signal: 'SIGSTOP' | 'SIGCONT') => {
    try {
      process.kill(pid, signal)
      isStopped = signal === 'SIGSTOP'
    } catch {
      isOver = true // It has ended.
    }
  }
  const holding = (async () => {
    let usedBefore = ownCpuSecondsOf(pid) ?? 0
    let credit = 0
    for (let at = performance.now(); !isOver; await sleep(lookMs)) {
      const now = performance.now()
      const used = ownCpuSecondsOf(pid)
      if (used === null) return
      // What was not used in a while is not saved up for later.
      credit = Math.min(share * 0.1, credit + (share * (now - at)) / 1000 - (used - usedBefore))
      at = now
      usedBefore = used
      if (credit < 0 !== isStopped) send(credit < 0 ? 'SIGSTOP' : 'SIGCONT')
    }
  })()
  return {
    async [Symbol.asyncDispose]() {
      isOver = true
      await holding
      if (isStopped) send('SIGCONT')
    },
  }
}
