// security.md names the test that holds each of its statements. Here: every one of these tests exists.

import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const page = readFileSync(join(root, 'infra/docs/security.md'), 'utf8')

type Named = { line: string; file: string; titles: string[] }

/** The tests that a line names. A path that begins with "…/" stands beside the one before; titles stand in quotes after it. */
function testsOf(line: string): Named[] {
  const named: Named[] = []
  for (const [, path, rest] of line.matchAll(/`([^`]+\.test\.ts)`((?:[:,] "[^"]+")*)/g)) {
    const before = named.at(-1)?.file
    const file = path!.startsWith('…/') ? join(dirname(before ?? ''), path!.slice('…/'.length)) : path!
    named.push({ line, file, titles: Array.from(rest!.matchAll(/"([^"]+)"/g), ([, title]) => title!) })
  }
  return named
}

const tests = page.split('\n').flatMap(testsOf)

test('the page names tests', () => {
  expect(tests.length).toBeGreaterThan(20)
})

test.each(tests)('$file exists, with $titles', ({ file, titles }) => {
  expect(existsSync(join(root, file)), file).toBe(true)
  const source = readFileSync(join(root, file), 'utf8')
  expect(titles.filter((title) => !source.includes(title))).toEqual([])
})

test('every statement of a table whose last column is "held by" names a test that exists', () => {
  const lines = page.split('\n')
  const unheld = lines.filter((line, at) => {
    if (!line.startsWith('|') || /^\|[-|]+\|$/.test(line)) return false
    const table = lines.slice(0, at + 1)
    const head = table.slice(table.findLastIndex((text) => !text.startsWith('|')) + 1)[0]!
    if (!/\| held by \|$/.test(head) || head === line) return false
    return !/test\.ts`|the same|below, \*/.test(line.slice(0, -1).split('|').at(-1)!)
  })
  // The services act as the owner: what they may not do is nothing.
  expect(unheld.filter((line) => !line.startsWith('| the services, at PostgreSQL'))).toEqual([])
})
