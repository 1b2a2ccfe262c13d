// We offer the commits in upstream/ to the projects. Together they must equal the patch that we run.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'

const patches = import.meta.dirname
const installedAt = (name: string) => realpathSync(join(patches, '../packages/dlq-core/node_modules', name))

const packages = [
  { name: 'kafkajs', patch: 'kafkajs@2.2.4.patch', builds: [] },
  // postgres builds cjs/ from src/.
  { name: 'postgres', patch: 'postgres@3.4.9.patch', builds: ['cjs/'] },
]

/** The package as its project published it, without our patch. */
function pristineCopy(root: string, patch: string): string {
  const copy = mkdtempSync(join(tmpdir(), 'upstream-'))
  onTestFinished(() => rmSync(copy, { recursive: true }))
  cpSync(root, copy, { recursive: true, filter: (path) => !relative(root, path).startsWith('node_modules') })
  apply(copy, join(patches, patch), '--reverse')
  return copy
}

function apply(directory: string, patch: string, ...options: string[]): void {
  execFileSync('git', ['apply', '--whitespace=nowarn', ...options, patch], { cwd: directory })
}

/** Path → text of the files that the patch changes, without the marks by which we find our changes. */
function touchedFiles(directory: string, patch: string, builds: readonly string[]): Map<string, string> {
  const paths = readFileSync(join(patches, patch), 'utf8').matchAll(/^diff --git a\/(\S+) /gm)
  const kept = Array.from(paths, ([, path]) => path!).filter((path) => !builds.some((build) => path.startsWith(build)))
  return new Map(
    kept.map((path) => [path, readFileSync(join(directory, path), 'utf8').replaceAll('PATCH(dlq-manager): ', '')]),
  )
}

describe.each(packages)('$name', ({ name, patch, builds }) => {
  const commits = readdirSync(join(patches, 'upstream', name)).toSorted()

  test('its commits, applied in order to the published package, add up to our patch', () => {
    const installed = installedAt(name)
    const copy = pristineCopy(installed, patch)
    for (const commit of commits) apply(copy, join(patches, 'upstream', name, commit))
    expect(touchedFiles(copy, patch, builds)).toEqual(touchedFiles(installed, patch, builds))
  })

  test('each commit is numbered, and has its row in the README', () => {
    const readme = readFileSync(join(patches, 'README.md'), 'utf8')
    expect(commits.map((commit) => commit.slice(0, 4))).toEqual(
      commits.map((_, index) => String(index + 1).padStart(4, '0')),
    )
    expect(commits.filter((commit) => !readme.includes(`(upstream/${name}/${commit})`))).toEqual([])
  })
})

test('the copy of postgres for require() has the changes of its source', () => {
  const [, inCjs, inSrc] = readFileSync(join(patches, 'postgres@3.4.9.patch'), 'utf8').match(
    /^(diff --git a\/cjs\/[\s\S]*?)^(diff --git a\/src\/[\s\S]*)/m,
  )!
  const changes = (diff: string) => diff.split('\n').filter((line) => /^[+-](?!--|\+\+)/.test(line))
  expect(changes(inCjs!)).toEqual(changes(inSrc!))
})
