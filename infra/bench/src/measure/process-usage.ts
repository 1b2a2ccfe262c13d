// The CPU and memory of a process and its children, from Linux's /proc. On other systems they are unknown.
// Format: https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html

import { readdirSync, readFileSync } from 'node:fs'

export type ProcessStat = { pid: number; parent: number; cpuTicks: number }

/** USER_HZ: the unit of the times in /proc/PID/stat, on every architecture that Node runs on. */
const ticksPerSecond = 100

/**
 * CPU seconds of `pid` and its descendants, children that have ended included; null where there is no /proc.
 *
 * @param stats of all processes: who asks for several processes reads them once
 */
export function cpuSecondsOf(pid: number | undefined, stats = readStats()): number | null {
  if (pid === undefined) return null
  return stats.some((stat) => stat.pid === pid) ? treeTicks(stats, pid) / ticksPerSecond : null
}

/** CPU seconds of `pid` and of its children that have ended, from one file: cheap enough for every few ms. */
export function ownCpuSecondsOf(pid: number): number | null {
  const stat = parseStat(readText(`/proc/${pid}/stat`))
  return stat && stat.cpuTicks / ticksPerSecond
}

/** The most memory the process has held, in MiB (VmHWM); null where there is no /proc. */
export function peakMemoryMiB(pid: number): number | null {
  const kilobytes = /^VmHWM:\s*(\d+) kB$/m.exec(readText(`/proc/${pid}/status`))?.[1]
  return kilobytes === undefined ? null : Number(kilobytes) / 1024
}

/** Reads one line of /proc/PID/stat; null where it is not one. */
export function parseStat(line: string): ProcessStat | null {
  // The program's name is in brackets, and may contain spaces and brackets.
  const [, pid, fields] = /^(\d+) \(.*\) (.*)$/s.exec(line) ?? []
  const values = fields?.trim().split(' ') ?? []
  // Fields 4 (ppid) and 14 to 17: utime, stime, and both of children that were waited for.
  const cpuTicks = values.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0)
  return values.length < 15 ? null : { pid: Number(pid), parent: Number(values[1]), cpuTicks }
}

/** The sum over a process and its descendants. */
export function treeTicks(stats: readonly ProcessStat[], root: number): number {
  const children = Map.groupBy(stats, ({ parent }) => parent)
  const total = (stat: ProcessStat): number =>
    (children.get(stat.pid) ?? []).reduce((sum, child) => sum + total(child), stat.cpuTicks)
  return stats.filter(({ pid }) => pid === root).reduce((sum, stat) => sum + total(stat), 0)
}

/** Of all processes; none where there is no /proc. */
export function readStats(): ProcessStat[] {
  return pids()
    .map((pid) => parseStat(readText(`/proc/${pid}/stat`)))
    .filter((stat) => stat !== null)
}

function pids(): string[] {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  } catch {
    return [] // Not Linux.
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return '' // Not Linux, or the process has ended.
  }
}
