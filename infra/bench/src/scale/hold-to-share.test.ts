import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { holdToShare } from './hold-to-share.ts'

const patience = { timeout: 30_000, interval: 1 }

test.runIf(existsSync('/proc/self/stat'))(
  'a process that computes is stopped once it has used its share, and runs on when nobody holds it',
  async () => {
    const busy = spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' })
    try {
      const state = () => /\) (\w) /.exec(readFileSync(`/proc/${busy.pid}/stat`, 'utf8'))![1]
      const hold = holdToShare(busy.pid!, 0.01)
      await expect.poll(state, patience).toBe('T')
      await hold[Symbol.asyncDispose]()
      await expect.poll(state, patience).toBe('R')
    } finally {
      busy.kill('SIGKILL')
    }
  },
)
