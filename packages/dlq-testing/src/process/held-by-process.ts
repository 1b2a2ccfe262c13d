// What a process holds now, from Linux's /proc.

import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

export type HeldByProcess = {
  /** Resident memory now, and the most it has ever been. */
  memoryMiB: number
  mostMemoryMiB: number
  /** Open file descriptors, sockets among them. */
  files: number
  sockets: number
}

/** Null where there is no such process, or no /proc. */
export function heldBy(pid: number): HeldByProcess | null {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const targets = readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`))
    // A process that has ended and was not waited for has no memory any more.
    if (!status.includes('VmRSS:')) return null
    return {
      memoryMiB: mebibytes(status, 'VmRSS'),
      mostMemoryMiB: mebibytes(status, 'VmHWM'),
      files: targets.length,
      sockets: targets.filter((target) => target.startsWith('socket:')).length,
    }
  } catch {
    return null
  }
}

function mebibytes(status: string, field: string): number {
  return Math.round(Number(new RegExp(`^${field}:\\s*(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024)
}

/** It may be closed meanwhile. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}
