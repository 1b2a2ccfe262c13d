// Ends a check that takes too long, because a schema may have patterns and branches that never end. A timer of this thread
// cannot fire before the check is over. The timeout of `vm` can; it measures the time that passes, not the time of the core.

import vm from 'node:vm'

export const maxCheckMs = 200

/** A check that had no core for a part of its time is begun again: that says nothing of what is checked. */
const maxChecks = 5

const script = new vm.Script('check()')

/** @throws what the check throws, and a timeout where it had a core for its time, or has none at all */
export function bounded<Result>(check: () => Result): Result {
  for (let checks = 1; ; checks += 1) {
    const before = process.threadCpuUsage()
    try {
      return script.runInContext(vm.createContext({ check }), { timeout: maxCheckMs }) as Result
    } catch (error) {
      const { user, system } = process.threadCpuUsage(before)
      const hadCore = (user + system) / 1000 > maxCheckMs * 0.75
      if (!isTimeout(error) || hadCore || checks === maxChecks) throw error
    }
  }
}

export function isTimeout(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
}
