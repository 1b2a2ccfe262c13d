// .dev/stack.json: the addresses of all processes, for scripts. Written when all are ready, and after every change.

import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'

export type StackFile = {
  /** Where a browser opens the console. */
  console: string
  api: string
  ingester: string
  retrier: string
  databaseUrl: string
  kafkaBrokers: string[]
  /** Null for a server that was started elsewhere. */
  pids: Record<'ingester' | 'retrier' | 'api' | 'runner', number> & Record<'postgres' | 'kafka', number | null>
}

/** Replaces the file in one step, so that a reader never sees half of it. */
export function writeStackFile(path: string, stack: StackFile): void {
  writeFileSync(`${path}.new`, `${JSON.stringify(stack, null, 2)}\n`)
  renameSync(`${path}.new`, path)
}

export function readStackFile(path: string): StackFile | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return null
  }
}

export function removeStackFile(path: string): void {
  rmSync(path, { force: true })
}
