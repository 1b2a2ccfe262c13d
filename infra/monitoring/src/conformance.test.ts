// The page of conformance names files, tests and decisions that exist, and every row that differs names its decision.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const page = fileURLToPath(new URL('../../docs/conformance.md', import.meta.url))
const text = readFileSync(page, 'utf8')

type Row = { requirement: string; state: string; where: string; test: string }

function rowsOf(document: string): Row[] {
  return document
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| requirement '))
    .map((line) => {
      const cells = line.slice(2, -2).split(' | ')
      expect(cells, line).toHaveLength(4)
      const [requirement, state, where, test] = cells as [string, string, string, string]
      return { requirement, state, where, test }
    })
}

const linksIn = (cell: string) =>
  [...cell.matchAll(/\]\(([^)]+)\)/g)].map((match) => join(dirname(page), match[1]!.split('#')[0]!))

/** What is wrong with a row; empty where it is true. */
function faultsOf({ state, where, test }: Row): string[] {
  const faults: string[] = []
  const links = [state, where, test].flatMap(linksIn)
  faults.push(...links.filter((path) => !existsSync(path)).map((path) => `there is no ${path}`))
  if (state !== 'works' && !/^differs: \[\d+\]\(decisions\/0\d\d-[\w-]+\.md\)$/.test(state))
    faults.push(`state: ${state}`)
  if (linksIn(where).length !== 1) faults.push(`where: ${where}`)
  const [file] = linksIn(test)
  const [, title] = /\): (.+)$/.exec(test) ?? []
  if (!file?.endsWith('.test.ts') || title === undefined) faults.push(`test: ${test}`)
  else if (existsSync(file) && !readFileSync(file, 'utf8').includes(title))
    faults.push(`${file} does not say "${title}"`)
  return faults
}

describe('the page', () => {
  const rows = rowsOf(text)

  test('has a true row for every requirement', () => {
    expect(rows.flatMap(faultsOf)).toEqual([])
  })

  test('counts its rows', () => {
    const differs = rows.filter(({ state }) => state !== 'works').length
    expect(text).toContain(`${rows.length} requirements: ${rows.length - differs} work as written, ${differs} differ`)
    expect(rows.length).toBeGreaterThan(320)
  })

  test('a row that names a file, a test or a decision that does not exist would be found', () => {
    const row = rows[0]!
    expect(faultsOf({ ...row, where: '[x](../../no/such.ts)' })).toEqual([expect.stringContaining('there is no')])
    expect(faultsOf({ ...row, test: `${row.test} of nobody` })).toEqual([expect.stringContaining('does not say')])
    expect(faultsOf({ ...row, state: 'missing' })).toEqual(['state: missing'])
    expect(faultsOf({ ...row, state: 'differs' })).toEqual(['state: differs'])
  })
})
