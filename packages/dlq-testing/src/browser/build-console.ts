// Builds the console if its sources have changed since the last build. Tests and `npm start` call it side by side, so
// one builds while the others wait.

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
const folder = join(root, 'packages/console')
export const consoleDist = join(folder, 'dist')
/** What the build depends on. */
const sources = [
  'packages/console/{index.html,vite.config.ts,package.json}',
  'packages/console/{src,public}/**/*',
  'packages/dlq-client/src/**/*.ts',
  'packages/dlq-core/src/domain/**/*.ts',
  'pnpm-lock.yaml',
]
const stamp = join(consoleDist, '.vite/sources')
const lock = join(root, '.dev/console-build')
/** A build takes some seconds; a lock that is older is of a process that was killed. */
const maxBuildMs = 180_000

/** Whether it had to build. @throws {Error} with what Vite said */
export async function buildConsole(): Promise<boolean> {
  for (;;) {
    const hash = hashOfSources()
    if (readStamp() === hash) return false
    if (takeLock()) {
      try {
        await runVite()
        mkdirSync(join(consoleDist, '.vite'), { recursive: true })
        writeFileSync(stamp, hash)
        return true
      } finally {
        rmSync(lock, { recursive: true, force: true })
      }
    }
    await sleep(100)
  }
}

function hashOfSources(): string {
  const hash = createHash('sha256')
  for (const file of globSync(sources, { cwd: root }).toSorted()) {
    if (!statSync(join(root, file)).isFile() || /\.test\.tsx?$/.test(file)) continue
    hash.update(`${file}\0`).update(readFileSync(join(root, file)))
  }
  return hash.digest('hex')
}

function readStamp(): string | null {
  try {
    return readFileSync(stamp, 'utf8')
  } catch {
    return null
  }
}

function takeLock(): boolean {
  mkdirSync(join(root, '.dev'), { recursive: true })
  try {
    mkdirSync(lock)
    return true
  } catch {
    const age = Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
    if (age > maxBuildMs) rmSync(lock, { recursive: true, force: true })
    return false
  }
}

function runVite(): Promise<void> {
  const vite = join(folder, 'node_modules/vite/bin/vite.js')
  const child = spawn(process.execPath, [vite, 'build', '--logLevel', 'warn'], {
    cwd: folder,
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      output += text
    })
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`the console could not be built:\n${output.trim()}`)),
    )
  })
}
