// Finds promtool, Prometheus' own tester of rules: named by PROMTOOL, on the PATH, or from Debian's package, which is
// unpacked into the user's cache without installing anything. Returns null with the reason if there is none.

import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

const timeoutMs = 120_000

export function findPromtool(env: NodeJS.ProcessEnv = process.env): { path: string } | { path: null; why: string } {
  if (env.PROMTOOL) return { path: env.PROMTOOL }
  if (spawnSync('promtool', ['--version']).status === 0) return { path: 'promtool' }
  const cache = join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'dlq-manager')
  const cached = join(cache, 'promtool')
  if (existsSync(cached)) return { path: cached }
  try {
    unpackDebian(cache, cached)
    return { path: cached }
  } catch (error) {
    const why = (error as Error).message.split('\n')[0]
    return { path: null, why: `promtool is not on the PATH, PROMTOOL names none, and Debian’s cannot be had: ${why}` }
  }
}

function unpackDebian(cache: string, path: string): void {
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'promtool-'))
  const run = (command: string, args: string[]) =>
    execFileSync(command, args, { cwd: folder, timeout: timeoutMs, stdio: 'pipe', encoding: 'utf8' })
  try {
    try {
      run('apt-get', ['-q', 'download', 'prometheus'])
    } catch {
      // A machine without package lists gets lists of its own in the folder.
      mkdirSync(join(folder, 'lists', 'partial'), { recursive: true })
      const ours = ['-q', '-o', `Dir::State::Lists=${folder}/lists`, '-o', `Dir::Cache=${folder}`]
      run('apt-get', [...ours, 'update'])
      run('apt-get', [...ours, 'download', 'prometheus'])
    }
    const archive = readdirSync(folder).find((name) => name.endsWith('.deb'))
    if (archive === undefined) throw new Error('apt-get downloaded nothing')
    run('dpkg-deb', ['-x', archive, 'unpacked'])
    renameSync(join(folder, 'unpacked', 'usr', 'bin', 'promtool'), path)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
