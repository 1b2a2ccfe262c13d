// The built `dlq` on the PATH of a test's shell, as npm would install it.
import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'

export type TestBundle = { folder: string; env: Record<string, string>; [Symbol.dispose](): void }

/** `env` has PATH, and a HOME of its own, where contexts are saved. */
export async function buildTestBundle(): Promise<TestBundle> {
  const folder = mkdtempSync(join(tmpdir(), 'dlq-cli-'))
  const file = join(folder, 'dlq.js')
  await build({
    input: fileURLToPath(new URL('../main.ts', import.meta.url)),
    platform: 'node',
    output: { file, format: 'esm' },
    logLevel: 'warn',
  })
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  writeFileSync(join(folder, 'dlq'), `#!/bin/sh\nexec "${process.execPath}" "${file}" "$@"\n`)
  chmodSync(join(folder, 'dlq'), 0o755)
  return {
    folder,
    // A command of 300 ms compiles for half of them, and there are two hundred.
    env: { PATH: `${folder}:${process.env.PATH}`, HOME: folder, NODE_COMPILE_CACHE: join(folder, 'compile-cache') },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** How a command ended, and what it wrote where. */
export type Ended = { code: number; stdout: string; stderr: string }

/** Runs a line of shell, and leaves the event loop to the servers of the test. */
export function runLine(line: string, { folder, env }: TestBundle, more: Record<string, string> = {}): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-c', line], {
      cwd: folder,
      env: { ...env, ...more },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const said = { stdout: '', stderr: '' }
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said.stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said.stderr += text
    })
    child.once('error', reject)
    child.once('close', (code) => resolve({ code: code ?? -1, ...said }))
  })
}
