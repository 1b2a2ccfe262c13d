// The version that an upgrade begins with: the last tag. Without a tag it is the last commit that changed an existing
// migration, because a database of an older commit cannot be upgraded.

import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const clone = fileURLToPath(new URL('../../../../', import.meta.url))

/** Its commit. Null where git does not know: an export, or a clone without history. */
export async function earlierVersion(): Promise<string | null> {
  const git = async (...args: string[]) => (await run('git', args, { cwd: clone })).stdout.trim()
  try {
    const tag = await git('describe', '--tags', '--abbrev=0', 'HEAD^').catch(() => '')
    const changed = ['log', '-1', '--format=%H', '--diff-filter=MDR', '--', 'db/*/migrations/*.up.sql']
    return tag || (await git(...changed)) || null
  } catch {
    return null
  }
}

/** Lays out that version's sources in the folder `target`, with the dependencies of this one. */
export async function layOutVersion(commit: string, target: string): Promise<void> {
  mkdirSync(target)
  await run('sh', ['-c', 'git archive "$0" | tar -x -C "$1"', commit, target], { cwd: clone })
  symlinkSync(join(clone, 'node_modules'), join(target, 'node_modules'))
  const groups = ['packages', 'services'].flatMap((group) =>
    readdirSync(join(target, group)).map((name) => `${group}/${name}`),
  )
  // Links relative to themselves: to the sources of that version, and to the packages of this one.
  for (const folder of ['db', ...groups]) {
    const modules = join(folder, 'node_modules')
    if (existsSync(join(clone, modules)))
      cpSync(join(clone, modules), join(target, modules), { recursive: true, verbatimSymlinks: true })
  }
}
